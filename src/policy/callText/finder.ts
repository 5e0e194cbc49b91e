/**
 * Finds a pattern from indexes on that grow. No part of the text is searched twice, so that reading
 * a text takes time that grows with its length, whatever it has.
 */
export class Finder {
  readonly #text: string;
  readonly #pattern: RegExp;
  #from = 0;
  #found: number | undefined = -1;

  /** The pattern is global. */
  constructor(text: string, pattern: RegExp) {
    this.#text = text;
    this.#pattern = new RegExp(pattern);
  }

  /** The first index at which the pattern matches, from an index on. */
  next(from: number): number | undefined {
    const isKnown = from >= this.#from && (this.#found === undefined || this.#found >= from);
    if (!isKnown) {
      this.#pattern.lastIndex = from;
      this.#found = this.#pattern.exec(this.#text)?.index;
      this.#from = from;
    }
    return this.#found;
  }
}
