/**
 * Calls of a third-party server on the state that it starts from, and what they show: whether they
 * succeed, what they change, and the texts that other calls may take.
 */
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { LoggedCall } from "../../environment/server.ts";
import type { Timeouts } from "../serverConnection.ts";
import type { ConnectedTool } from "../toolList.ts";
import { isNotRecorded } from "./cassette.ts";
import { listRows, listTexts, type KnownTexts } from "./exampleArguments.ts";
import { listNumberIds, type KnownNumbers } from "./numberIds.ts";
import { removeVolatile } from "./observation.ts";
import { listSandboxPaths } from "./sandboxPaths.ts";
import type { ServerFile } from "./serverFile.ts";
import {
  defaultLimits,
  type KnownServer,
  type PoolLimits,
  type PoolReply,
  type StateReference,
} from "./statePool.ts";
import { listTextParts } from "./textParts.ts";
import { findOnlyText, readRecord } from "./textResult.ts";
import { listDifferences } from "./volatile.ts";

/** What a call did. */
export interface Trial {
  /** It was not made, because there is only a recording, which does not have it. */
  readonly isUnknown?: true;
  readonly works: boolean;
  readonly writes: boolean;
  readonly shown: string;
  /** The paths of files that were not there before. */
  readonly newFiles: readonly string[];
}

const failed: Trial = { works: false, writes: false, shown: "", newFiles: [] };

/** In milliseconds. */
export interface ExploreLimits {
  readonly timeouts: Timeouts;
  /** How long a tool is tried, and all of them. */
  readonly tool: number;
  readonly all: number;
}

/** Where calls are made: in processes of a server, or on a recording. */
interface TrialPool {
  observe(seed: string): Promise<JsonObject>;
  call(state: StateReference, call: LoggedCall): Promise<PoolReply>;
  close(): Promise<void>;
}

interface TrialOptions {
  readonly createPool: (known: KnownServer, limits: PoolLimits) => TrialPool;

  /** The name of the environment. */
  readonly name: string;
  readonly tools: ReadonlyMap<string, ConnectedTool>;
  /** What the server says about them. */
  readonly entries: ServerFile["tools"];
  readonly isOnFiles: boolean;
  readonly seed: string;
  readonly restore: ServerFile["restore"];
  readonly signal: AbortSignal;
  readonly limits: ExploreLimits;
  /** When nothing more is tried, by `performance.now()`. */
  readonly deadline: number;
  readonly maxCalls?: number;
}

/** Of a server with more tools or arguments, not everything is tried. */
const defaultMaxCalls = 1200;

/** Calls with which the server ends or hangs, after which a tool is left alone. */
const maxBroken = 2;

export class Trials {
  readonly tools: ReadonlyMap<string, ConnectedTool>;
  /** What a person should know beside what is in the file. */
  readonly remarks: string[] = [];
  readonly texts: KnownTexts = new Map();
  readonly numbers: KnownNumbers = new Map();
  /** Objects that results have shown. */
  readonly rows: JsonObject[] = [];
  readonly failures = new Set<string>();
  /** Tools whose texts have a thing in each line. */
  readonly lists = new Set<string>();
  /** Results of calls that succeeded. */
  readonly results = new Map<string, Json[]>();
  /** A call of each tool that succeeded, one that changed something where there is one. */
  readonly samples = new Map<string, { readonly call: LoggedCall; readonly writes: boolean }>();
  readonly probes: ServerFile["probes"] = [];
  /** What differs between two processes from their start on. */
  readonly volatile: string[] = [];
  callCount = 0;
  readonly #options: TrialOptions;
  #deadline: number;
  readonly #brokenCounts = new Map<string, number>();
  /** How long calls of each tool took, in milliseconds. */
  readonly #durations = new Map<string, number>();
  /** The tools that were not tried, or not to the end, by the reason. */
  readonly #omissions = new Map<string, Set<string>>();
  /** The paths of the files at the start. */
  #files: ReadonlySet<string> = new Set();
  #pool: TrialPool;
  start: StateReference;

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#deadline = options.deadline;
    this.tools = options.tools;
    this.#pool = this.createPool();
    this.start = { seed: options.seed, calls: [], digest: computeDigest({}) };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Other processes, for comparing them with those of the trials. */
  createPool(restore = this.#options.restore): TrialPool {
    const { name, entries, createPool } = this.#options;
    const known: KnownServer = {
      server: name,
      // until its effect is known, any tool may write
      tools: Object.fromEntries(
        Object.entries(entries).map(([key, it]) => [key, { ...it, effect: "write" as const }]),
      ),
      failures: [],
      probes: [...this.probes],
      volatile: this.volatile,
      restore,
    };
    return createPool(known, {
      ...defaultLimits,
      timeouts: this.#options.limits.timeouts,
      ignoresUnseen: true,
    });
  }

