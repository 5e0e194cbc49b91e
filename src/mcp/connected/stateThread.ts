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
import {
  StatePool,
  type KnownServer,
  type PoolCounts,
  type PoolLimits,
  type PoolReply,
  type StateReference,
} from "./statePool.ts";

/** What `workerData` of the thread has; the program of worker threads recognizes it by the kind. */
export interface StateThreadData {
  readonly kind: "states";
  readonly port: MessagePort;
  /** One number, which the thread changes when it has answered. */
  readonly signal: Int32Array;
}

interface Requests {
  readonly open: {
    readonly entry: ServerEntry;
    readonly known: KnownServer;
    readonly limits?: PoolLimits | undefined;
  };
  readonly observe: { readonly seed: string };
  readonly call: { readonly state: StateReference; readonly call: LoggedCall };
  readonly count: object;
  readonly close: object;
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
  readonly kind: Kind;
  readonly server: string;
  readonly content: Requests[Kind];
}

type Reply =
  | { readonly value: Replies[Kind] }
  | { readonly what: string; readonly remedy: string }
  | { readonly bug: string };

/** The side of the program, which starts the thread with the first request. */
export class StateThread {
  readonly #program: string;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | undefined;
  #port: MessagePort | undefined;

  /** `program` is the file of the program of worker threads. */
  constructor(program: string) {
    this.#program = program;
  }

  /** Waits for the answer. Throws the `UserError` that the thread answers with. */
  request<K extends Kind>(server: string, kind: K, content: Requests[K]): Replies[K] {
    const port = (this.#port ??= this.#start());
    Atomics.store(this.#signal, 0, 0);
    port.postMessage({ server, kind, content } satisfies Request);
    // a thread that ended leaves no answer, and no call takes as long as this
    Atomics.wait(this.#signal, 0, 0, maxWait);
    const received = receiveMessageOnPort(port);
    if (!received) throw new Error("the thread of third-party servers does not answer");
    const { message } = received;
    if ("value" in message) return message.value as Replies[K];
    if ("bug" in message) throw new Error(message.bug);
    throw new UserError(message.what, message.remedy);
  }

  /** Ends all processes and the thread. */
  close(): void {
    if (!this.#port) return;
    this.request("", "close", {});
    this.#port.close();
    this.#port = undefined;
    void this.#worker?.terminate();
  }

  #start(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const data: StateThreadData = { kind: "states", port: port2, signal: this.#signal };
    this.#worker = new Worker(this.#program, { workerData: data, transferList: [port2] });
    // neither keeps the program running
    this.#worker.unref();
    port1.unref();
    process.once("exit", () => this.close());
    return port1;
  }
}

const maxWait = 600_000;

/** The program of the thread: answers one request after the other. */
export function runStateThread(): void {
  const { port, signal } = workerData as StateThreadData;
  const pools = new Map<string, StatePool>();
  port.on("message", (request: Request) => {
    void answer(pools, request).then(reply => {
      port.postMessage(reply);
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
    });
  });
}

async function answer(pools: Map<string, StatePool>, request: Request): Promise<Reply> {
  try {
    return { value: await handle(pools, request) };
  } catch (error) {
    return error instanceof UserError
      ? { what: error.what, remedy: error.remedy }
      : { bug: (error as Error).stack ?? String(error) };
  }
}

async function handle(
  pools: Map<string, StatePool>,
  { server, kind, content }: Request,
): Promise<Replies[Kind]> {
  if (kind === "close") {
    await Promise.all(Array.from(pools.values(), it => it.close()));
    removeSandboxFolder();
    return undefined;
  }
  if (kind === "open") {
    const { entry, known, limits } = content as Requests["open"];
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
