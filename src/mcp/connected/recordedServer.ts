/**
 * A server that was recorded, as a server like any other: its tools answer what is in the cassette.
 * Its state is constant, because only reads are recorded.
 */
import { z } from "zod";
import { Refusal, type Server } from "../../environment/server.ts";
import { Cassette, createNotRecordedFault } from "./cassette.ts";
import { createTools } from "./connectedServer.ts";
import type { ServerFile } from "./serverFile.ts";
import { createResultReader } from "./textResult.ts";

interface RecordedServerOptions {
  readonly known: ServerFile;
  /** The cassette. */
  readonly file: string;
  /** The folder with its texts. */
  readonly folder: string;
}

export function createRecordedServer({ known, file, folder }: RecordedServerOptions): Server {
  const { server: name, summary, tools } = known;
  let cassette: Cassette | undefined;
  const load = () => (cassette ??= Cassette.read(file));
  const readResult = createResultReader(known);
  const counts = { recorded: 0, not_recorded: 0 };
  return {
    name,
    category: "Recorded",
    summary,
    schema: z.record(z.string(), z.json()),
    references: {},
    tools: createTools(known, (tool, _world, args) => {
      const recorded = load().find(tools[tool]!.tool, args);
      counts[recorded ? "recorded" : "not_recorded"]++;
      const outcome = recorded ? readResult(tool, recorded) : createNotRecordedFault(tool);
      if (outcome.kind === "ok") return outcome.value;
      const { type, message, hint } = outcome;
      throw new Refusal(
        type === "internal" || type === "unknown_tool" ? "precondition_failed" : type,
        message,
        hint,
      );
    }),
    folder,
    invariants: [],
    isConnected: true,
    checkAccess: () => void load(),
    countWork: () => Promise.resolve({ ...counts }),
  };
}
