/**
 * Data-parallel training over worker threads: every replica runs the same program on the same
 * weights with its share of the batch. Their messages to and from the main thread use the worker's
 * port directly instead of a channel: a replica computes and waits for others synchronously, so it
 * polls for messages between steps (`receiveMessageOnPort`), and JSON-RPC needs the event loop.
 */
import { deserialize, serialize } from "node:v8";
import {
  Worker,
  isMainThread,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import * as tf from "@tensorflow/tfjs-core";
import { runningBackend } from "../compute/runningBackend.ts";
import type { Gradients } from "../model/transformer/transformer.ts";
import { UserError } from "../userError.ts";

/** The replicas, as the main thread sees them. */
export interface ReplicaGroup<Command> {
  readonly count: number;
  /** Sends a message to every replica, which gets it from its next `receive()`. */
  send(command: Command): void;
  /** Asks all replicas to abandon their step; from then on, `isInterrupted` is true. */
  interrupt(): void;
  /**
   * Resolves when the program of every replica has returned, or after `terminate`. Rejects with the
   * first failure, after which all replicas are terminated.
   */
  readonly done: Promise<void>;
  /** Ends all replicas at once, even within a step. */
  terminate(): Promise<void>;
}

/**
 * What the program of a replica is given. All replicas must call the collective operations and
 * `sumGradients` in the same order.
 */
export interface Replica<Setup, Command, Message> extends Collectives {
  readonly setup: Setup;
  /**
   * Takes ownership of the gradients and returns their sum over all replicas. For a mean, divide
   * losses by the size of the whole batch.
   */
  readonly sumGradients: (gradients: Gradients) => Promise<Gradients>;
  /** Returns the values of all replicas, by rank: structured clones, except for its own. */
  readonly exchange: <T>(value: T) => T[];
  /**
   * The next message of the main thread, if one has arrived. Replicas receive it at different
   * times: `broadcast` what to do.
   */
  readonly receive: () => Command | undefined;
  /** Sends a message to the main thread. */
  readonly send: (message: Message) => void;
}

interface ReplicaOptions<Setup, Message> {
  /** The built program that workers load; it calls `runReplica` first. */
  readonly program: string | URL;
  readonly count: number;
  /** The most numbers that are summed at once: the size of the model. */
  readonly maxFloats: number;
  /** Given to every replica, as a structured clone. */
  readonly setup: Setup;
  readonly onMessage: (rank: number, message: Message) => void;
}

interface WorkerInit {
  readonly isReplica: true;
  readonly rank: number;
  readonly shared: SharedMemory;
  readonly setup: unknown;
}

/** Starts the replicas; called by the main thread. */
export function startReplicas<Setup, Command, Message>({
  program,
  count,
  maxFloats,
  setup,
  onMessage,
}: ReplicaOptions<Setup, Message>): ReplicaGroup<Command> {
  const shared = createSharedMemory(count, maxFloats);
  const workers = Array.from({ length: count }, (_, rank) => {
    const init: WorkerInit = { isReplica: true, rank, shared, setup };
    return new Worker(program, { workerData: init, execArgv: [] });
  });
  let isTerminated = false;
  const terminate = async () => {
    isTerminated = true;
    await Promise.all(workers.map(it => it.terminate()));
  };
  const finished = workers.map(
    (worker, rank) =>
      new Promise<void>((resolve, reject) => {
        worker.on("message", (message: Message) => onMessage(rank, message));
        worker.on("error", cause => reject(restoreError(rank, cause)));
        worker.on("exit", code =>
          code === 0 || isTerminated
            ? resolve()
            : reject(new Error(`replica ${rank} ended with code ${code}`)),
        );
      }),
  );
  // after a failure, the other replicas would wait at the barrier forever
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
    interrupt: () => interrupt(shared),
  };
}

/**
 * A `UserError` stays one: only its properties are copied between threads, not its class. Of the
 * error of a thread that gets no memory, nothing may be left.
 */
