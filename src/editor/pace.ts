/** How fast long work goes and when it will be done, from how far it was at a few moments. Knows no clock and no editor. */

interface Moment {
  readonly done: number;
  /** Milliseconds. */
  readonly at: number;
}

/** Milliseconds that the rate looks back: long enough to be steady, short enough to follow. */
const lookBack = 15_000;

export class Pace {
  #moments: Moment[] = [];

  /** Tells how far it is, in words: `1,204 of 13,517 tasks · 96 a second · 2 min left`. Times in milliseconds of any clock that only goes on. */
  words(done: number, total: number, doing: string, at: number): string {
    this.#moments.push({ done, at });
    while (this.#moments.length > 2 && at - this.#moments[0]!.at > lookBack) this.#moments.shift();
    const from = this.#moments[0]!;
    const rate = at - from.at >= 1000 ? (done - from.done) / ((at - from.at) / 1000) : 0;
    const told = `${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${doing}`;
    return rate > 0 ? `${told} · ${rateIn(rate)} · ${timeIn((total - done) / rate)} left` : told;
  }
}

function rateIn(rate: number): string {
  if (rate >= 10) return `${Math.round(rate).toLocaleString("en")} a second`;
  return rate >= 1 ? `${rate.toFixed(1)} a second` : `${(rate * 60).toFixed(rate * 60 < 10 ? 1 : 0)} a minute`;
}

function timeIn(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
