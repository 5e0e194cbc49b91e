/**
 * Data-parallel training over worker threads: every replica runs the same program on the same
 * weights with its share of the batch. Their messages to and from the main thread use the worker's
 * port directly instead of a channel: a replica computes and waits for others synchronously, so it
 * polls for messages between steps (`receiveMessageOnPort`), and JSON-RPC needs the event loop.
 */
import {
  Worker,
  isMainThread,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import * as tf from "@tensorflow/tfjs-core";
import { runningBackend } from "../compute/backend.ts";
import { UserError } from "../userError.ts";
import type { Gradients } from "../model/transformer.ts";
import {
  openCollectives,
  createSharedMemory,
  type Collectives,
  type SharedMemory,
} from "./collectives.ts";

/** What the main thread holds: it only tells and listens, so that it can always answer a socket. */
export interface ReplicaGroup<Told> {
  readonly count: number;
  /** To every replica; each finds it at its next `told()`. */
  send(message: Told): void;
  /**
   * Resolves when every replica's program has returned, or at `end`; rejects with the first
   * failure, after which all are ended.
   */
  readonly done: Promise<void>;
  /** Ends all at once, wherever they stand. */
  terminate(): Promise<void>;
}

/**
 * What a replica's program is handed. `sum`, `barrier`, `agree` and `assertSame` must be called by
 * all replicas in the same order.
 */
export interface Replica<Setup, Told, Said> extends Collectives {
  readonly setup: Setup;
  /**
   * Takes over the gradients and gives their sum over all replicas (divide losses by the whole
   * batch's size for a mean).
   */
  readonly sumGradients: (gradients: Gradients) => Gradients;
  /**
   * The next message of the main thread, if one has come. Replicas see it at different moments:
   * `agree` on what to do.
   */
  readonly receive: () => Told | undefined;
  /** To the main thread's `heard`. */
  readonly send: (message: Said) => void;
}

export interface ReplicaOptions<Setup, Said> {
  /** The built program that workers load; it calls `joinReplicas` first. */
  readonly program: string | URL;
  readonly count: number;
  /** The most numbers summed at once: the size of the model. */
  readonly maxFloats: number;
  /** Handed to every replica; whatever `structuredClone` takes. */
  readonly setup: Setup;
  readonly onMessage: (rank: number, message: Said) => void;
}

interface WorkerInit {
  readonly isReplica: true;
  readonly rank: number;
  readonly shared: SharedMemory;
  readonly setup: unknown;
}

/** Main thread: starts the replicas. */
export function startReplicas<Setup, Told, Said>({
  program,
  count,
  maxFloats,
  setup,
  onMessage,
}: ReplicaOptions<Setup, Said>): ReplicaGroup<Told> {
  const shared = createSharedMemory(count, maxFloats);
  const workers = Array.from({ length: count }, (_, rank) => {
    const seat: WorkerInit = { isReplica: true, rank, shared, setup };
    return new Worker(program, { workerData: seat, execArgv: [] });
  });
  let ending = false;
  const terminate = async () => {
    ending = true;
    await Promise.all(workers.map(it => it.terminate()));
  };
  const finished = workers.map(
    (worker, rank) =>
      new Promise<void>((resolve, reject) => {
        worker.on("message", (message: Said) => onMessage(rank, message));
        worker.on("error", cause => reject(restoreError(rank, cause)));
        worker.on("exit", code =>
          code === 0 || ending
            ? resolve()
            : reject(new Error(`replica ${rank} ended with code ${code}`)),
        );
      }),
  );
  // the others would wait for the failed one for ever
  const done = Promise.all(finished).then(
    () => {},
    async (error: unknown) => {
      await terminate();
      throw error;
    },
  );
  return {
    count,
    done,
    terminate,
    send: message => workers.forEach(it => it.postMessage(message)),
  };
}

/** A mistake of the person's stays one; its class does not cross threads, its texts do. */
function restoreError(rank: number, cause: unknown): Error {
  const {
    name,
    what,
    remedy,
    message = String(cause),
  } = cause as { name?: string; what?: string; remedy?: string; message?: string };
  if (name === "UserError" && what !== undefined && remedy !== undefined)
    return new UserError(what, remedy, { cause });
  return new Error(`replica ${rank} failed: ${message}`, { cause });
}

/**
 * Worker thread: runs the program as this replica. False where this thread is not one, and nothing
 * ran.
 */
export async function runReplica<Setup, Told, Said>(
  program: (replica: Replica<Setup, Told, Said>) => Promise<void> | void,
): Promise<boolean> {
  const seat = workerData as WorkerInit | null;
  const port = parentPort;
  if (isMainThread || !port || !seat?.isReplica) return false;
  const exchange = openCollectives(seat.shared, seat.rank);
  await program({
    ...exchange,
    setup: seat.setup as Setup,
    sumGradients: gradients => sumGradients(exchange, gradients),
    receive: () => receiveMessageOnPort(port)?.message as Told | undefined,
    send: message => port.postMessage(message),
  });
  return true;
}

/** A replica alone in this thread: for a device that one thread feeds, and for tests. */
export function createSingleReplica<Setup, Told, Said>(
  setup: Setup,
  {
    receive = () => undefined,
    send = () => {},
  }: { receive?: () => Told | undefined; send?: (message: Said) => void } = {},
): Replica<Setup, Told, Said> {
  return {
    rank: 0,
    count: 1,
    setup,
    barrier() {},
    allReduce() {},
    broadcast: value => value,
    assertSame() {},
    sumGradients: gradients => gradients,
    receive,
    send,
  };
}

function sumGradients(exchange: Collectives, gradients: Gradients): Gradients {
  if (exchange.count === 1) return gradients;
  const tensors = [...gradients.values()];
  const flat = new Float32Array(tensors.reduce((sum, it) => sum + it.size, 0));
  const { memory } = runningBackend();
  let at = 0;
  for (const tensor of tensors) {
    flat.set(memory ? memory.viewOf(tensor) : tensor.dataSync(), at);
    at += tensor.size;
  }
  exchange.allReduce(flat);
  at = 0;
  const summed = new Map<string, tf.Tensor>();
  for (const [name, tensor] of gradients) {
    const part = flat.subarray(at, (at += tensor.size));
    if (memory) memory.viewOf(tensor).set(part);
    summed.set(name, memory ? tensor : tf.tensor(part.slice(), tensor.shape));
    if (!memory) tensor.dispose();
  }
  return summed;
}
