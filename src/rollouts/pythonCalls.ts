/** Reads lists of calls in Python's syntax, such as `[ls(all=True), move(source="a.txt")]`. */
import type { Json, JsonObject } from "../environment/json.ts";
import type { Call } from "../environment/outcome.ts";

/** The calls of a text that is nothing but such a list; undefined for any other text. */
export function parsePythonCalls(text: string): readonly Call[] | undefined {
  const reader = new PythonReader(text);
  const isList = reader.takes("[");
  const calls = reader.readList(isList ? "]" : undefined, () => reader.readCall());
  return calls && calls.length > 0 && reader.isAtEnd ? calls : undefined;
}

const constants: Readonly<Record<string, Json>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};

/** More levels than arguments may have. Values are read by functions that call themselves. */
const maxLevels = 96;

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

/** Reads from the start on. Each function returns undefined where the text is something else. */
class PythonReader {
  readonly #text: string;
  #at = 0;
  #level = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at === this.#text.length;
  }

  takes(token: string): boolean {
    this.#skipSpace();
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  /** Elements with commas between them, up to an end, which is read too; without one, to the last. */
  readList<Element>(
    end: string | undefined,
    readElement: () => Element | undefined,
  ): Element[] | undefined {
    const elements: Element[] = [];
    for (;;) {
      if (end !== undefined && this.takes(end)) return elements;
      const element = readElement();
      if (element === undefined) return undefined;
      elements.push(element);
      if (this.takes(",")) continue;
      return end === undefined || this.takes(end) ? elements : undefined;
    }
  }

  readCall(): Call | undefined {
    const name = this.#take(/[A-Za-z_][\w.-]*/y);
    if (name === undefined || !this.takes("(")) return undefined;
    const args = this.readList(")", () => {
      const key = this.#take(/[A-Za-z_]\w*/y);
      if (key === undefined || !this.takes("=")) return undefined;
      return this.#readEntry(key);
    });
    return args && { name, arguments: Object.fromEntries(args) };
  }

  #readEntry(key: string): readonly [string, Json] | undefined {
    const value = this.#readValue();
    return value === undefined ? undefined : [key, value];
  }

  #readValue(): Json | undefined {
    if (this.#level === maxLevels) return undefined;
    this.#level++;
    const value = this.#readValueInside();
    this.#level--;
    return value;
  }

  #readValueInside(): Json | undefined {
    for (const [start, end] of [
      ["[", "]"],
      ["(", ")"],
    ] as const)
      if (this.takes(start)) return this.readList(end, () => this.#readValue());
    if (this.takes("{")) return this.#readObject();
    const text = this.#readText();
    if (text !== undefined) return text;
    const number = this.#take(/[+-]?(\d[\d_]*(?:\.\d*)?|\.\d+)(e[+-]?\d+)?(?![\w.])/iy);
    if (number !== undefined) return Number(number.replaceAll("_", ""));
    const word = this.#take(/[A-Za-z]+(?!\w)/y);
    return word !== undefined && Object.hasOwn(constants, word) ? constants[word] : undefined;
  }

  #readObject(): JsonObject | undefined {
    const entries = this.readList("}", () => {
      const key = this.#readText();
      return key !== undefined && this.takes(":") ? this.#readEntry(key) : undefined;
    });
    return entries && Object.fromEntries(entries);
  }

  #readText(): string | undefined {
    const quoted = this.#take(/"[^"\\]*(?:\\[^][^"\\]*)*"|'[^'\\]*(?:\\[^][^'\\]*)*'/y);
    return quoted
      ?.slice(1, -1)
      .replaceAll(/\\(?:u([\da-f]{4})|x([\da-f]{2})|([^]))/gi, (_, unicode, byte, char: string) => {
        const code = (unicode ?? byte) as string | undefined;
        return code === undefined
          ? (escapes[char] ?? char)
          : String.fromCodePoint(Number.parseInt(code, 16));
      });
  }

  #take(pattern: RegExp): string | undefined {
    this.#skipSpace();
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }
}
