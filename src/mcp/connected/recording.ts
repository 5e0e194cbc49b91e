/**
 * Recordings of servers that cannot be reset: makes calls and keeps what the server answers, and
 * finds out from that alone what is needed for an environment.
 */
import { deepFreeze } from "../../environment/digest.ts";
import { fixtureFormat, type Fixture } from "../../environment/fixture.ts";
import type { JsonObject } from "../../environment/json.ts";
import type { Outcome } from "../../environment/outcome.ts";
import { listRequired } from "../../environment/schemaKeywords.ts";
import type { LoggedCall } from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import type { ConnectedSession } from "../connectedSession.ts";
import { defaultSeed } from "../resetSetting.ts";
import type { ConnectedTool } from "../toolList.ts";
import { acceptByName, exploreArguments, type ArgumentFindings } from "./acceptedValues.ts";
import { Cassette, createHeader, createNotRecordedFault } from "./cassette.ts";
import { chooseTools, describeTools, type Exploration, type ExploreOptions } from "./explore.ts";
import { acceptGiven, keepRecorded, listCombinations } from "./recordedArguments.ts";
import { serverFileFormat, type ServerFile } from "./serverFile.ts";
import { defaultLimits } from "./statePool.ts";
import { createResultReader } from "./textResult.ts";
import { createToolEntry } from "./toolEntries.ts";
import { isFailure, Trials, type ExploreLimits } from "./trials.ts";

/** Answers a call of a tool, by the name that the server lists. */
type Ask = (tool: string, args: JsonObject) => Promise<Outcome>;

interface RecordLimits {
  /** Calls of the server. */
  readonly calls: number;
  /** In milliseconds. */
  readonly time: number;
}

/** How often the connection is opened again after it was lost. */
const maxRestarts = 5;

/** Makes calls on a server and keeps the answers. Only tools that are known to read are called. */
export class Recorder {
  readonly cassette: Cassette;
  /** Calls that the server answered otherwise than before. */
  readonly changed: string[] = [];
  /** Calls that were made, and those whose answer is new. */
  madeCount = 0;
  newCount = 0;
  readonly #session: ConnectedSession;
  readonly #limits: RecordLimits;
  readonly #deadline: number;
  #restartCount = 0;

  constructor(session: ConnectedSession, cassette: Cassette, limits: RecordLimits) {
    this.#session = session;
    this.cassette = cassette;
    this.#limits = limits;
    this.#deadline = performance.now() + limits.time;
  }

  /** Opens the cassette in a file. Throws a `UserError` if no tool of the server may be called. */
  static open(
    session: ConnectedSession,
    file: string,
    limits: RecordLimits = { calls: Infinity, time: Infinity },
  ): Recorder {
    const { tools, entry, serverInfo } = session;
    if (![...tools.values()].some(isRead))
      throw new UserError(
        `${entry.name} says of none of its tools that it only reads`,
        `name those that do in its entry in prove/mcp.json, such as "reads": [${JSON.stringify([...tools.keys()][0] ?? "list")}]`,
      );
    const header = createHeader(entry.name, serverInfo, tools.values());
    return new Recorder(session, Cassette.open(file, header), limits);
  }

  get isExhausted(): boolean {
    return this.madeCount >= this.#limits.calls || performance.now() >= this.#deadline;
  }

  /** The answer that is recorded, or else that of the server. */
  ask: Ask = async (tool, args) =>
    this.cassette.find(tool, args) ??
    (this.isExhausted ? createNotRecordedFault(tool) : this.record(tool, args));

