/**
 * Shares the capacity of a service among its worker processes. A worker that has opened as many
 * sessions as it may asks for more, which the others give up if they do not need them.
 */

/** The most sessions that a worker receives at a time. */
const portion = 64;

export interface ShareHolder {
  /** Asks a worker to give up some of what it does not use. Resolves with how much it gave up. */
  giveBack(): Promise<number>;
}

export class CapacityShares {
  readonly #shares: number[];
  #free: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(capacity: number, count: number) {
    this.#shares = Array.from({ length: count }, () => Math.floor(capacity / count));
    this.#free = capacity % count;
  }

  get(index: number): number {
    return this.#shares[index]!;
  }

  /** Gives a worker more. Resolves with how much, which is 0 if all of the capacity is in use. */
  grow(index: number, holders: readonly ShareHolder[]): Promise<number> {
    const grown = this.#last.then(() => this.#grow(index, holders));
    this.#last = grown;
    return grown;
  }

  async #grow(index: number, holders: readonly ShareHolder[]): Promise<number> {
    if (this.#free === 0)
      await Promise.all(
        holders.map(async (it, i) => {
          if (i === index) return;
          const given = await it.giveBack();
          this.#shares[i]! -= given;
          this.#free += given;
        }),
      );
    const granted = Math.min(this.#free, portion);
    this.#free -= granted;
    this.#shares[index]! += granted;
    return granted;
  }
}
