/**
 * Ids as a small student sees them: numbered anew in each conversation, in the order in which they
 * are met, so that an id is one small number to point with instead of digits to copy. Reversible;
 * knows no tokens.
 */

/** What generated ids look like: a short word, an underscore, digits. */
const idLike = /\b([a-z]{2,12}_)(\d{1,9})\b/g;

export class Aliases {
  readonly #shown = new Map<string, string>();
  readonly #meant = new Map<string, string>();
  readonly #next = new Map<string, number>();

  /** A text as the student sees it; ids not met before are numbered. */
  shown(text: string): string {
    return text.replace(
      idLike,
      (id, prefix: string, digits: string) =>
        this.#shown.get(id) ?? this.#number(id, prefix, digits),
    );
  }

  /**
   * A student's text with the ids that it means. A number that nothing was given stands for itself.
   */
  meant(text: string): string {
    return text.replace(idLike, alias => this.#meant.get(alias) ?? alias);
  }

  #number(id: string, prefix: string, digits: string): string {
    // what the student made up comes back, in an error's words, as it wrote it
    const alias = digits.length < 3 && !this.#meant.has(id) ? id : this.#free(prefix);
    this.#shown.set(id, alias);
    this.#meant.set(alias, id);
    return alias;
  }

  #free(prefix: string): string {
    let n = this.#next.get(prefix) ?? 1;
    while (this.#meant.has(`${prefix}${n}`)) n++;
    this.#next.set(prefix, n + 1);
    return `${prefix}${n}`;
  }
}
