/** Recognizes the format of a file of rollouts. */
import { open } from "node:fs/promises";
import { extname } from "node:path";
import { toReadError } from "../storage/fileErrors.ts";
import { UserError } from "../userError.ts";
import { findFormat, rolloutFormats } from "./formats.ts";
import type { RolloutFormat } from "./rollout.ts";

/** The keys by which the start of a file shows its format; a format that others contain is later. */
const marks: readonly (readonly [string, RegExp])[] = [
  ["otlp", /"(resourceSpans|traceId|trace_id)"\s*:/],
  ["nemo-gym", /"responses_create_params"\s*:/],
  ["atif", /"schema_version"\s*:\s*"ATIF/],
  ["verifiers", /"(nodes|traces)"\s*:\s*\[/],
  ["tau2", /"(simulations|termination_reason)"\s*:/],
  ["inspect", /"(epoch|epochs)"\s*:/],
  ["bfcl", /"result"\s*:/],
  ["openai", /"(messages|conversations)"\s*:|^\s*\[\s*\{\s*"role"/],
  ["verl", /^(?=[^]*"input"\s*:\s*")[^]*"output"\s*:\s*"/],
  ["trl", /"prompt"\s*:/],
];

/** Enough for the first keys of a row, and nothing to wait for. */
const headBytes = 64 * 1024;

/** The format of a file, by its name or its start. Throws a `UserError` if it is none. */
export async function recognizeRollouts(file: string): Promise<RolloutFormat> {
  if (extname(file) === ".eval") return findFormat("inspect");
  if (extname(file) === ".parquet") return findFormat("trl");
  const head = await readHead(file);
  const [name] = marks.find(([, mark]) => mark.test(head)) ?? [];
  if (name !== undefined) return findFormat(name);
  throw new UserError(
    `${file} does not begin like rollouts in a known format`,
    `the formats are ${rolloutFormats.map(it => it.name).join(", ")}`,
  );
}

async function readHead(file: string): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw toReadError(file, cause);
  }
}
