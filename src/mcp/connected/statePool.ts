/**
 * Processes of a third-party server, each in a sandbox and in a known state: that of a seed and of
 * the writes that were made since. A call on a state gets the process that is in it, or one that
 * can get there with the fewest writes. Requests are handled one after the other.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { computeDigest, deepFreeze, type Digest } from "../../environment/digest.ts";
import { canonicalJson, type Json, type JsonObject } from "../../environment/json.ts";
import type { Fault, Outcome } from "../../environment/outcome.ts";
import type { LoggedCall } from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import type { ServerEntry } from "../mcpConfig.ts";
import { createBrokenFault, ServerConnection, type Timeouts } from "../serverConnection.ts";
import { createSandboxPath } from "../sandbox.ts";
import { observeFiles, removeVolatile } from "./observation.ts";
import { sandboxPath } from "./sandboxPaths.ts";
import type { ServerFile } from "./serverFile.ts";
import { readResult } from "./textResult.ts";

/** What the pool needs to know of a server. */
export type KnownServer = Pick<
  ServerFile,
  "server" | "tools" | "failures" | "probes" | "volatile" | "restore"
>;

/** A state of a server, and the digest of what is observed in it. */
export interface StateReference {
  readonly seed: string;
  readonly calls: readonly LoggedCall[];
  readonly digest: Digest;
}

export interface PoolReply {
  readonly outcome: Outcome;
  /** What is observed after a write that succeeded. */
  readonly world?: JsonObject;
}

export interface PoolLimits {
  readonly processes: number;
  readonly timeouts: Timeouts;
  /** For exploring: a write after which nothing else is observed leads to no other state. */
  readonly ignoresUnseen?: true;
}

/** The first start of a server may have to download its package. */
export const defaultLimits: PoolLimits = {
  processes: 4,
  timeouts: { start: 120_000, call: 30_000 },
};

/** How much work the pool did. */
export interface PoolCounts {
  starts: number;
  calls: number;
  /** Calls that were made again, to get to a state. */
  repeated: number;
  /** Folders that were put back, to get to a state. */
  restored: number;
}

