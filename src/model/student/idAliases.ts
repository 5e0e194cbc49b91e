/**
 * Replaces entity ids by aliases that are numbered in each conversation, in order of occurrence: a
 * small student writes one small number instead of copying digits. The replacement is reversible.
 */

/** The format of generated ids: a short word, an underscore, digits. */
const idPattern = /\b([a-z]{2,12}_)(\d{1,9})\b/g;

export class IdAliases {
  readonly #aliasById = new Map<string, string>();
  readonly #idByAlias = new Map<string, string>();
  readonly #nextByPrefix = new Map<string, number>();

  /** The text as the student sees it. New ids get an alias. */
  replaceIds(text: string): string {
    return text.replace(
      idPattern,
      (id, prefix: string, digits: string) =>
        this.#aliasById.get(id) ?? this.#assignAlias(id, prefix, digits),
    );
  }

  /** The student's text with the original ids. An alias that was not assigned stays as it is. */
  restoreIds(text: string): string {
    return text.replace(idPattern, alias => this.#idByAlias.get(alias) ?? alias);
  }

  /**
   * A text of a schema as the student has to write it, so that `restoreIds` returns the text.
   * Undefined if no text does. Assigns no alias.
   */
  writeExactly(text: string): string | undefined {
    const written = text.replace(idPattern, id => this.#aliasById.get(id) ?? id);
    return this.restoreIds(written) === text ? written : undefined;
  }

  #assignAlias(id: string, prefix: string, digits: string): string {
    // an id that the student made up must come back in an error message as the student wrote it
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
