/**
 * A set of texts that finds the one a text begins with, or that begins with a text, in a time that
 * hardly depends on their number: schemas may list a hundred thousand values.
 */

/**
 * Where a value ends, `open` if the text ends before it, or undefined if the text is not the
 * beginning of a value.
 */
export type ReadEnd = number | "open" | undefined;

const none: ReadonlySet<string> = new Set();

export class LiteralTexts {
  readonly #sorted: readonly string[];

  constructor(texts: Iterable<string>) {
    this.#sorted = [...new Set(texts)].sort();
  }

  /** Reads the longest of the texts from a position, except those that were read before. */
  read(text: string, at: number, earlier = none): ReadEnd {
    let rest = text.slice(at);
    let count = this.#countUpTo(rest);
    // those that are longer than the rest and begin with it come next
    let next = count;
    while (earlier.has(this.#sorted[next]!)) next++;
    if (this.#sorted[next]?.startsWith(rest)) return "open";
    while (count > 0) {
      const before = this.#sorted[count - 1]!;
      if (rest.startsWith(before)) return earlier.has(before) ? undefined : at + before.length;
      // a shorter text that the rest begins with is also the beginning of the one before it
      rest = rest.slice(0, countEqual(rest, before));
      count = this.#countUpTo(rest);
    }
    return undefined;
  }

  /** The number of texts that are not after this one. */
  #countUpTo(text: string): number {
    let [first, end] = [0, this.#sorted.length];
    while (first < end) {
      const middle = (first + end) >>> 1;
      if (this.#sorted[middle]! <= text) first = middle + 1;
      else end = middle;
    }
    return first;
  }
}

/** The number of characters at the beginning that two texts have in common. */
function countEqual(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}
