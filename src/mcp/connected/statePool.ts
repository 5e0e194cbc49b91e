/**
 * Processes of a third-party server, each in a sandbox and in a known state: that of a seed and of
 * the writes that were made since. A call on a state gets a free process that is in it, or one that
 * can get there with the fewest writes, and waits while all are busy.
 */
import { createHash } from "node:crypto";
import { constants, rmSync } from "node:fs";
import { cp, lstat, mkdir, readdir, rm } from "node:fs/promises";
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
import { createResultReader } from "./textResult.ts";

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
  /** The free ones. The one that was used last is the last. */
  #free: SandboxProcess[] = [];
  /** How many there are, with those that are busy or being started. */
  #size = 0;
  /** Calls that wait for a free process. */
  #waiting: (() => void)[] = [];
  /** Work that has not ended. */
  readonly #running = new Set<Promise<unknown>>();
  /** Why a sandbox could not be removed. */
  #removalError: Error | undefined;

  constructor(entry: ServerEntry, known: KnownServer, limits: PoolLimits = defaultLimits) {
    this.#entry = entry;
    this.known = known;
    this.#limits = limits;
    if (known.restore === "files") this.#snapshots = new Snapshots();
  }

  /** What is observed of a seed, in a new process. */
  observe(seed: string): Promise<JsonObject> {
    return this.#track(async () => {
      while (this.#size >= this.#limits.processes && !this.#discardOldest()) await this.#wait();
      const process = await this.#start(seed);
      const { world } = process;
      this.#release(process);
      return world;
    });
  }

  /** Makes a call on a state. Throws a `UserError` if the server cannot be started. */
  call(state: StateReference, call: LoggedCall): Promise<PoolReply> {
    return this.#track(async () => {
      this.counts.calls++;
      const process = await this.#acquire(state);
      try {
        const fault = await this.#bring(process, state);
        return fault ? { outcome: fault } : await this.#make(call, process);
      } catch (error) {
        process.isLost = true;
        throw error;
      } finally {
        this.#release(process);
      }
    });
  }

  /** Ends all processes. Throws a `UserError` if something of a sandbox was left behind. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#notify();
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    while (this.#discardOldest());
    await Promise.allSettled(this.#running);
    await this.#snapshots?.remove();
    if (this.#removalError) throw this.#removalError;
  }

  #track<T>(work: () => Promise<T>): Promise<T> {
    const running = work().finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  async #make(call: LoggedCall, process: SandboxProcess): Promise<PoolReply> {
    const outcome = await process.call(call);
    if (outcome.kind === "broken") process.isLost = true;
    if (process.isLost || this.known.tools[call.name]!.effect === "read") return { outcome };
    const world = await process.observe();
    const isChanged = computeDigest(world) !== process.digest;
    if (outcome.kind !== "ok") {
      // a failed call leaves the state as it is; a process in which it did not is of no use
      process.isLost = isChanged;
      return { outcome };
    }
    if (isChanged || !this.#limits.ignoresUnseen) {
      process.moveTo([...process.calls, call], world);
      await this.#snapshots?.keep(process);
    }
    return { outcome, world };
  }

  /** A free process that is nearest to the state. The caller releases it. */
  async #acquire(state: StateReference): Promise<SandboxProcess> {
    for (;;) {
      this.#stop.signal.throwIfAborted();
      const process = this.#findNearest(state);
      if (process) {
        this.#free = this.#free.filter(it => it !== process);
        if (process.calls.length === 0) this.#keepSpare(state.seed);
        return process;
      }
      if (this.#size < this.#limits.processes || this.#discardOldest()) {
        const started = await this.#start(state.seed);
        this.#keepSpare(state.seed);
        return started;
      }
      await this.#wait();
    }
  }

  /** One in the state, else one whose files can be replaced, else one that is on the way to it. */
  #findNearest(state: StateReference): SandboxProcess | undefined {
    const own = this.#free.filter(it => it.seed === state.seed);
    return (
      own.findLast(it => it.isAt(state)) ??
      (this.#snapshots
        ? own.at(-1)
        : own
            .filter(it => it.isBefore(state))
            .toSorted((a, b) => b.calls.length - a.calls.length)[0])
    );
  }

  /** Brings a process to the state. Returns why that fails, and the process is then lost. */
  async #bring(process: SandboxProcess, state: StateReference): Promise<Fault | undefined> {
    const { seed, calls } = state;
    if (!process.isAt(state)) await this.#putBack(process, state);
    for (const call of calls.slice(process.calls.length)) {
      this.counts.repeated++;
      const outcome = await process.call(call);
      if (outcome.kind !== "ok") {
        process.isLost = true;
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
    if (process.digest === state.digest) return undefined;
    process.isLost = true;
    if (calls.length === 0 && this.#limits.ignoresUnseen)
      throw new UserError(
        `${this.#entry.name} is not reset: a new process shows something else than the first one`,
        `correct reset in entry ${this.#entry.name} of prove/mcp.json, for example by a folder that is copied`,
      );
    return createBrokenFault(
      calls.length === 0
        ? `the seed ${seed} of ${this.known.server} is not what its fixture says, because it was changed; run prove-rl connect with --again`
        : `the same calls led ${this.known.server} to another state; name what varies in volatile of its description`,
    );
  }

  /** Replaces the files of a process by those of the state, or of the last one on the way to it. */
  async #putBack(process: SandboxProcess, { seed, calls }: StateReference): Promise<void> {
    for (let count = calls.length; this.#snapshots; count--) {
      const known = calls.slice(0, count);
      const isReplaced = await this.#snapshots.use(seed, known, ({ folder, world }) =>
        process.replaceFiles(folder, known, world),
      );
      if (!isReplaced) continue;
      this.counts.restored++;
      return;
    }
  }

  /** Starts a process, which the caller releases. */
  async #start(seed: string): Promise<SandboxProcess> {
    this.#size++;
    this.counts.starts++;
    let process: SandboxProcess | undefined;
    try {
      const { timeouts } = this.#limits;
      const { signal } = this.#stop;
      const connection = await ServerConnection.open(this.#entry, signal, timeouts, seed);
      process = new SandboxProcess(connection, this.known, seed);
      process.checkTools();
      process.moveTo([], await process.observe());
      await this.#snapshots?.keep(process);
      return process;
    } catch (error) {
      if (process) this.#discard(process);
      else this.#forget();
      throw error;
    }
  }

  /**
   * Where states are reached by new processes, starts one in advance, so that the next session does
   * not wait for it.
   */
  #keepSpare(seed: string): void {
    if (this.#snapshots || this.#size >= this.#limits.processes) return;
    if (this.#free.some(it => it.seed === seed && it.calls.length === 0)) return;
    void this.#track(async () => {
      try {
        this.#release(await this.#start(seed));
      } catch {
        // a call that needs a process reports why there is none
      }
    });
  }

  #release(process: SandboxProcess): void {
    if (process.isLost || this.#stop.signal.aborted) return this.#discard(process);
    this.#free.push(process);
    this.#notify();
  }

  /** Ends the process that has not been used for longest. Returns whether one was free. */
  #discardOldest(): boolean {
    const process = this.#free.shift();
    if (process) this.#discard(process);
    return process !== undefined;
  }

  #discard(process: SandboxProcess): void {
    this.#track(() => process.close()).catch((error: Error) => (this.#removalError ??= error));
    this.#forget();
  }

  #forget(): void {
    this.#size--;
    this.#notify();
  }

  #wait(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const it of waiting) it();
  }
}

