/**
 * `record`: makes calls on a third-party server that cannot be reset or is remote, and keeps what
 * it answers, for environments that work without it.
 */
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import type { JsonObject } from "../environment/json.ts";
import { getCassetteFile } from "../mcp/connected/cassette.ts";
import { recordExploration, Recorder } from "../mcp/connected/recording.ts";
import { getServerFile } from "../mcp/connected/serverFile.ts";
import type { ConnectedSession } from "../mcp/connectedSession.ts";
import { findServerEntry } from "../mcp/mcpConfig.ts";
import { readJsonLines } from "../storage/jsonLines.ts";
import { checkJson } from "../storage/parseJson.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand, option, type CliContext } from "./command.ts";
import { chooseServerName, withConnectedServer } from "./connectedServer.ts";
import { countOf, jsonFlag, trustServerFlag } from "./options.ts";

export const record = defineCommand({
  name: "record",
  description:
    "Record what a server of prove/mcp.json answers that is remote, or cannot be reset. Calls only tools that the server or its entry says only read, with values that their results show or with the calls of a file, and appends the answers to prove/servers/NAME.cassette.jsonl. prove-rl connect makes an environment of the recording, which needs neither the server nor a network.",
  arguments: [
    argument("<name>", "a server of prove/mcp.json whose entry has no reset", {
      required: "the name of a server",
    }),
  ],
  options: {
    as: option("--as <name>", "its name in tasks (default: the name of its entry)"),
    calls: option(
      "--calls <file>",
      'make the calls of this file of JSON Lines, such as {"tool": "get_note", "arguments": {"id": 7}}',
    ),
    maxCalls: option("--max-calls <n>", "calls that are made at most", {
      parser: countOf("a number of calls"),
      default: 500,
    }),
    maxSeconds: option("--max-seconds <n>", "how long calls are made", {
      parser: countOf("a number of seconds"),
      default: 600,
    }),
    trustServer: trustServerFlag,
    json: jsonFlag,
  },
  examples: [
    "record tracker",
    "record tracker --calls calls.jsonl --trust-server",
    "record io.example/notes --as notes --max-calls 2000",
  ],
  async run(context, [entryName], { as, calls, maxCalls, maxSeconds, trustServer, json }) {
    const { prove, cwd, print, signal, showProgress } = context;
    const entry = findServerEntry(join(prove, "mcp.json"), cwd, entryName);
    if (entry.reset)
      throw new UserError(
        `${entry.name} has a reset, so that it need not be recorded`,
        `run prove-rl connect ${entry.name}`,
      );
    const name = chooseServerName(as ?? entry.name, context);
    const file = getCassetteFile(prove, name);
    const given = calls === undefined ? undefined : await readCalls(resolve(cwd, calls));
    const limits = { calls: maxCalls, time: maxSeconds * 1000 };
    const connect = { connect: entryName, trustServer };
    const report = await withConnectedServer(context, connect, async session => {
      await requireCalls(context, session, maxCalls, trustServer);
      const recorder = Recorder.open(session, file, limits);
      try {
        const now = `${new Date().toISOString().slice(0, 10)}T09:00`;
        const remarks = given
          ? await recordGiven(recorder, given, signal)
          : await recordExploration(recorder, { name, now, signal, onProgress: showProgress });
        const { madeCount, newCount, changed, cassette } = recorder;
        return { calls: madeCount, new: newCount, recorded: cassette.size, changed, remarks };
      } finally {
        recorder.close();
      }
    });
    if (json) print(JSON.stringify({ file: relative(cwd, file), ...report }));
    else
      for (const line of [
        `${name}: ${report.calls} calls made, ${report.new} answers recorded; ${relative(cwd, file)} has ${report.recorded}`,
        ...describeChanges(report.changed),
        ...report.remarks.map(it => `  note: ${it}`),
        `next: prove-rl connect ${name === entry.name ? name : `${entry.name} --as ${name}`}${existsSync(getServerFile(prove, name)) ? " --again" : ""}`,
      ])
        print(escapeInvisible(line));
    return 0;
  },
});

/** Shows what will be called, and asks. */
async function requireCalls(
  { printNote, confirm }: CliContext,
  { entry, tools }: ConnectedSession,
  maxCalls: number,
  isTrusted: boolean,
): Promise<void> {
  const reads = [...tools.values()].filter(it => it.effect === "read").map(it => it.name);
  if (reads.length === 0) return;
  printNote(
    escapeInvisible(
      `record calls these tools of ${entry.name}, at most ${maxCalls} times together: ${reads.join(", ")}`,
    ),
  );
  if (isTrusted) return;
  if (!confirm)
    throw new UserError(
      `${entry.name} is called only with consent`,
      "read what would be called above, then add --trust-server, or run the command in a terminal",
    );
  if (!(await confirm("make these calls?")))
    throw new UserError(`${entry.name} was not recorded`, "answer y to record it");
}

interface GivenCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Where it stands in the file. */
  readonly place: string;
}

const callSchema = z.strictObject({
  tool: z.string().min(1),
  arguments: z.record(z.string(), z.json()),
});

async function readCalls(file: string): Promise<GivenCall[]> {
  const calls: GivenCall[] = [];
  for await (const { json, number } of readJsonLines(file)) {
    const source = {
      file,
      line: number,
      noun: "a call",
      remedy: 'write each line as {"tool": "…", "arguments": {…}}',
    };
    calls.push({ ...checkJson(callSchema, json, source), place: `${file}:${number}` });
  }
  return calls;
}

async function recordGiven(
  recorder: Recorder,
  calls: readonly GivenCall[],
  signal: AbortSignal,
): Promise<string[]> {
  const remarks: string[] = [];
  for (const [i, { tool, arguments: args, place }] of calls.entries()) {
    signal.throwIfAborted();
    if (recorder.isExhausted) {
      remarks.push(
        `${calls.length - i} calls from ${place} on were not made, because their number or the time was used up`,
      );
      break;
    }
    const outcome = await recorder.record(tool, args);
    if (outcome.kind !== "ok" && outcome.kind !== "refused")
      remarks.push(`${place} was not recorded: ${outcome.message}`);
  }
  return remarks;
}

const maxListed = 5;

const describeChanges = (changed: readonly string[]): string[] =>
  changed.length === 0
    ? []
    : [
        `  ${changed.length} calls had another answer before, which is kept: ${changed.slice(0, maxListed).join("; ")}${changed.length > maxListed ? "; …" : ""}`,
      ];
