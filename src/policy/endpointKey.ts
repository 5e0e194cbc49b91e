/**
 * An endpoint's key: the header it goes into, and its removal from whatever comes back. It is in no
 * error, and no property shows it.
 */
import { UserError } from "../userError.ts";

export class EndpointKey {
  readonly #key: string;

  /** Spaces around it are dropped. Throws a `UserError` where it could not stand in a header. */
  constructor(key: string) {
    this.#key = key.trim();
    // what a header refuses is quoted in the error of whoever refuses it
    if (!/^[\x21-\x7e]+$/.test(this.#key))
      throw new UserError(
        "the endpoint's key holds characters that no key has",
        "copy it again, in one line and without quotes",
      );
  }

  get authorization(): string {
    return `Bearer ${this.#key}`;
  }

  /**
   * The text without the key, were it to hold it. A word such as `EMPTY`, which local servers are
   * content with, is no secret.
   */
  redact(text: string): string {
    const isSecret = this.#key.length >= 20 || (this.#key.length >= 8 && /\d/.test(this.#key));
    if (!isSecret) return text;
    return text
      .replaceAll(this.#key, "[key]")
      .replaceAll(JSON.stringify(this.#key).slice(1, -1), "[key]");
  }
}