/** One process of a server, and the state that it is in. */
class SandboxProcess {
  readonly seed: string;
  readonly #connection: ServerConnection;
  readonly #known: KnownServer;
  readonly #readResult: ReturnType<typeof createResultReader>;
  calls: readonly LoggedCall[] = [];
  /** It does not answer any more, or its state is not known. */
  isLost = false;
  /** Undefined while it is on the way to another state. */
  #world: JsonObject | undefined;

  constructor(connection: ServerConnection, known: KnownServer, seed: string) {
    this.#connection = connection;
    this.#known = known;
    this.#readResult = createResultReader(known);
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
        "run prove-rl connect with --again; a server that lists other tools at each start cannot be used",
      );
  }

  async call({ name, arguments: args }: LoggedCall): Promise<Outcome> {
    const { tool } = this.#known.tools[name]!;
    const { folder } = this;
    const answer = await this.#connection.call(
      tool,
      folder === undefined ? args : replaceText(args, sandboxPath, folder),
    );
    const shown = folder === undefined ? answer : replaceText(answer, folder, sandboxPath);
    return this.#readResult(name, shown);
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

/** The bytes that a folder takes on a disk with blocks of 4 KiB. */
async function measureFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries.map(async it => (await lstat(join(it.parentPath, it.name))).size),
  );
  return sizes.reduce((sum, it) => sum + Math.ceil(it / 4_096) * 4_096 + 4_096, 4_096);
}

