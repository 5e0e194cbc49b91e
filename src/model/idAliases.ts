/**
 * Ids as a small student sees them: numbered anew in each conversation, in the order in which they
 * are met, so that an id is one small number to point with instead of digits to copy. Reversible;
 * knows no tokens.
 */

/** What generated ids look like: a short word, an underscore, digits. */
const idLike = /\b([a-z]{2,12}_)(\d{1,9})\b/g;

export class IdAliases {
  readonly #aliasById = new Map<string, string>();
  readonly #idByAlias = new Map<string, string>();
  readonly #nextByPrefix = new Map<string, number>();

  /** A text as the student sees it; ids not met before are numbered. */
  replaceIds(text: string): string {
    return text.replace(
      idLike,
      (id, prefix: string, digits: string) =>
        this.#aliasById.get(id) ?? this.#assignAlias(id, prefix, digits),
    );
  }

  /**
   * A student's text with the ids that it means. A number that nothing was given stands for itself.
   */
  restoreIds(text: string): string {
    return text.replace(idLike, alias => this.#idByAlias.get(alias) ?? alias);
  }

  #assignAlias(id: string, prefix: string, digits: string): string {
    // what the student made up comes back, in an error's words, as it wrote it
    const alias = digits.length < 3 && !this.#idByAlias.has(id) ? id : this.#findFreeAlias(prefix);
    this.#aliasById.set(id, alias);
    this.#idByAlias.set(alias, id);
    return alias;
  }

  #findFreeAlias(prefix: string): string {
    let n = this.#nextByPrefix.get(prefix) ?? 1;
    while (this.#idByAlias.has(`${prefix}${n}`)) n++;
    this.#nextByPrefix.set(prefix, n + 1);
    return `${prefix}${n}`;
  }
}
