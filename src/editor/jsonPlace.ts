/**
 * Finds where a value stands in JSON text, by its path, so that what is wrong with it can be shown
 * on its line. Knows no schema.
 */

export interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * The place of a path's value, or of its nearest ancestor that is there. The text may be broken:
 * what was read so far counts.
 */
export function placeOf(text: string, path: readonly PropertyKey[]): Place {
  const places = new Map<string, Place>();
  new Reader(text, places).value([]);
  for (let n = path.length; n >= 0; n--) {
    const place = places.get(keyOf(path.slice(0, n)));
    if (place) return n === path.length ? place : headOf(place);
  }
  return { start: 0, end: Math.min(1, text.length) };
}

const keyOf = (path: readonly PropertyKey[]) =>
  path.map(it => encodeURIComponent(String(it))).join("/");

/** Of an object that lacks something, its opening bracket is marked, not all its lines. */
const headOf = ({ start }: Place): Place => ({ start, end: start + 1 });

class Reader {
  readonly #text: string;
  readonly #places: Map<string, Place>;
  #at = 0;

  constructor(text: string, places: Map<string, Place>) {
    this.#text = text;
    this.#places = places;
  }

  value(path: readonly PropertyKey[]): void {
    this.#space();
    const start = this.#at;
    const first = this.#text[start];
    if (first === "{") this.#members(path, "}");
    else if (first === "[") this.#members(path, "]");
    else if (first === '"') this.#string();
    else this.#match(/[^\s,\]}]*/y);
    this.#places.set(keyOf(path), { start, end: Math.max(this.#at, start + 1) });
  }

  #members(path: readonly PropertyKey[], close: "}" | "]"): void {
    this.#at++;
    for (let n = 0; this.#at < this.#text.length; n++) {
      this.#space();
      if (this.#text[this.#at] === close) {
        this.#at++;
        return;
      }
      let key: PropertyKey = n;
      if (close === "}") {
        key = this.#string();
        this.#space();
        if (this.#text[this.#at] !== ":") return;
        this.#at++;
      }
      this.value([...path, key]);
      this.#space();
      if (this.#text[this.#at] === ",") this.#at++;
      else if (this.#text[this.#at] !== close) return;
    }
  }

  #string(): string {
    const written = this.#match(/"(?:[^"\\]|\\.)*"/y);
    try {
      return JSON.parse(written) as string;
    } catch {
      // an unfinished string has no name to be found by
      return written;
    }
  }

  #space(): void {
    this.#match(/\s*/y);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}