const callsKeys = new WeakMap<readonly LoggedCall[], string>();

function getCallsKey(calls: readonly LoggedCall[]): string {
  let key = callsKeys.get(calls);
  if (key === undefined) callsKeys.set(calls, (key = canonicalJson(calls)));
  return key;
}

/** Bytes on disk. */
const maxSnapshotSize = 2 ** 30;

/** A state is never reported as unused, so that a long service would keep more and more. */
const maxSnapshots = 4096;

interface Snapshot {
  readonly folder: string;
  readonly world: JsonObject;
  /** Bytes on disk. */
  readonly size: number;
  /** How many copies of it are being made. */
  users: number;
  isDropped: boolean;
}

/** Copies of the files of states, of which those that were used last are kept. */
class Snapshots {
  /** The folder of all copies, so that they can be removed together. */
  readonly #root = createSandboxPath();
  #count = 0;
  readonly #removals = new Set<Promise<void>>();
  /** Of the states that sessions start in. They are always kept. */
  readonly #seeds = new Map<string, Snapshot>();
  readonly #known = new LRUCache<string, Snapshot>({
    max: maxSnapshots,
    maxSize: maxSnapshotSize,
    sizeCalculation: it => it.size,
    dispose: it => {
      it.isDropped = true;
      this.#removeUnused(it);
    },
  });

  /** Whether there is one. It is kept until the work with it is done. */
  async use(
    seed: string,
    calls: readonly LoggedCall[],
    work: (snapshot: Snapshot) => Promise<void>,
  ): Promise<boolean> {
    const snapshot = this.#get(seed, calls);
    if (!snapshot) return false;
    snapshot.users++;
    try {
      await work(snapshot);
    } finally {
      snapshot.users--;
      this.#removeUnused(snapshot);
    }
    return true;
  }

  async keep({ seed, calls, folder, world }: SandboxProcess): Promise<void> {
    if (folder === undefined || this.#get(seed, calls)) return;
    const copy = join(this.#root, String(++this.#count));
    await mkdir(copy, { recursive: true });
    await copyFolder(folder, copy);
    const size = await measureFolder(copy);
    const snapshot = { folder: copy, world, size, users: 0, isDropped: false };
    if (calls.length === 0) this.#seeds.set(seed, snapshot);
    else if (size > maxSnapshotSize) await rm(copy, { recursive: true, force: true });
    else this.#known.set(getSnapshotKey(seed, calls), snapshot);
  }

  #get(seed: string, calls: readonly LoggedCall[]): Snapshot | undefined {
    return calls.length === 0
      ? this.#seeds.get(seed)
      : this.#known.get(getSnapshotKey(seed, calls));
  }

  /** Removes all of them. Waits in place, which is faster for many small files. */
  async remove(): Promise<void> {
    await Promise.all(this.#removals);
    rmSync(this.#root, { recursive: true, force: true });
  }

  #removeUnused({ folder, users, isDropped }: Snapshot): void {
    if (!isDropped || users > 0) return;
    const removal = rm(folder, { recursive: true, force: true }).finally(() =>
      this.#removals.delete(removal),
    );
    this.#removals.add(removal);
  }
}

const getSnapshotKey = (seed: string, calls: readonly LoggedCall[]): string =>
  createHash("sha256")
    .update(`${seed} ${getCallsKey(calls)}`)
    .digest("hex");
