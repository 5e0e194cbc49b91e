/**
 * The text of a reply to the user while a student writes it. Whole words are passed on at once:
 * only then is it known which ids are aliases, and which bytes form a character.
 */
import type { IdAliases } from "./idAliases.ts";
import type { Tokenizer } from "./tokenizer.ts";

export class ReplyStream {
  readonly #tokenizer: Tokenizer;
  readonly #aliases: IdAliases;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #ids: number[] = [];
  /** Undefined until the first token, then whether the message is a reply. */
  #isReply: boolean | undefined;
  #sent = 0;

  constructor(tokenizer: Tokenizer, aliases: IdAliases, onText?: (text: string) => void) {
    this.#tokenizer = tokenizer;
    this.#aliases = aliases;
    this.#onText = onText;
  }

  /** What the reply says so far; undefined for a message of calls. */
  get text(): string | undefined {
    if (!this.#isReply) return undefined;
    return this.#aliases.restoreIds(this.#tokenizer.decode(this.#ids).replace(/^ /, ""));
  }

  append(id: number): void {
    if (this.#isReply === undefined) this.#isReply = id === this.#tokenizer.markId("<fin>");
    else if (this.#isReply && this.#tokenizer.isText(id)) this.#ids.push(id);
    else this.#isReply = this.#isReply && id === this.#tokenizer.markId("<eot>");
    if (this.#onText && this.#isReply) this.#sendWords(this.#onText);
  }

  #sendWords(onText: (text: string) => void): void {
    const text = this.text!;
    const end = text.lastIndexOf(" ");
    if (end <= this.#sent) return;
    onText(text.slice(this.#sent, end));
    this.#sent = end;
  }
}
