/**
 * Explores a third-party server in sandboxes: which tools write, how failures and results that are
 * text look, which values of results other tools take, and what differs between equal runs.
 */
import { setTimeout } from "node:timers/promises";
import { inferSchema, combineSchemas } from "../../environment/inferSchema.ts";
import { fixtureFormat, type Fixture } from "../../environment/fixture.ts";
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { getProperties, listRequired, removeNull } from "../../environment/schemaKeywords.ts";
import type { JsonSchema, LoggedCall } from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import type { ServerEntry } from "../mcpConfig.ts";
import { defaultSeed } from "../resetSetting.ts";
import { ServerConnection } from "../serverConnection.ts";
import { describeOmission, type ConnectedTool, type ToolList } from "../toolList.ts";
import {
  createArguments,
  listExampleTexts,
  listTexts,
  type KnownTexts,
} from "./exampleArguments.ts";
import { findKinds, markKinds, toNoun, type AcceptedValue, type Kind } from "./entityKinds.ts";
import { removeVolatile } from "./observation.ts";
import { readPythonValue } from "./pythonValue.ts";
import { serverFileFormat, type ServerFile } from "./serverFile.ts";
import { defaultLimits, StatePool, type PoolReply, type StateReference } from "./statePool.ts";
import { listDifferences } from "./volatile.ts";

interface ExploreOptions {
  /** The name that the environment gets. */
  readonly name: string;
  /** The time at which its sessions start. */
  readonly now: string;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export interface Exploration {
  readonly file: ServerFile;
  readonly fixtures: readonly Fixture[];
  /** What a person should know beside what is in the file. */
  readonly remarks: readonly string[];
}

/** Throws a `UserError` for a server that cannot be reset, with what to add to its entry. */
export async function exploreServer(
  entry: ServerEntry,
  options: ExploreOptions,
): Promise<Exploration> {
  const { reset } = entry;
  if (!reset)
    throw new UserError(
      `${entry.name} has no reset, and its tools are not tried on what may be anybody's data`,
      `add one to its entry in prove/mcp.json, such as "reset": {"folder": "seeds/start"} for a server whose state are files`,
    );
  const { list, isOnFiles } = await listTools(entry, options.signal);
  const seeds = reset.kind === "folder" ? Object.keys(reset.folders) : [defaultSeed];
  const seed = seeds[0]!;
  // to put files back is fast, and shows whether the server notices it
  for (const restore of isOnFiles ? (["files", "restart"] as const) : (["restart"] as const)) {
    const explorer = new Explorer(entry, { ...options, list, isOnFiles, seed, restore });
    try {
      const file = await explorer.explore();
      if (!file) continue;
      const fixtures = await createFixtures(entry, file, seeds);
      return { file, fixtures, remarks: explorer.remarks };
    } finally {
      await explorer.close();
    }
  }
  throw new Error("a server that is started again for each state was not explored");
}

async function listTools(
  entry: ServerEntry,
  signal: AbortSignal,
): Promise<{ readonly list: ToolList; readonly isOnFiles: boolean }> {
  const connection = await ServerConnection.open(entry, signal, defaultLimits.timeouts);
  try {
    return { list: connection.list, isOnFiles: connection.folder !== undefined };
  } finally {
    await connection.close();
  }
}

async function createFixtures(
  entry: ServerEntry,
  file: ServerFile,
  seeds: readonly string[],
): Promise<Fixture[]> {
  const pool = new StatePool(entry, file);
  try {
    const fixtures: Fixture[] = [];
    for (const name of seeds) {
      const state = await pool.observe(name);
      fixtures.push({ format: fixtureFormat, server: file.server, name, now: file.now, state });
    }
    return fixtures;
  } finally {
    await pool.close();
  }
}

interface Exploring extends ExploreOptions {
  readonly list: ToolList;
  readonly isOnFiles: boolean;
  readonly seed: string;
  readonly restore: ServerFile["restore"];
}

type ToolEntry = ServerFile["tools"][string];

/** Of a server with more tools or arguments, not everything is tried. */
const maxCallsPerTool = 60;
const maxCalls = 1200;

/** Calls with which the server ends or hangs, after which a tool is left alone. */
const maxBroken = 2;

/** A text that no server has. */
const unknownText = "qzxv-unknown-7731";

class Explorer {
  readonly remarks: string[] = [];
  readonly #entry: ServerEntry;
  readonly #options: Exploring;
  readonly #tools = new Map<string, ConnectedTool>();
  readonly #leftOut: Record<string, string> = {};
  readonly #texts: KnownTexts = new Map();
  readonly #failures = new Set<string>();
  readonly #forms = new Map<string, ToolEntry["text"]>();
  /** Results of calls that succeeded. */
  readonly #results = new Map<string, Json[]>();
  readonly #accepted: AcceptedValue[] = [];
  /** A call of each tool that succeeded, one that changed something where there is one. */
  readonly #samples = new Map<string, { readonly call: LoggedCall; readonly writes: boolean }>();
  readonly #probes: ServerFile["probes"] = [];
  #pool: StatePool;
  #start: StateReference;
  /** What differs between two processes from their start on. */
  readonly #volatile: string[] = [];
  #callCount = 0;
  readonly #brokenCounts = new Map<string, number>();
  /** Undefined while it is not known. */
  #noticesFiles: boolean | undefined;
  readonly #checkedReads = new Set<LoggedCall>();