  /** Makes a call, and keeps its answer if it has none. */
  async record(tool: string, args: JsonObject): Promise<Outcome> {
    const known = this.#session.tools.get(tool);
    if (known && !isRead(known))
      throw new UserError(
        `${tool} is not known to read, and only reads are recorded`,
        `add it to "reads" in entry ${this.#session.entry.name} of prove/mcp.json if it changes nothing`,
      );
    this.madeCount++;
    const outcome = await this.#session.call(tool, args);
    if (outcome.kind === "ok" || outcome.kind === "refused") {
      const added = this.cassette.add({ tool, arguments: args, outcome });
      if (added === "new") this.newCount++;
      if (added === "other") this.changed.push(`${tool} ${JSON.stringify(args)}`);
    } else if (outcome.kind === "broken") {
      if (++this.#restartCount > maxRestarts)
        throw new UserError(outcome.message, "what was recorded is kept; run it again later");
      await this.#session.restart(0);
    }
    return outcome;
  }

  close(): void {
    this.cassette.close();
  }
}

const isRead = ({ effect }: ConnectedTool): boolean => effect === "read";

/** Makes calls on a server that show what its tools do, with values that results show. */
export async function recordExploration(
  recorder: Recorder,
  options: ExploreOptions,
): Promise<readonly string[]> {
  const { cassette, ask } = recorder;
  const { remarks } = await exploreCalls(cassette, options, ask, async (trials, findings) => {
    const all = [...trials.tools.keys()].map(it => listCombinations(it, trials, findings));
    // with few calls left, each tool gets its share
    const longest = Math.max(0, ...all.map(it => it.length));
    for (let i = 0; i < longest && !recorder.isExhausted; i++)
      for (const [call] of all.map(it => it.slice(i, i + 1))) {
        if (!call) continue;
        options.onProgress(`${options.name}: ${call.name}, ${recorder.madeCount} calls made`);
        await trials.call(call);
      }
    // what varies is not what the recording says
    for (const [name, { call }] of trials.samples)
      if (!recorder.isExhausted)
        await recorder.record(trials.tools.get(name)!.name, call.arguments);
  });
  return [
    ...remarks,
    ...(recorder.isExhausted
      ? [
          "not all calls were made, because their number or the time was used up; record it again to add more",
        ]
      : []),
  ];
}

/** Finds out from a recording alone what is needed for an environment. */
export const exploreRecording = (
  cassette: Cassette,
  options: ExploreOptions,
): Promise<Exploration> =>
  exploreCalls(cassette, options, (tool, args) =>
    Promise.resolve(cassette.find(tool, args) ?? createNotRecordedFault(tool)),
  );

const limits: ExploreLimits = {
  timeouts: defaultLimits.timeouts,
  tool: Infinity,
  all: Infinity,
};

async function exploreCalls(
  cassette: Cassette,
  { name, now, signal, onProgress }: ExploreOptions,
  ask: Ask,
  complete?: (trials: Trials, findings: ArgumentFindings) => Promise<void>,
): Promise<Exploration> {
  const { tools, leftOut } = chooseReads(name, cassette);
  const entries = Object.fromEntries(Array.from(tools, ([key, it]) => [key, createToolEntry(it)]));
  const readResult = createResultReader({ tools: entries, failures: [], volatile: [] });
  const trials = new Trials({
    name,
    tools,
    entries,
    isOnFiles: false,
    seed: defaultSeed,
    restore: "recording",
    signal,
    limits,
    deadline: Infinity,
    maxCalls: Infinity,
    createPool: () => ({
      observe: () => Promise.resolve(deepFreeze({})),
      call: async (_, call) => ({
        outcome: readResult(call.name, await ask(tools.get(call.name)!.name, call.arguments)),
      }),
      close: () => Promise.resolve(),
    }),
  });
  await trials.observeStart();
  for (const it of listRecorded(cassette, tools)) await trials.try(it.name, it.arguments);
  for (const [tool, { inputSchema }] of tools)
    if (listRequired(inputSchema).length === 0) await trials.try(tool, {});
  const findings: ArgumentFindings = { accepted: [], examples: [] };
  // what one tool shows, another one takes, and shows more
  for (let round = 0; round < 2; round++)
    for (const tool of tools.keys()) {
      onProgress(`${name}: ${tool}, ${cassette.size} calls recorded`);
      await exploreArguments(tool, trials, findings);
    }
  const succeeded = () =>
    listRecorded(cassette, tools).filter(
      ({ outcome }) => outcome.kind === "ok" && !isFailure(outcome.value),
    );
  acceptGiven(succeeded(), trials, findings);
  await acceptByName(trials, findings);
  await complete?.(trials, findings);
  const described = await describeTools(trials, findings);
  const calls = succeeded();
  for (const [key, it] of tools) {
    const own = calls.filter(call => call.name === key).map(call => call.arguments);
    if (own.length > 0)
      described[key] = {
        ...described[key]!,
        because: "only reads are recorded",
        inputSchema: keepRecorded(described[key]!.inputSchema, own),
      };
    else {
      leftOut[it.name] = "no call of it that succeeded was recorded";
      delete described[key];
    }
  }
  const { entry } = cassette.header;
  const file: ServerFile = {
    format: serverFileFormat,
    server: name,
    entry,
    summary: `what ${entry} answered on ${cassette.header.recordedAt.slice(0, 10)}`,
    now,
    restore: "recording",
    tools: described,
    ...(Object.keys(leftOut).length > 0 ? { leftOut } : {}),
    failures: [...trials.failures],
    probes: [],
    volatile: [],
  };
  const fixture: Fixture = {
    format: fixtureFormat,
    server: name,
    name: defaultSeed,
    now,
    state: {},
  };
  const remarks = [...cassette.remarks, ...trials.remarks];
  return { file, fixtures: [fixture], remarks };
}

/** The tools that read, or that were recorded because an entry says so, by their names in tasks. */
function chooseReads(name: string, cassette: Cassette) {
  const recorded = new Set(Array.from(cassette.calls, it => it.tool));
  const all = cassette.header.tools;
  const reads = all.filter(it => it.effect === "read" || recorded.has(it.name));
  const { tools, leftOut } = chooseTools(name, {
    tools: new Map(
      reads.map((it): [string, ConnectedTool] => [
        it.name,
        {
          ...it,
          server: name,
          effect: "read",
          saysEffect: true,
          destructive: false,
          idempotent: true,
          requires: [],
        },
      ]),
    ),
    omitted: [],
  });
  const others = all.filter(it => !reads.includes(it)).map(it => it.name);
  const reason = "it is not known to read, and only reads are recorded";
  return {
    tools,
    leftOut: { ...leftOut, ...Object.fromEntries(others.map(it => [it, reason])) } as Record<
      string,
      string
    >,
  };
}

/** The recorded calls, by the names of the tools in tasks. */
function listRecorded(
  { calls }: Cassette,
  tools: ReadonlyMap<string, ConnectedTool>,
): (LoggedCall & { readonly outcome: Outcome })[] {
  const names = new Map(Array.from(tools, ([key, it]) => [it.name, key]));
  return Array.from(calls).flatMap(({ tool, arguments: args, outcome }) => {
    const name = names.get(tool);
    return name === undefined ? [] : [{ name, arguments: args, outcome }];
  });
}
