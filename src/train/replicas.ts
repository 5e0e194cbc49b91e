/**
 * Data parallel training over worker threads. Every replica runs the same program on the same weights with a share of the batch;
 * their gradients are summed in the order of their ranks, so that all stay equal to the bit. Knows neither losses nor tasks.
 */
import type { Gradients } from "../model/transformer.ts";

/** What the main thread holds: it only tells and listens, so that it can always answer a socket. */
export interface Replicas<Told> {
  readonly count: number;
  /** To every replica; each finds it at its next `told()`. */
  tell(message: Told): void;
  /** Resolves when every replica's program has returned; rejects with the first failure, after which all are ended. */
  readonly done: Promise<void>;
  /** Ends all at once, wherever they stand. */
  end(): Promise<void>;
}

/** What a replica's program is handed. `sum`, `barrier` and `agree` must be called by all replicas in the same order. */
export interface Replica<Setup, Told, Said> {
  readonly rank: number;
  readonly count: number;
  readonly setup: Setup;
  /** Waits for all. */
  barrier(): void;
  /** Replaces the values by their sum over all replicas. */
  sum(values: Float32Array): void;
  /** Replaces gradients by their sum over all replicas (scale losses by the whole batch's size for a mean). */
  sumGradients(gradients: Gradients): void;
  /** The number that rank 0 gave: how replicas decide alike whether to stop, pause or save. */
  agree(value: number): number;
  /** Throws where replicas' values differ: they have drifted apart. */
  assertSame(values: Float32Array): void;
  /** The next message of the main thread, if one has come. */
  told(): Told | undefined;
  /** To the main thread's `heard`. */
  say(message: Said): void;
}

export interface ReplicaOptions<Setup, Said> {
  /** The built program that workers load; it must call `joinReplicas` when it is not the main thread. */
  readonly program: string | URL;
  readonly count: number;
  /** The most numbers summed at once: the size of the model. */
  readonly floats: number;
  /** Handed to every replica; whatever `structuredClone` takes. */
  readonly setup: Setup;
  readonly heard: (rank: number, message: Said) => void;
}

/** Main thread: starts the replicas. */
export declare function startReplicas<Setup, Told, Said>(options: ReplicaOptions<Setup, Said>): Replicas<Told>;

/** Worker thread: runs the program as this replica. False where this thread is not one, and nothing ran. */
export declare function joinReplicas<Setup, Told, Said>(program: (replica: Replica<Setup, Told, Said>) => Promise<void>): Promise<boolean>;

/** A replica alone in this thread: for one device, and for tests. */
export declare function aloneReplica<Setup, Told, Said>(setup: Setup, heard: (message: Said) => void): Replica<Setup, Told, Said>;