function restoreError(rank: number, cause: unknown): Error {
  const { name, what, remedy, message } = cause as Partial<UserError>;
  if (name === "UserError" && what !== undefined && remedy !== undefined)
    return new UserError(what, remedy, { cause });
  if (message === undefined)
    return new UserError(
      `worker ${rank} of the training ended without a message, as it does if it gets no memory`,
      "close other programs, raise the limit of the process (ulimit -v) or use one worker; a run goes on from its last checkpoint with --resume",
      { cause },
    );
  return new Error(`replica ${rank} failed: ${message}`, { cause });
}

/**
 * Runs the program if this thread is a replica. Otherwise the result is false, and nothing has run.
 */
export async function runReplica<Setup, Command, Message>(
  program: (replica: Replica<Setup, Command, Message>) => Promise<void> | void,
): Promise<boolean> {
  const init = workerData as WorkerInit | null;
  const port = parentPort;
  if (isMainThread || !port || !init?.isReplica) return false;
  const collectives = openCollectives(init.shared, init.rank);
  await program({
    ...collectives,
    setup: init.setup as Setup,
    sumGradients: gradients => sumGradients(collectives, gradients),
    exchange: value => exchange(collectives, value),
    receive: () => receiveMessageOnPort(port)?.message as Command | undefined,
    send: message => port.postMessage(message),
  });
  return true;
}

/** The only replica of a training in this thread. */
export function createSingleReplica<Setup, Command, Message>(
  setup: Setup,
  {
    receive = () => undefined,
    send = () => {},
  }: { receive?: () => Command | undefined; send?: (message: Message) => void } = {},
): Replica<Setup, Command, Message> {
  return {
    rank: 0,
    count: 1,
    setup,
    barrier() {},
    allReduce() {},
    gather: bytes => [bytes],
    exchange: value => [value],
    broadcast: value => value,
    anyOf: value => value,
    isInterrupted: () => false,
    assertSame() {},
    sumGradients: gradients => Promise.resolve(gradients),
    receive,
    send,
  };
}

function exchange<T>({ rank, gather, count }: Collectives, value: T): T[] {
  if (count === 1) return [value];
  return gather(serialize(value)).map((it, of) => (of === rank ? value : (deserialize(it) as T)));
}

