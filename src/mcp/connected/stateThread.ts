/**
 * The thread in which processes of third-party servers run, so that a call on them can be waited
 * for: a session is synchronous, and everything that is built on it.
 */
import {
  MessageChannel,
  receiveMessageOnPort,
  Worker,
  workerData,
  type MessagePort,
} from "node:worker_threads";
import { UserError } from "../../userError.ts";
import type { JsonObject } from "../../environment/json.ts";
import type { LoggedCall } from "../../environment/server.ts";
import type { ServerEntry } from "../mcpConfig.ts";
import { removeSandboxFolder } from "../sandbox.ts";
import { killRunningProcesses } from "../serverProcess.ts";
import {
  defaultLimits,
  StatePool,
  type KnownServer,
  type PoolCounts,
  type PoolLimits,
  type PoolReply,
  type StateReference,
} from "./statePool.ts";

/** What `workerData` of the thread has; the program of worker threads recognizes it by the kind. */
interface StateThreadData {
  readonly kind: "states";
  readonly port: MessagePort;
  /** One number, which the thread changes with each answer. */
  readonly signal: Int32Array;
  readonly limits: PoolLimits;
}

interface Requests {
  readonly open: { readonly entry: ServerEntry; readonly known: KnownServer };
  readonly observe: { readonly seed: string };
  readonly call: { readonly state: StateReference; readonly call: LoggedCall };
  readonly count: object;
  /** Without grace for the servers, when the program has no time. */
  readonly close: { readonly isUrgent: boolean };
}

interface Replies {
  readonly open: undefined;
  readonly observe: JsonObject;
  readonly call: PoolReply;
  readonly count: PoolCounts;
  readonly close: undefined;
}

type Kind = keyof Requests;

interface Request {
  readonly id: number;
  readonly kind: Kind;
  readonly server: string;
  readonly content: Requests[Kind];
}

type Reply = { readonly id: number } & (
  | { readonly value: Replies[Kind] }
  | { readonly what: string; readonly remedy: string }
  | { readonly bug: string }
);

/** The side of the program, which starts the thread with the first request. */
export class StateThread {
  readonly #program: string;
  readonly #limits: PoolLimits;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | undefined;
  #port: MessagePort | undefined;
  #requestCount = 0;
  #isWaiting = false;
  /** What to do with the answers to requests that nobody waits for in place. */
  readonly #pending = new Map<number, (reply: Reply) => void>();

  /**
   * `program` is the file of the program of worker threads, and `processes` how many of each server
   * may run at the same time.
   */
  constructor(program: string, processes = defaultLimits.processes) {
    this.#program = program;
    this.#limits = { ...defaultLimits, processes };
  }

  /** Waits in place for the answer. Throws the `UserError` that the thread answers with. */
  request<K extends Kind>(server: string, kind: K, content: Requests[K]): Replies[K] {
    const id = this.#send(server, kind, content);
    const deadline = performance.now() + maxWait;
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      for (let it; (it = receiveMessageOnPort(this.#port!));) {
        const reply = it.message as Reply;
        if (reply.id === id) return readReply(reply) as Replies[K];
        this.#settle(reply);
      }
      // a thread that ended leaves no answer, and no call takes as long as this
      if (performance.now() > deadline)
        throw new Error("the thread of third-party servers does not answer");
      this.#wait(seen);
    }
  }

  /**
   * Waits for an answer, or for a moment. A wait can be interrupted by the end of this program,
   * which closes the thread and would not return from a wait within a wait.
   */
  #wait(seen: number): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    Atomics.wait(this.#signal, 0, seen, 50);
    this.#isWaiting = false;
  }

  /** Like `request`, but the program goes on meanwhile. */
  requestLater<K extends Kind>(server: string, kind: K, content: Requests[K]): Promise<Replies[K]> {
    return new Promise((resolve, reject) => {
      const id = this.#send(server, kind, content);
      this.#port!.ref();
      this.#pending.set(id, reply => {
        try {
          resolve(readReply(reply) as Replies[K]);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Ends all processes and the thread. Throws a `UserError` if something is left behind. */
  close({ isUrgent = false } = {}): void {
    if (!this.#port) return;
    try {
      this.request("", "close", { isUrgent });
    } finally {
      openThreads.delete(this);
      this.#port.close();
      this.#port = undefined;
      void this.#worker?.terminate();
    }
  }

  #send(server: string, kind: Kind, content: Requests[Kind]): number {
    const id = ++this.#requestCount;
    const port = (this.#port ??= this.#start());
    port.postMessage({ id, server, kind, content } satisfies Request);
    return id;
  }

  #settle(reply: Reply): void {
    const settle = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#port?.unref();
    settle?.(reply);
  }

  #start(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const data: StateThreadData = {
      kind: "states",
      port: port2,
      signal: this.#signal,
      limits: this.#limits,
    };
    this.#worker = new Worker(this.#program, { workerData: data, transferList: [port2] });
    port1.on("message", (it: Reply) => this.#settle(it));
    // neither keeps the program running
    this.#worker.unref();
    port1.unref();
    openThreads.add(this);
    return port1;
  }
}

/** Those that are closed when this program exits. */
const openThreads = new Set<StateThread>();
process.on("exit", code => {
  for (const it of openThreads)
    try {
      it.close({ isUrgent: code !== 0 });
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
    }
});

const maxWait = 600_000;

function readReply(reply: Reply): Replies[Kind] {
  if ("value" in reply) return reply.value;
  if ("bug" in reply) throw new Error(reply.bug);
  throw new UserError(reply.what, reply.remedy);
}

/** The program of the thread, which answers requests as soon as it can. */
export function runStateThread(): void {
  const { port, signal, limits } = workerData as StateThreadData;
  const pools = new Map<string, StatePool>();
  port.on("message", (request: Request) => {
    void answer(pools, request, limits).then(reply => {
      port.postMessage(reply);
      Atomics.add(signal, 0, 1);
      Atomics.notify(signal, 0);
    });
  });
}

async function answer(
  pools: Map<string, StatePool>,
  request: Request,
  limits: PoolLimits,
): Promise<Reply> {
  const { id } = request;
  try {
    return { id, value: await handle(pools, request, limits) };
  } catch (error) {
    return error instanceof UserError
      ? { id, what: error.what, remedy: error.remedy }
      : { id, bug: (error as Error).stack ?? String(error) };
  }
}

async function handle(
  pools: Map<string, StatePool>,
  { server, kind, content }: Request,
  limits: PoolLimits,
): Promise<Replies[Kind]> {
  if (kind === "close") {
    if ((content as Requests["close"]).isUrgent) killRunningProcesses();
    const closed = await Promise.allSettled(Array.from(pools.values(), it => it.close()));
    removeSandboxFolder();
    for (const it of closed) if (it.status === "rejected") throw it.reason;
    return undefined;
  }
  if (kind === "open") {
    const { entry, known } = content as Requests["open"];
    await pools.get(server)?.close();
    pools.set(server, new StatePool(entry, known, limits));
    return undefined;
  }
  const pool = pools.get(server)!;
  if (kind === "count") return pool.counts;
  if (kind === "observe") return pool.observe((content as Requests["observe"]).seed);
  const { state, call } = content as Requests["call"];
  return pool.call(state, call);
}
