/**
 * How fast and how much an endpoint is asked: requests at a time, requests a minute, tokens in all,
 * and a pause for everybody when it asks for one. Knows no wire; time is handed in.
 */
import { EndpointFault } from "./endpointFault.ts";

/** Time as it passes. */
export interface Time {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after that many milliseconds; rejects with the signal's reason when it is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface PaceOptions {
  readonly concurrency: number;
  /** Requests a minute at most; none where absent. */
  readonly perMinute?: number | undefined;
  /** Tokens read and written at most; none where absent. */
  readonly tokens?: number | undefined;
  readonly time: Time;
}

export class Pace {
  readonly #of: PaceOptions;
  #free: number;
  readonly #queue: (() => void)[] = [];
  /** No request begins before. */
  #next = 0;
  #spent = 0;

  constructor(options: PaceOptions) {
    this.#of = options;
    this.#free = options.concurrency;
  }

  /** Tokens read and written so far. */
  get spent(): number {
    return this.#spent;
  }

  spend(tokens: number): void {
    this.#spent += tokens;
  }

  /** Nobody asks again for so long. */
  pause(milliseconds: number): void {
    this.#next = Math.max(this.#next, this.#of.time.now() + milliseconds);
  }

  /** Does it as soon as there is a place for it. */
  async within<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    await this.#place(signal);
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    }
  }

  /** Waits until a request may begin. Throws an `EndpointFault` once the budget is spent. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
    const { tokens, perMinute, time } = this.#of;
    for (;;) {
      signal?.throwIfAborted();
      if (tokens !== undefined && this.#spent >= tokens)
        throw new EndpointFault(
          "spent",
          `the budget of ${tokens} tokens is spent (${this.#spent} were read and written)`,
          "give a larger budget, or none",
        );
      const now = time.now();
      if (now >= this.#next) break;
      await time.wait(this.#next - now, signal);
    }
    if (perMinute !== undefined) this.#next = time.now() + 60_000 / perMinute;
  }

  #place(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const mine = () => {
        signal?.removeEventListener("abort", gone);
        resolve();
      };
      const gone = () => {
        this.#queue.splice(this.#queue.indexOf(mine), 1);
        reject(signal!.reason as Error);
      };
      this.#queue.push(mine);
      signal?.addEventListener("abort", gone, { once: true });
    });
  }
}
