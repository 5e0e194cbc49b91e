/**
 * Data parallel training over worker threads. Every replica runs the same program on the same
 * weights with a share of the batch; what they exchange is summed in the order of their ranks, so
 * that all stay equal to the bit. Knows neither losses nor tasks.
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
import { openExchange, shareMemory, type Exchange, type SharedMemory } from "./exchange.ts";

/** What the main thread holds: it only tells and listens, so that it can always answer a socket. */
export interface Replicas<Told> {
  readonly count: number;
  /** To every replica; each finds it at its next `told()`. */
  tell(message: Told): void;
  /**
   * Resolves when every replica's program has returned, or at `end`; rejects with the first
   * failure, after which all are ended.
   */
  readonly done: Promise<void>;
  /** Ends all at once, wherever they stand. */
  end(): Promise<void>;
}

/**
 * What a replica's program is handed. `sum`, `barrier`, `agree` and `assertSame` must be called by
 * all replicas in the same order.
 */
export interface Replica<Setup, Told, Said> extends Exchange {
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
  readonly told: () => Told | undefined;
  /** To the main thread's `heard`. */
  readonly say: (message: Said) => void;
}

export interface ReplicaOptions<Setup, Said> {
  /** The built program that workers load; it calls `joinReplicas` first. */
  readonly program: string | URL;
  readonly count: number;
  /** The most numbers summed at once: the size of the model. */
  readonly floats: number;
  /** Handed to every replica; whatever `structuredClone` takes. */
  readonly setup: Setup;
  readonly heard: (rank: number, message: Said) => void;
}

interface Seat {
  readonly replicaSeat: true;
  readonly rank: number;
  readonly shared: SharedMemory;
  readonly setup: unknown;
}

/** Main thread: starts the replicas. */
export function startReplicas<Setup, Told, Said>({
  program,
  count,
  floats,
  setup,
  heard,
}: ReplicaOptions<Setup, Said>): Replicas<Told> {
  const shared = shareMemory(count, floats);
  const workers = Array.from({ length: count }, (_, rank) => {
    const seat: Seat = { replicaSeat: true, rank, shared, setup };
    return new Worker(program, { workerData: seat, execArgv: [] });
  });
  let ending = false;
  const end = async () => {
    ending = true;
    await Promise.all(workers.map(it => it.terminate()));
  };
  const finished = workers.map(
    (worker, rank) =>
      new Promise<void>((resolve, reject) => {
        worker.on("message", (message: Said) => heard(rank, message));
        worker.on("error", cause => reject(failureOf(rank, cause)));
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
      await end();
      throw error;
    },
  );
  return { count, done, end, tell: message => workers.forEach(it => it.postMessage(message)) };
}

/** A mistake of the person's stays one; its class does not cross threads, its texts do. */
function failureOf(rank: number, cause: unknown): Error {
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
export async function joinReplicas<Setup, Told, Said>(
  program: (replica: Replica<Setup, Told, Said>) => Promise<void> | void,
): Promise<boolean> {
  const seat = workerData as Seat | null;
  const port = parentPort;
  if (isMainThread || !port || !seat?.replicaSeat) return false;
  const exchange = openExchange(seat.shared, seat.rank);
  await program({
    ...exchange,
    setup: seat.setup as Setup,
    sumGradients: gradients => sumGradients(exchange, gradients),
    told: () => receiveMessageOnPort(port)?.message as Told | undefined,
    say: message => port.postMessage(message),
  });
  return true;
}

/** A replica alone in this thread: for a device that one thread feeds, and for tests. */
export function aloneReplica<Setup, Told, Said>(
  setup: Setup,
  {
    told = () => undefined,
    say = () => {},
  }: { told?: () => Told | undefined; say?: (message: Said) => void } = {},
): Replica<Setup, Told, Said> {
  return {
    rank: 0,
    count: 1,
    setup,
    barrier() {},
    sum() {},
    agree: value => value,
    assertSame() {},
    sumGradients: gradients => gradients,
    told,
    say,
  };
}

function sumGradients(exchange: Exchange, gradients: Gradients): Gradients {
  if (exchange.count === 1) return gradients;
  const tensors = [...gradients.values()];
  const flat = new Float32Array(tensors.reduce((sum, it) => sum + it.size, 0));
  const { memory } = runningBackend();
  let at = 0;
  for (const tensor of tensors) {
    flat.set(memory ? memory.viewOf(tensor) : tensor.dataSync(), at);
    at += tensor.size;
  }
  exchange.sum(flat);
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