  constructor(entry: ServerEntry, options: Exploring) {
    this.#entry = entry;
    this.#options = options;
    const names = new Map<string, string>();
    for (const it of options.list.omitted) this.#leftOut[it.name] = describeOmission(it);
    for (const tool of options.list.tools.values()) {
      const name = createToolName(options.name, tool.name);
      const other = names.get(name);
      if (other !== undefined || !/^[a-z][a-z0-9_]{2,63}$/.test(name))
        this.#leftOut[tool.name] =
          other === undefined ? "its name is too long" : `it has the same name here as ${other}`;
      else {
        names.set(name, tool.name);
        this.#tools.set(name, tool);
      }
    }
    this.#pool = this.#createPool();
    this.#start = { seed: options.seed, calls: [], digest: computeDigest({}) };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** What is found; undefined if a process does not notice that its files are put back. */
  async explore(): Promise<ServerFile | undefined> {
    const { name, now, isOnFiles, restore } = this.#options;
    if (!isOnFiles) await this.#chooseProbes();
    await this.#observeStart();
    for (const [tool, { inputSchema }] of this.#tools)
      if (listRequired(inputSchema).length === 0) await this.#try(tool, {});
    // what one tool shows, another one takes, and shows more
    for (let round = 0; round < 2; round++)
      for (const tool of this.#tools.keys()) {
        this.#options.onProgress(`${name}: ${tool}, ${this.#callCount} calls made`);
        await this.#exploreArguments(tool);
        if (restore === "files") await this.#checkFiles();
        if (this.#noticesFiles === false) return undefined;
      }
    const volatile = await this.#findVolatile();
    this.#acceptByName();
    const kinds = findKinds(this.#accepted, this.#texts);
    await this.#findNewThings(kinds);
    const tools = Object.fromEntries(
      Array.from(this.#tools, ([key, it]) => [key, this.#describeTool(key, it)]),
    );
    markKinds(tools, kinds);
    return {
      format: serverFileFormat,
      server: name,
      entry: this.#entry.name,
      summary: `what ${this.#entry.name} works on`,
      now,
      restore: this.#noticesFiles ? "files" : "restart",
      tools,
      ...(Object.keys(this.#leftOut).length > 0 ? { leftOut: this.#leftOut } : {}),
      failures: [...this.#failures],
      probes: this.#probes,
      volatile,
    };
  }

  #createPool(): StatePool {
    return new StatePool(
      this.#entry,
      {
        server: this.#options.name,
        // until its effect is known, any tool may write
        tools: Object.fromEntries(
          Array.from(this.#tools, ([key, it]) => [
            key,
            { ...createToolEntry(it), effect: "write" as const },
          ]),
        ),
        failures: [],
        probes: [...this.#probes],
        volatile: this.#volatile,
        restore: this.#options.restore,
      },
      { ...defaultLimits, ignoresUnseen: true },
    );
  }

  async #observeStart(): Promise<void> {
    const worlds = [
      await this.#pool.observe(this.#options.seed),
      await this.#pool.observe(this.#options.seed),
    ] as const;
    this.#volatile.push(...listDifferences(...worlds));
    const world = deepFreeze(removeVolatile(worlds[0], this.#volatile) as JsonObject);
    this.#start = { ...this.#start, digest: computeDigest(world) };
  }

  /** Where no files show the state, reads do: those that answer the same twice. */
  async #chooseProbes(): Promise<void> {
    await this.#observeStart();
    for (const [name, tool] of this.#tools) {
      const mayRead = tool.effect === "read" || !tool.saysEffect;
      if (!mayRead || listRequired(tool.inputSchema).length > 0 || this.#probes.length >= 8)
        continue;
      const answers = [await this.#call(name, {}), await this.#call(name, {})];
      const [first, second] = answers.map(it => it.outcome);
      if (first!.kind === "ok" && second!.kind === "ok")
        if (JSON.stringify(first) === JSON.stringify(second))
          this.#probes.push({ tool: name, arguments: {} });
    }
    if (this.#probes.length === 0)
      this.remarks.push("no read without arguments shows its state: add probes to the file");
    await this.#pool.close();
    this.#pool = this.#createPool();
  }

  async #call(name: string, args: JsonObject): Promise<PoolReply> {
    this.#options.signal.throwIfAborted();
    this.#callCount++;
    return this.#pool.call(this.#start, { name, arguments: args });
  }

  /** Makes a call, and learns from what it shows. */
  async #try(name: string, args: JsonObject): Promise<Trial> {
    const { outcome, world } = await this.#call(name, args);
    if (outcome.kind === "broken") this.#noteBroken(name, outcome.message);
    if (outcome.kind !== "ok") return { works: false, writes: false, shown: outcome.message };
    const failure = findFailure(outcome.value);
    if (failure !== undefined) {
      this.#failures.add(failure);
      return { works: false, writes: false, shown: "" };
    }
    const value = this.#readValue(name, outcome.value as JsonObject);
    const writes = world !== undefined && computeDigest(deepFreeze(world)) !== this.#start.digest;
    const trial = { works: true, writes, shown: JSON.stringify(value) };
    const results = this.#results.get(name) ?? [];
    if (results.length < 12) this.#results.set(name, [...results, value]);
    if (!this.#samples.has(name) || (writes && !this.#samples.get(name)!.writes))
      this.#samples.set(name, { call: { name, arguments: args }, writes });
    // a write may show what it was given, which exists only afterwards
    if (!writes) listTexts(name, value, this.#texts);
    return trial;
  }

  #noteBroken(name: string, message: string): void {
    this.#brokenCounts.set(name, (this.#brokenCounts.get(name) ?? 0) + 1);
    const remark = `${name} broke: ${message}`;
    if (!this.remarks.includes(remark)) this.remarks.push(remark);
  }

  /** A result that is text, as a value of Python or as lines where it is that. */
  #readValue(name: string, value: JsonObject): Json {
    const { result } = value;
    if (Object.keys(value).length !== 1 || typeof result !== "string") return value;
    const python = readPythonValue(result);
    if (python !== undefined && python !== null && typeof python === "object") {
      this.#forms.set(name, "python");
      return isJsonObject(python) ? python : { result: python };
    }
    if (this.#forms.get(name) === "lines")
      return { result: result.split("\n").filter(it => it.trim() !== "") };
    return value;
  }

  /** Tries values for the required arguments of a tool, and which of them a result supplies. */
  async #exploreArguments(name: string): Promise<void> {
    const { inputSchema } = this.#tools.get(name)!;
    const required = listRequired(inputSchema);
    if (required.length === 0) return;
    const base = createArguments(inputSchema, this.#texts);
    if (!base) return;
    let calls = 0;
    let known = base;
    const keys = required.filter(it => isTextArgument(getProperties(inputSchema)[it] ?? {}));
    const unresolved = keys.filter(
      key => !this.#accepted.some(it => it.tool === name && it.key === key),
    );
    if (keys.length === 0 && !this.#samples.has(name)) await this.#try(name, known);
    for (const key of unresolved) {
      const give = (text: string) =>
        setArgument(known, key, text, getProperties(inputSchema)[key] ?? {});
      const withUnknown = await this.#try(name, give(unknownText));
      // it takes any text
      if (withUnknown.works && withUnknown.writes) continue;
      const tried = new Set<string>();
      for (const [source, texts] of this.#listSources(name)) {
        if (calls >= maxCallsPerTool || this.#callCount >= maxCalls) return;
        if ((this.#brokenCounts.get(name) ?? 0) >= maxBroken) return;
        const trials: { readonly text: string; readonly trial: Trial }[] = [];
        // places that show the same are tried once
        const chosen = texts.filter(it => !tried.has(it)).slice(0, 2);
        if (chosen.length === 0) continue;
        for (const text of chosen) {
          calls++;
          tried.add(text);
          trials.push({ text, trial: await this.#try(name, give(text)) });
        }
        const isAccepted = trials.every(({ text, trial }) =>
          isBetter(trial, text, withUnknown, unknownText),
        );
        if (!isAccepted) continue;
        this.#accepted.push({ tool: name, key, source });
        known = give(chosen[0]!);
        break;
      }
    }
    if (!this.#samples.has(name)) await this.#try(name, known);
  }

  /** The texts that results have shown, by their place; those with the fewest first. */
  #listSources(name: string): [string, string[]][] {
    return Array.from(this.#texts, ([place, texts]): [string, string[]] => [place, [...texts]])
      .filter(([place]) => !place.startsWith(`${name} `))
      .toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  }

  /** An argument with the name of one that takes the texts of a place takes them, too. */
  #acceptByName(): void {
    for (const [tool, { inputSchema }] of this.#tools)
      for (const [key, schema] of Object.entries(getProperties(inputSchema))) {
        if (this.#accepted.some(it => it.tool === tool && it.key === key)) continue;
        const other = this.#accepted.find(it => it.key === key && toNoun(key) !== "");
        if (other && isTextArgument(schema))
          this.#accepted.push({ tool, key, source: other.source });
      }
  }

  /** The places at which writes show a thing that they were about, or that they created. */
  async #findNewThings(kinds: readonly Kind[]): Promise<void> {
    for (const [name, { call, writes }] of this.#samples) {
      if (!writes) continue;
      const { outcome, world } = await this.#pool.call(this.#start, call);
      if (outcome.kind !== "ok" || !world) continue;
      const after = { ...this.#start, calls: [call], digest: computeDigest(deepFreeze(world)) };
      const shown: KnownTexts = new Map();
      listTexts(name, this.#readValue(name, outcome.value as JsonObject), shown);
      for (const kind of kinds)
        for (const [place, texts] of shown)
          if (await this.#isAbout(kind, call, after, [...texts][0]!)) kind.places.push(place);
    }
  }

  /** Whether a text names a thing of the kind: it was given as one, or one can be read by it. */
  async #isAbout(
    kind: Kind,
    call: LoggedCall,
    after: StateReference,
    text: string,
  ): Promise<boolean> {
    if (kind.inputs.some(it => it.tool === call.name && call.arguments[it.key] === text))
      return true;
    // what people say may be any text
    if (kind.isSpoken) return false;
    const reader = kind.inputs.find(({ tool, key }) => {
      const sample = this.#samples.get(tool);
      return sample && !sample.writes && key in sample.call.arguments;
    });
    if (!reader) return false;
    const { name, arguments: args } = this.#samples.get(reader.tool)!.call;
    const schema = getProperties(this.#tools.get(name)!.inputSchema)[reader.key] ?? {};
    const read = { name, arguments: setArgument(args, reader.key, text, schema) };
    const { outcome } = await this.#pool.call(after, read);
    if (outcome.kind !== "ok" || findFailure(outcome.value) !== undefined) return false;
    const before = await this.#pool.call(this.#start, read);
    return before.outcome.kind !== "ok" || findFailure(before.outcome.value) !== undefined;
  }

  /**
   * Finds out whether a process notices that its files were replaced, so that a read after a write
   * shows the start again, as soon as a write and a read are known that show it.
   */
  async #checkFiles(): Promise<void> {
    const samples = [...this.#samples.values()];
    const write = samples.find(it => it.writes)?.call;
    const reads = samples.filter(it => !it.writes && !this.#checkedReads.has(it.call));
    if (this.#noticesFiles !== undefined || !write || reads.length === 0) return;
    const { world } = await this.#pool.call(this.#start, write);
    const after = { ...this.#start, calls: [write], digest: computeDigest(deepFreeze(world!)) };
    const fresh = new StatePool(this.#entry, { ...this.#pool.known, restore: "restart" });
    try {
      for (const { call } of reads) {
        this.#checkedReads.add(call);
        const [changed, restored, original] = [
          await this.#pool.call(after, call),
          await this.#pool.call(this.#start, call),
          await fresh.call(this.#start, call),
        ].map(it => JSON.stringify(it.outcome));
        if (changed === original) continue;
        this.#noticesFiles = restored === original;
        return;
      }
    } finally {
      await fresh.close();
    }
  }

  /** What differs when the same calls are made in two sandboxes, a second apart. */
  async #findVolatile(): Promise<string[]> {
    const run = async () => {
      const pool = new StatePool(this.#entry, this.#pool.known, {
        ...defaultLimits,
        ignoresUnseen: true,
      });
      try {
        const seen: Record<string, Json> = { "": await pool.observe(this.#options.seed) };
        const start = { ...this.#start, digest: computeDigest(deepFreeze(seen[""] as JsonObject)) };
        for (const [name, { call }] of this.#samples) {
          const { outcome, world } = await pool.call(start, call);
          seen[name] = {
            results: {
              [name]:
                outcome.kind === "ok" ? this.#readValue(name, outcome.value as JsonObject) : null,
            },
            ...world,
          };
        }
        return seen;
      } finally {
        await pool.close();
      }
    };
    const first = await run();
    await setTimeout(1100);
    const second = await run();
    const pointers = [
      ...this.#volatile,
      ...Object.keys(first).flatMap(key => listDifferences(first[key]!, second[key]!)),
    ];
    return [...new Set(pointers)].sort();
  }

  #describeTool(name: string, tool: ConnectedTool): ToolEntry {
    const sample = this.#samples.get(name);
    const { effect, because } = chooseEffect(tool, sample?.writes);
    if (effect === "write" && tool.effect === "read")
      this.remarks.push(`${name} is marked as read-only, but a call changed what was observed`);
    if (!sample) this.remarks.push(`no call of ${name} succeeded`);
    const form = this.#forms.get(name);
    const results = this.#results.get(name) ?? [];
    const isPublished = Object.keys(tool.outputSchema).length > 0 && form === undefined;
    return {
      ...createToolEntry(tool),
      effect,
      because,
      ...(form ? { text: form } : {}),
      inputSchema: addExamples(tool.inputSchema, this.#texts),
      outputSchema: isPublished ? tool.outputSchema : combineSchemas(results.map(inferSchema)),
    };
  }
}

interface Trial {
  readonly works: boolean;
  readonly writes: boolean;
  readonly shown: string;
}

/** Whether a known text did more than an unknown one, apart from being shown itself. */
function isBetter(trial: Trial, text: string, unknown: Trial, unknownValue: string): boolean {
  if (!trial.works) return false;
  if (!unknown.works) return true;
  if (trial.writes !== unknown.writes) return trial.writes;
  const [own, other] = [
    trial.shown.replaceAll(text, ""),
    unknown.shown.replaceAll(unknownValue, ""),
  ];
  return !trial.writes && own.length > other.length * 1.2 + 10;
}

const createToolName = (server: string, tool: string): string =>
  `${server}_${tool
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")}`;

const createToolEntry = (it: ConnectedTool): ToolEntry => ({
  tool: it.name,
  effect: it.effect,
  summary: it.summary,
  ...(it.destructive && it.effect === "write" ? { destructive: true } : {}),
  ...(it.idempotent && it.effect === "write" ? { idempotent: true } : {}),
  inputSchema: it.inputSchema,
  outputSchema: it.outputSchema,
});

function chooseEffect(
  { effect, saysEffect }: ConnectedTool,
  writes: boolean | undefined,
): Pick<ToolEntry, "effect" | "because"> {
  if (writes) return { effect: "write", because: "a call changed what was observed" };
  if (saysEffect) return { effect, because: "the server says so" };
  return writes === undefined
    ? { effect: "write", because: "no call succeeded, and the server does not say" }
    : { effect: "read", because: "a call changed nothing that was observed" };
}

/** A regular expression for a text that reports a failure, though it is given as a result. */
function findFailure(value: Json): string | undefined {
  const values = isJsonObject(value) ? Object.values(value) : [];
  const [text] = values;
  if (values.length !== 1 || typeof text !== "string") return undefined;
  const [start] =
    /^[A-Z][\w' ]{0,40}?\b(?:[Ee]rror|[Ff]ailed|[Ff]ailure|[Ii]nvalid|[Nn]ot found)\b[\w' ]{0,30}:/.exec(
      text,
    ) ??
    /^(?:Error|Failed|Failure|Invalid|Unknown|No such)\b/.exec(text) ??
    [];
  return start && `^${start}`;
}

/** Whether an argument is a text, or a list of texts, of which any may be given. */
function isTextArgument(schema: JsonSchema): boolean {
  const plain = removeNull(schema);
  if (plain["enum"] !== undefined || plain["const"] !== undefined) return false;
  return plain["type"] === "array"
    ? isTextArgument((plain["items"] ?? {}) as JsonSchema)
    : plain["type"] === "string";
}

const setArgument = (
  args: JsonObject,
  key: string,
  text: string,
  schema: JsonSchema,
): JsonObject => ({ ...args, [key]: removeNull(schema)["type"] === "array" ? [text] : text });

/** Adds examples to arguments of which any text may be given. */
function addExamples(schema: JsonSchema, texts: KnownTexts): JsonSchema {
  const add = (key: string, it: JsonSchema): JsonSchema => {
    const plain = removeNull(it);
    if (plain["examples"] !== undefined || !isTextArgument(plain)) return it;
    return plain["type"] === "array"
      ? { ...it, items: add(key, (plain["items"] ?? {}) as JsonSchema) }
      : { ...it, examples: [...listExampleTexts(key, texts)] };
  };
  const properties = getProperties(schema);
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, it]) => [key, add(key, it)]),
    ),
  };
}