  async observeStart(): Promise<void> {
    const { seed } = this.#options;
    const worlds = [await this.#pool.observe(seed), await this.#pool.observe(seed)] as const;
    this.volatile.push(...listDifferences(...worlds));
    const world = deepFreeze(removeVolatile(worlds[0], this.volatile) as JsonObject);
    this.start = { ...this.start, digest: computeDigest(world) };
    const files = toObject(world["files"]);
    this.#files = new Set(Object.keys(files));
    if (!this.#options.isOnFiles) return;
    for (const [place, paths] of listSandboxPaths(files)) this.texts.set(place, paths);
  }

  /** Observes what the probes show, too, from now on. */
  async useProbes(): Promise<void> {
    await this.#pool.close();
    this.#pool = this.createPool();
  }

  get isOnFiles(): boolean {
    return this.#options.isOnFiles;
  }

  /** Whether calls of a tool broke, and none succeeded. */
  isUnusable(name: string): boolean {
    return (this.#brokenCounts.get(name) ?? 0) >= maxBroken && !this.samples.has(name);
  }

  /** Whether a tool may be tried again. If not because there is no time, that is noted. */
  allows(name: string): boolean {
    if ((this.#brokenCounts.get(name) ?? 0) >= maxBroken) return false;
    const { limits, maxCalls = defaultMaxCalls } = this.#options;
    const reason =
      this.callCount >= maxCalls
        ? `${maxCalls} calls were made`
        : performance.now() >= this.#deadline
          ? `exploring takes at most ${limits.all / 1000} s`
          : (this.#durations.get(name) ?? 0) >= limits.tool
            ? `calls of a tool may take ${limits.tool / 1000} s together`
            : undefined;
    if (reason === undefined) return true;
    this.#omissions.set(reason, (this.#omissions.get(reason) ?? new Set()).add(name));
    return false;
  }

  /** Begins with checks of what was found, which have half the time, and a new count of calls. */
  startChecks(): void {
    this.callCount = 0;
    this.#durations.clear();
    this.#deadline = performance.now() + this.#options.limits.all / 2;
  }

  /** What a person should know about the tools that were not tried to the end. */
  listOmissions(): string[] {
    return Array.from(
      this.#omissions,
      ([reason, names]) =>
        `not tried, or not to the end, because ${reason}: ${[...names].join(", ")}; complete in the file what they do`,
    );
  }

  async call(call: LoggedCall, state = this.start): Promise<PoolReply> {
    this.#options.signal.throwIfAborted();
    this.callCount++;
    const start = performance.now();
    try {
      return await this.#pool.call(state, call);
    } finally {
      const before = this.#durations.get(call.name) ?? 0;
      this.#durations.set(call.name, before + performance.now() - start);
    }
  }

  /** Makes a call, and learns from what it shows. */
  async try(name: string, args: JsonObject): Promise<Trial> {
    if (!this.allows(name)) return failed;
    const { outcome, world } = await this.call({ name, arguments: args });
    if (outcome.kind === "broken") this.#noteBroken(name, outcome.message);
    if (isNotRecorded(outcome)) return { ...failed, isUnknown: true };
    if (outcome.kind !== "ok") return { ...failed, shown: outcome.message };
    const failure = findFailure(outcome.value);
    if (failure !== undefined) {
      this.failures.add(failure);
      return failed;
    }
    const value = readRecord(outcome.value, "python");
    const writes = world !== undefined && computeDigest(deepFreeze(world)) !== this.start.digest;
    const results = this.results.get(name) ?? [];
    if (results.length < 12) this.results.set(name, [...results, outcome.value]);
    if (!this.samples.has(name) || (writes && !this.samples.get(name)!.writes))
      this.samples.set(name, { call: { name, arguments: args }, writes });
    // a write may show what it was given, which exists only afterwards
    if (!writes) this.#learn(name, args, value);
    const newFiles = Object.keys(toObject(world?.["files"])).filter(it => !this.#files.has(it));
    return { works: true, writes, shown: JSON.stringify(value), newFiles };
  }

  #learn(name: string, args: JsonObject, value: Json): void {
    listTexts(name, value, this.texts);
    listNumberIds(name, value, this.numbers);
    listRows(value, this.rows);
    // a listing names what is in the folder that was asked for
    const folders = Object.values(args).filter(
      it => typeof it === "string" && /^\.?[/\\]/.test(it),
    ) as string[];
    for (const [field, it] of Object.entries(isJsonObject(value) ? value : { result: value })) {
      if (typeof it !== "string") continue;
      for (const { form, text } of listTextParts(it)) {
        const place = `${field}/${form}`;
        listTexts(name, text, this.texts, place);
        if (/[/\\\s]/.test(text)) continue;
        for (const folder of folders)
          listTexts(name, `${folder.replace(/\/$/, "")}/${text}`, this.texts, `${place} in folder`);
      }
    }
  }

  #noteBroken(name: string, message: string): void {
    this.#brokenCounts.set(name, (this.#brokenCounts.get(name) ?? 0) + 1);
    const remark = `${name} broke: ${message}`;
    if (!this.remarks.includes(remark)) this.remarks.push(remark);
  }

  /** How results of a tool that are text are read; undefined if none is. */
  getForm(name: string): ServerFile["tools"][string]["text"] {
    if (this.lists.has(name)) return "lines";
    const texts = (this.results.get(name) ?? []).filter(it => findOnlyText(it) !== undefined);
    const isPython = (it: Json) => findOnlyText(readRecord(it, "python")) === undefined;
    return texts.length > 0 && texts.every(isPython) ? "python" : undefined;
  }
}

const toObject = (value: Json | undefined): JsonObject =>
  value !== undefined && isJsonObject(value) ? value : {};

export const isFailure = (value: Json): boolean => findFailure(value) !== undefined;

/** A regular expression for what reports a failure, though it is given as a result. */
function findFailure(value: Json): string | undefined {
  const status = isJsonObject(value) ? value["status"] : undefined;
  if (typeof status === "string" && /^(?:error|failed|failure)$/i.test(status))
    return `^\\{[^{}[\\]]*"status":"${status}"`;
  const text = findOnlyText(value) ?? "";
  const [start] =
    /^[A-Z][\w' ]{0,40}?\b(?:[Ee]rror|[Ff]ailed|[Ff]ailure|[Ii]nvalid|[Nn]ot found)\b[\w' ]{0,30}:/.exec(
      text,
    ) ??
    /^(?:Error|Failed|Failure|Invalid|Unknown|No such)\b/.exec(text) ??
    [];
  return start && `^${start}`;
}