export class StatePool {
  readonly counts: PoolCounts = { starts: 0, calls: 0, repeated: 0, restored: 0 };
  readonly #entry: ServerEntry;
  readonly known: KnownServer;
  readonly #limits: PoolLimits;
  readonly #snapshots: Snapshots | undefined;
  readonly #stop = new AbortController();
  /** The one that was used last is the last. */
  #processes: SandboxProcess[] = [];
  /** Processes that are being ended. */
  readonly #ending = new Set<Promise<void>>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(entry: ServerEntry, known: KnownServer, limits: PoolLimits = defaultLimits) {
    this.#entry = entry;
    this.known = known;
    this.#limits = limits;
    if (known.restore === "files") this.#snapshots = new Snapshots();
  }

  /** What is observed of a seed, in a new process. */
  observe(seed: string): Promise<JsonObject> {
    return this.#enqueue(async () => {
      const process = await this.#start(seed);
      return process.world;
    });
  }

  /** Makes a call on a state. Throws a `UserError` if the server cannot be started. */
  call(state: StateReference, call: LoggedCall): Promise<PoolReply> {
    return this.#enqueue(async () => {
      this.counts.calls++;
      const process = await this.#reach(state);
      if (!(process instanceof SandboxProcess)) return { outcome: process };
      const outcome = await process.call(call);
      if (outcome.kind === "broken") {
        this.#discard(process);
        return { outcome };
      }
      if (this.known.tools[call.name]!.effect === "read") return { outcome };
      const world = await process.observe();
      const isUnseen = this.#limits.ignoresUnseen && computeDigest(world) === process.digest;
      if (outcome.kind === "ok" && !isUnseen) {
        process.moveTo([...state.calls, call], world);
        await this.#snapshots?.keep(process);
        return { outcome, world };
      }
      // a failed call leaves the state as it is; a process in which it did not is no longer of use
      if (computeDigest(world) !== process.digest) this.#discard(process);
      return outcome.kind === "ok" ? { outcome, world } : { outcome };
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#queue;
    for (const it of this.#processes) this.#discard(it);
    await Promise.all(this.#ending);
    await this.#snapshots?.remove();
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    // the caller that enqueued the work handles its error, and later work still runs
    this.#queue = result.catch(() => {});
    return result;
  }

  /** A process in that state, or why there is none. */
  async #reach(state: StateReference): Promise<SandboxProcess | Fault> {
    const { seed, calls } = state;
    const process =
      this.#find(it => it.isAt(state)) ??
      (await this.#putBack(state)) ??
      this.#findPrefix(state) ??
      (await this.#start(seed));
    this.#processes = [...this.#processes.filter(it => it !== process), process];
    for (const call of calls.slice(process.calls.length)) {
      this.counts.repeated++;
      const outcome = await process.call(call);
      if (outcome.kind !== "ok") {
        this.#discard(process);
        return createBrokenFault(
          `${seed} of ${this.known.server} cannot be brought to this state again: ${call.name} failed: ${outcome.message}`,
        );
      }
      process.moveTo([...process.calls, call], undefined);
    }
    if (process.digest === undefined) {
      process.moveTo(calls, await process.observe());
      await this.#snapshots?.keep(process);
    }
    if (process.digest === state.digest) return process;
    this.#discard(process);
    if (calls.length === 0 && this.#limits.ignoresUnseen)
      throw new UserError(
        `${this.#entry.name} is not reset: a new process shows something else than the first one`,
        `correct reset in entry ${this.#entry.name} of prove/mcp.json, for example by a folder that is copied`,
      );
    return createBrokenFault(
      calls.length === 0
        ? `the seed ${seed} of ${this.known.server} is not what its fixture says; run prove-rl connect again`
        : `the same calls led ${this.known.server} to another state; name what varies in volatile of its description`,
    );
  }

  #find(matches: (process: SandboxProcess) => boolean): SandboxProcess | undefined {
    return this.#processes.findLast(matches);
  }

  /** A process whose files were replaced by those of the state, or of one on the way to it. */
  async #putBack({ seed, calls }: StateReference): Promise<SandboxProcess | undefined> {
    const process = this.#snapshots && this.#find(it => it.seed === seed);
    if (!process) return undefined;
    for (let count = calls.length; count >= 0; count--) {
      const known = calls.slice(0, count);
      const snapshot = this.#snapshots.get(seed, known);
      if (!snapshot) continue;
      await process.replaceFiles(snapshot.folder, known, snapshot.world);
      this.counts.restored++;
      return process;
    }
    return undefined;
  }

  /** Of the processes that have made a part of the calls and no other, the one that made most. */
  #findPrefix(state: StateReference): SandboxProcess | undefined {
    return this.#processes
      .filter(it => it.isBefore(state))
      .toSorted((a, b) => b.calls.length - a.calls.length)[0];
  }

  async #start(seed: string): Promise<SandboxProcess> {
    while (this.#processes.length >= this.#limits.processes) this.#discard(this.#processes[0]!);
    this.counts.starts++;
    const { timeouts } = this.#limits;
    const connection = await ServerConnection.open(this.#entry, this.#stop.signal, timeouts, seed);
    const process = new SandboxProcess(connection, this.known, seed);
    this.#processes.push(process);
    try {
      process.checkTools();
      process.moveTo([], await process.observe());
      await this.#snapshots?.keep(process);
      return process;
    } catch (error) {
      this.#discard(process);
      throw error;
    }
  }

  #discard(process: SandboxProcess): void {
    this.#processes = this.#processes.filter(it => it !== process);
    const ending = process.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** One process of a server, and the state that it is in. */
class SandboxProcess {
  readonly seed: string;
  readonly #connection: ServerConnection;
  readonly #known: KnownServer;
  readonly #failures: readonly RegExp[];
  calls: readonly LoggedCall[] = [];
  /** Undefined while it is on the way to another state. */
  #world: JsonObject | undefined;

  constructor(connection: ServerConnection, known: KnownServer, seed: string) {
    this.#connection = connection;
    this.#known = known;
    this.#failures = known.failures.map(it => new RegExp(it, "u"));
    this.seed = seed;
  }

  get world(): JsonObject {
    return this.#world!;
  }

  get digest(): Digest | undefined {
    return this.#world && computeDigest(this.#world);
  }

  get folder(): string | undefined {
    return this.#connection.folder;
  }

  isAt({ seed, calls, digest }: StateReference): boolean {
    return (
      this.seed === seed && this.digest === digest && getCallsKey(this.calls) === getCallsKey(calls)
    );
  }

  isBefore({ seed, calls }: StateReference): boolean {
    const { length } = this.calls;
    return (
      this.seed === seed &&
      length <= calls.length &&
      getCallsKey(this.calls) === getCallsKey(calls.slice(0, length))
    );
  }

  moveTo(calls: readonly LoggedCall[], world: JsonObject | undefined): void {
    this.calls = calls;
    this.#world = world;
  }

  /** Throws a `UserError` if the server does not list the tools that its description names. */
  checkTools(): void {
    const { tools } = this.#connection.list;
    const missing = Object.values(this.#known.tools).find(it => !tools.has(it.tool));
    if (missing)
      throw new UserError(
        `${this.#known.server} no longer has the tool ${missing.tool}`,
        "run prove-rl connect again",
      );
  }

  async call({ name, arguments: args }: LoggedCall): Promise<Outcome> {
    const { tool, text } = this.#known.tools[name]!;
    const { folder } = this;
    const answer = await this.#connection.call(
      tool,
      folder === undefined ? args : replaceText(args, sandboxPath, folder),
    );
    const shown = folder === undefined ? answer : replaceText(answer, folder, sandboxPath);
    const outcome = readResult(shown, text, this.#failures);
    if (outcome.kind !== "ok") return outcome;
    const masked = removeVolatile({ results: { [name]: outcome.value } }, this.#known.volatile);
    return { kind: "ok", value: (masked as { results: JsonObject }).results[name]! };
  }

  /** The observed state, deeply frozen. Throws a `UserError` if a probe fails. */
  async observe(): Promise<JsonObject> {
    const { probes, server, volatile } = this.#known;
    const { folder } = this;
    const files =
      folder === undefined
        ? {}
        : { files: replaceText(await observeFiles(folder), folder, sandboxPath) };
    const results: Record<string, Json> = {};
    for (const { tool, arguments: args } of probes) {
      const outcome = await this.call({ name: tool, arguments: args });
      if (outcome.kind === "broken")
        throw new UserError(
          `${server} cannot be observed: ${tool} failed: ${outcome.message}`,
          "remove the probe from its description, or correct the server",
        );
      const key = Object.keys(args).length > 0 ? `${tool} ${canonicalJson(args)}` : tool;
      results[key] = outcome.kind === "ok" ? outcome.value : { refused: outcome.type };
    }
    const world = { ...files, ...(probes.length > 0 ? { probes: results } : {}) };
    return deepFreeze(removeVolatile(world, volatile) as JsonObject);
  }

  /** Gets to another state by its files alone. */
  async replaceFiles(
    source: string,
    calls: readonly LoggedCall[],
    world: JsonObject,
  ): Promise<void> {
    const folder = this.folder!;
    const names = await readdir(folder);
    await Promise.all(names.map(it => rm(join(folder, it), { recursive: true, force: true })));
    await copyFolder(source, folder);
    this.moveTo(calls, world);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** The value with another text in its texts. */
function replaceText<T extends object>(value: T, text: string, replacement: string): T {
  const json = JSON.stringify(value);
  const [own, other] = [text, replacement].map(it => JSON.stringify(it).slice(1, -1));
  return json.includes(own!) ? (JSON.parse(json.replaceAll(own!, () => other!)) as T) : value;
}

const copyFolder = (source: string, target: string) =>
  cp(source, target, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
  });

const callsKeys = new WeakMap<readonly LoggedCall[], string>();

function getCallsKey(calls: readonly LoggedCall[]): string {
  let key = callsKeys.get(calls);
  if (key === undefined) callsKeys.set(calls, (key = canonicalJson(calls)));
  return key;
}

const maxSnapshots = 500;

interface Snapshot {
  readonly folder: string;
  readonly world: JsonObject;
}

/** Copies of the files of states, of which those that were used last are kept. */
class Snapshots {
  readonly #removals = new Set<Promise<void>>();
  readonly #known = new LRUCache<string, Snapshot>({
    max: maxSnapshots,
    dispose: ({ folder }) => {
      const removal = rm(folder, { recursive: true, force: true }).finally(() =>
        this.#removals.delete(removal),
      );
      this.#removals.add(removal);
    },
  });

  get(seed: string, calls: readonly LoggedCall[]): Snapshot | undefined {
    return this.#known.get(getSnapshotKey(seed, calls));
  }

  async keep({ seed, calls, folder, world }: SandboxProcess): Promise<void> {
    const key = getSnapshotKey(seed, calls);
    if (folder === undefined || this.#known.has(key)) return;
    const copy = createSandboxPath();
    await mkdir(copy);
    await copyFolder(folder, copy);
    this.#known.set(key, { folder: copy, world });
  }

  async remove(): Promise<void> {
    this.#known.clear();
    await Promise.all(this.#removals);
  }
}

const getSnapshotKey = (seed: string, calls: readonly LoggedCall[]): string =>
  createHash("sha256")
    .update(`${seed} ${getCallsKey(calls)}`)
    .digest("hex");
