/**
 * Limits the requests to an endpoint: how many at a time, how many per minute, how many tokens in
 * total, and a pause for all requests when the endpoint asks for one.
 */
import { EndpointFault } from "./endpointFault.ts";

/** The passing of time, which tests replace. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after that many milliseconds; rejects with the signal's reason when it is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface RateLimiterOptions {
  readonly concurrency: number;
  /** The most requests per minute; no limit if absent. */
  readonly perMinute?: number | undefined;
  /** The most tokens read and written; no limit if absent. */
  readonly tokens?: number | undefined;
  readonly time: Clock;
}

export class RateLimiter {
  readonly #options: RateLimiterOptions;
  #freeSlots: number;
  readonly #queue: (() => void)[] = [];
  /** The earliest time at which the next request may begin. */
  #nextStart = 0;
  #usedTokens = 0;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#freeSlots = options.concurrency;
  }

  /** Tokens read and written so far. */
  get usedTokens(): number {
    return this.#usedTokens;
  }

  addTokens(tokens: number): void {
    this.#usedTokens += tokens;
  }

  /** Delays all further requests. */
  pause(milliseconds: number): void {
    this.#nextStart = Math.max(this.#nextStart, this.#options.time.now() + milliseconds);
  }

  /** Runs the work when one of the concurrent slots is free. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    await this.#acquireSlot(signal);
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#freeSlots++;
    }
  }

  /** Waits until a request may begin. Throws an `EndpointFault` once the budget is spent. */
  async waitForTurn(signal: AbortSignal | undefined): Promise<void> {
    const { tokens, perMinute, time } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      if (tokens !== undefined && this.#usedTokens >= tokens)
        throw new EndpointFault(
          "spent",
          `the budget of ${tokens} tokens is spent (${this.#usedTokens} were read and written)`,
          "give a larger budget, or none",
        );
      const now = time.now();
      if (now >= this.#nextStart) break;
      await time.wait(this.#nextStart - now, signal);
    }
    if (perMinute !== undefined) this.#nextStart = time.now() + 60_000 / perMinute;
  }

  #acquireSlot(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#freeSlots > 0) {
      this.#freeSlots--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const takeSlot = () => {
        signal?.removeEventListener("abort", leaveQueue);
        resolve();
      };
      const leaveQueue = () => {
        this.#queue.splice(this.#queue.indexOf(takeSlot), 1);
        reject(signal!.reason as Error);
      };
      this.#queue.push(takeSlot);
      signal?.addEventListener("abort", leaveQueue, { once: true });
    });
  }
}
