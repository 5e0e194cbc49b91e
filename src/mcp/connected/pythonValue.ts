/** Reads values as Python prints them: `[{'id': 10, 'name': None}]`. */
import type { Json } from "../../environment/json.ts";

/** The value of a text, or undefined if it is no value of Python that JSON has. */
export function readPythonValue(text: string): Json | undefined {
  const reader = new Reader(text);
  try {
    const value = reader.readValue(0);
    reader.skipSpace();
    return reader.isAtEnd ? value : undefined;
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}

class NoValue extends Error {}

const maxDepth = 60;
const words: Readonly<Record<string, Json>> = { None: null, True: true, False: false };
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "0": "\0" };

class Reader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#text.length;
  }

  skipSpace(): void {
    this.#take(/\s*/y);
  }

  readValue(depth: number): Json {
    if (depth > maxDepth) throw new NoValue();
    this.skipSpace();
    const char = this.#text[this.#position];
    if (char === "{") return this.#readRecord(depth);
    if (char === "[") return this.#readList("]", depth);
    if (char === "(") return this.#readList(")", depth);
    if (char === "'" || char === '"') return this.#readText(char);
    const word = this.#take(/None\b|True\b|False\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (word === "") throw new NoValue();
    if (Object.hasOwn(words, word)) return words[word]!;
    const number = Number(word);
    return Number.isInteger(number) && !Number.isSafeInteger(number) ? word : number;
  }

  #readRecord(depth: number): Json {
    this.#position++;
    const entries: [string, Json][] = [];
    while (!this.#skip("}")) {
      const key = this.readValue(depth + 1);
      if (typeof key === "object") throw new NoValue();
      if (!this.#skip(":")) throw new NoValue();
      entries.push([String(key), this.readValue(depth + 1)]);
      if (this.#skip(",")) continue;
      if (this.#skip("}")) break;
      throw new NoValue();
    }
    return Object.fromEntries(entries);
  }

  #readList(end: string, depth: number): Json {
    this.#position++;
    const items: Json[] = [];
    while (!this.#skip(end)) {
      items.push(this.readValue(depth + 1));
      if (this.#skip(",")) continue;
      if (this.#skip(end)) break;
      throw new NoValue();
    }
    return items;
  }

  #readText(quote: string): string {
    this.#position++;
    let value = "";
    for (;;) {
      const char = this.#text[this.#position++];
      if (char === undefined) throw new NoValue();
      if (char === quote) return value;
      value += char === "\\" ? this.#readEscape() : char;
    }
  }

  #readEscape(): string {
    const code = this.#take(/x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}/y);
    if (code !== "") {
      const point = Number.parseInt(code.slice(1), 16);
      if (point > 0x10ffff) throw new NoValue();
      return String.fromCodePoint(point);
    }
    const char = this.#text[this.#position++] ?? "";
    return escapes[char] ?? char;
  }

  #skip(char: string): boolean {
    this.skipSpace();
    if (this.#text[this.#position] !== char) return false;
    this.#position++;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const [text = ""] = pattern.exec(this.#text) ?? [];
    this.#position += text.length;
    return text;
  }
}
