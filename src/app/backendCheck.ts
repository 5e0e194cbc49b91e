/**
 * Starts backends and measures a pass with each. Only this file of the command loads TensorFlow.js:
 * a native library that crashes takes the process with it, so each backend has its own.
 */
import { spawn } from "node:child_process";
import { z } from "zod";
import { getBackendsFolder, type NativeBackend } from "../run/backends.ts";
import type { AppContext } from "./context.ts";

const backendCheck = z.object({
  name: z.string(),
  device: z.string().optional(),
  hasGpu: z.boolean().optional(),
  milliseconds: z.number().optional(),
  /** Why it does not work. */
  problem: z.string().optional(),
});

export type BackendCheck = z.infer<typeof backendCheck>;

export type CheckedBackend = NativeBackend | "wasm";

/** Checks backends one after the other. */
export async function checkBackends(
  context: AppContext,
  names: readonly CheckedBackend[],
): Promise<readonly BackendCheck[]> {
  const checks: BackendCheck[] = [];
  for (const name of names) {
    context.showProgress(`checking ${name}`);
    checks.push(await checkInProcess(context, name));
  }
  return checks;
}

async function checkInProcess(
  { program, signal }: AppContext,
  name: CheckedBackend,
): Promise<BackendCheck> {
  const args = [program, "backend", "check", name, "--in-process", "--json"];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const end = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, by) => resolve(by ?? `code ${code}`));
  });
  // native libraries print to stdout, too
  const line = output.split("\n").find(it => it.startsWith("{"));
  if (line !== undefined) return backendCheck.parse(JSON.parse(line));
  const last = errors.trim().slice(-500);
  return { name, problem: `its process ended with ${end}${last === "" ? "" : `: ${last}`}` };
}

/** Starts one backend in this process. */
export async function checkBackend(
  { dist }: AppContext,
  name: CheckedBackend,
): Promise<BackendCheck> {
  const { startBackend } = await import("../compute/backend.ts");
  const { measurePass } = await import("../compute/backend.ts");
  try {
    const { device, hasGpu, check } = await startBackend(name, {
      programs: dist,
      backends: getBackendsFolder(),
    });
    const milliseconds = 1000 * (await measurePass());
    check?.();
    return { name, device, hasGpu, milliseconds };
  } catch (error) {
    return { name, problem: error instanceof Error ? error.message : String(error) };
  }
}