async function sumGradients(collectives: Collectives, gradients: Gradients): Promise<Gradients> {
  if (collectives.count === 1) return gradients;
  const tensors = [...gradients.values()];
  const flat = new Float32Array(tensors.reduce((sum, it) => sum + it.size, 0));
  const { memory } = runningBackend();
  let at = 0;
  for (const tensor of tensors) {
    flat.set(memory ? memory.viewOf(tensor) : await tensor.data<"float32">(), at);
    at += tensor.size;
  }
  collectives.allReduce(flat);
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

interface SharedMemory {
  /** How many threads take part. */
  readonly count: number;
  /** The most numbers that can be summed at once. */
  readonly floats: number;
  /**
   * How many threads wait at the barrier, how often it has opened, and whether the main thread has
   * interrupted the others.
   */
  readonly control: SharedArrayBuffer;
  /** The numbers that each rank contributes, in two sets for alternating operations. */
  readonly buffers: SharedArrayBuffer;
  /** The same for a single number in double precision. */
  readonly scalars: SharedArrayBuffer;
}

interface Collectives {
  readonly rank: number;
  readonly count: number;
  /** Blocks until all ranks have called it. */
  readonly barrier: () => void;
  /** Replaces the values by their sum over all ranks, added in the order of ranks. */
  readonly allReduce: (values: Float32Array) => void;
  /** Returns the bytes of every rank, by rank. They can be of any length. */
  readonly gather: (bytes: Uint8Array) => Uint8Array[];
  /** Returns rank 0's value on every rank, so that all make the same decisions. */
  readonly broadcast: (value: number) => number;
  /** Whether any rank says so, on every rank. */
  readonly anyOf: (value: boolean) => boolean;
  /** Whether `interrupt` was called. Ranks may see it at different times. */
  readonly isInterrupted: () => boolean;
  /** Throws on every rank if their values differ. */
  readonly assertSame: (values: Float32Array) => void;
}

const createSharedMemory = (count: number, floats: number): SharedMemory => ({
  count,
  floats,
  control: new SharedArrayBuffer(3 * 4),
  buffers: new SharedArrayBuffer(2 * count * floats * 4),
  scalars: new SharedArrayBuffer(2 * count * 8),
});

/** The cells of `control`. */
const [waiting, opened, interrupted] = [0, 1, 2];

/** Asks all threads to stop what they are doing. */
const interrupt = ({ control }: SharedMemory): void =>
  void Atomics.store(new Int32Array(control), interrupted, 1);

function openCollectives(
  { count, floats, control, buffers, scalars }: SharedMemory,
  rank: number,
): Collectives {
  const cells = new Int32Array(control);
  const barrier = () => {
    const before = Atomics.load(cells, opened);
    if (Atomics.add(cells, waiting, 1) === count - 1) {
      Atomics.store(cells, waiting, 0);
      Atomics.add(cells, opened, 1);
      Atomics.notify(cells, opened);
    } else while (Atomics.load(cells, opened) === before) Atomics.wait(cells, opened, before);
  };
  // two sets of buffers alternate, so that one barrier per operation is enough: no rank can write a
  // set again before all have read it
  let set = 0;
  const nextSet = () => (set = 1 - set) * count;
  /** Every rank's value, by rank. */
  const gatherScalars = (value: number): Float64Array => {
    const all = new Float64Array(scalars, nextSet() * 8, count);
    all[rank] = value;
    barrier();
    return all;
  };
  return {
    rank,
    count,
    barrier,
    allReduce(values) {
      if (count === 1) return; // there is nothing to add
      if (values.length > floats)
        throw new Error(`${values.length} numbers to sum where there is room for ${floats}`);
      const first = nextSet();
      const getPart = (of: number) =>
        new Float32Array(buffers, (first + of) * floats * 4, values.length);
      getPart(rank).set(values);
      barrier();
      values.set(getPart(0));
      for (let other = 1; other < count; other++) {
        const part = getPart(other);
        for (let i = 0; i < part.length; i++)
          values[i] = (values[i] as number) + (part[i] as number);
      }
    },
    gather(bytes) {
      if (count === 1) return [bytes];
      const parts = [...gatherScalars(bytes.length)].map(it => new Uint8Array(it));
      const room = floats * 4;
      const longest = Math.max(...parts.map(it => it.length));
      for (let at = 0; at < longest; at += room) {
        const first = nextSet();
        const getPart = (of: number) =>
          new Uint8Array(buffers, (first + of) * room, clamp(parts[of]!.length - at, room));
        getPart(rank).set(bytes.subarray(at, at + room));
        barrier();
        for (const [of, part] of parts.entries()) if (part.length > at) part.set(getPart(of), at);
      }
      return parts;
    },
    broadcast: value => gatherScalars(value)[0] as number,
    anyOf: value => gatherScalars(Number(value)).includes(1),
    isInterrupted: () => Atomics.load(cells, interrupted) === 1,
    assertSame(values) {
      const digests = gatherScalars(hashBits(values));
      const differs = digests.findIndex(it => it !== digests[0]);
      if (differs > 0) throw new Error(`replica ${differs} holds other numbers than replica 0`);
    },
  };
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most));

/** A 32-bit digest of the bits of the numbers (FNV-1a over words). */
function hashBits(values: Float32Array): number {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return words.reduce((digest, word) => Math.imul(digest ^ word, 0x01000193) >>> 0, 0x811c9dc5);
}
