/**
 * How fast and how much an endpoint is asked: requests at a time, requests a minute, tokens in all,
 * and a pause for everybody when it asks for one. Knows no wire; time is handed in.
 */
import { EndpointFault } from "./endpointFault.ts";

/** Time as it passes. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after that many milliseconds; rejects with the signal's reason when it is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface RateLimiterOptions {
  readonly concurrency: number;
  /** Requests a minute at most; none where absent. */
  readonly perMinute?: number | undefined;
  /** Tokens read and written at most; none where absent. */
  readonly tokens?: number | undefined;
  readonly time: Clock;
}

export class RateLimiter {
  readonly #options: RateLimiterOptions;
  #freeSlots: number;
  readonly #queue: (() => void)[] = [];
  /** No request begins before. */
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

  /** Nobody asks again for so long. */
  pause(milliseconds: number): void {
    this.#nextStart = Math.max(this.#nextStart, this.#options.time.now() + milliseconds);
  }

  /** Does it as soon as there is a place for it. */
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
