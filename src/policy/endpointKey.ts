/**
 * An endpoint's key: creates the header that contains it, and removes it from responses. The key is
 * in a private field and appears in no error message.
 */
import { UserError } from "../userError.ts";

export class EndpointKey {
  readonly #key: string;

  /** Trims the key. Throws a `UserError` if it cannot be part of a header. */
  constructor(key: string) {
    this.#key = key.trim();
    // checked here, because the error of an invalid header would quote the key
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
   * Replaces the key in a text. Short words such as `EMPTY`, which local servers accept as keys,
   * are not secrets and stay.
   */
  redact(text: string): string {
    const isSecret = this.#key.length >= 20 || (this.#key.length >= 8 && /\d/.test(this.#key));
    if (!isSecret) return text;
    return text
      .replaceAll(this.#key, "[key]")
      .replaceAll(JSON.stringify(this.#key).slice(1, -1), "[key]");
  }
}
