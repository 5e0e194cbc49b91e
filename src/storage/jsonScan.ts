/**
 * Finds the end of a JSON value in a longer text, or what is wrong with it and where. The Python
 * package has the same scanner, with the same texts.
 */

export interface JsonFault {
  /** What is wrong, such as `a raw line break in a string`. */
  readonly what: string;
  /** The index of the character. */
  readonly at: number;
}

/** What is wrong with a text, with the position as a person counts it, by Unicode characters. */
export function describeJsonFault(text: string, { what, at }: JsonFault): string {
  const pairs = text.slice(0, at).match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0;
  return `${what} at character ${at - pairs + 1}`;
}

/** The end of the value, unless its structure is broken, and the first fault. */
interface JsonScan {
  readonly end?: number;
  readonly fault?: JsonFault;
}

/** The deepest value that is read: more levels than arguments may have. */
const maxLevels = 128;

const space = /[ \t\n\r]*/y;
const literal = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const stringEnd = /["\\\u0000-\u001F]/g;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The index after the white space of JSON. */
export function skipSpace(text: string, from: number): number {
  space.lastIndex = from;
  space.test(text);
  return space.lastIndex;
}

type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "more";

/**
 * Scans the value that begins at the index. A wrong character in a string is a fault, after which
 * the string goes on; any other fault ends the scan.
 */
export function scanJson(text: string, from: number): JsonScan {
  const closers: string[] = [];
  let fault: JsonFault | undefined;
  let expected: Expected = "value";
  let at = from;
  const fail = (what: string, where = at): JsonScan => ({ fault: fault ?? { what, at: where } });
  for (;;) {
    at = skipSpace(text, at);
    const character = text[at];
    if (character === undefined) return fail("the end of the text inside the JSON");
    if (expected === "colon") {
      if (character !== ":") return fail('no ":" after a key');
      at++;
      expected = "value";
      continue;
    }
    const closer = closers.at(-1);
    if (character === closer && (expected === "more" || expected.endsWith("end"))) {
      at++;
      closers.pop();
    } else if (expected === "more") {
      if (character !== ",") return fail(`no "," or "${closer}" after a value`);
      at++;
      expected = closer === "}" ? "key" : "value";
      continue;
    } else if (character === '"') {
      const string = scanString(text, at);
      fault ??= string.fault;
      if (string.end === undefined) return { fault: fault! };
      at = string.end;
      if (expected.startsWith("key")) {
        expected = "colon";
        continue;
      }
    } else if (expected.startsWith("key")) return fail("no key in double quotes");
    else if (character === "{" || character === "[") {
      if (closers.length === maxLevels) return fail(`more than ${maxLevels} levels`);
      closers.push(character === "{" ? "}" : "]");
      expected = character === "{" ? "key or end" : "value or end";
      at++;
      continue;
    } else {
      literal.lastIndex = at;
      if (!literal.test(text)) return fail("no value of JSON");
      at = literal.lastIndex;
    }
    // a value is complete
    if (closers.length === 0) return fault ? { end: at, fault } : { end: at };
    expected = "more";
  }
}

const controlNames: Readonly<Record<string, string>> = { "\n": "line break", "\t": "tab" };

function scanString(text: string, from: number): JsonScan {
  let fault: JsonFault | undefined;
  let at = from + 1;
  for (;;) {
    stringEnd.lastIndex = at;
    const found = stringEnd.exec(text);
    if (!found) return { fault: fault ?? { what: "a string without an end", at: from } };
    at = found.index;
    if (found[0] === '"') return fault ? { end: at + 1, fault } : { end: at + 1 };
    if (found[0] !== "\\") {
      const name = controlNames[found[0]] ?? "control character";
      fault ??= { what: `a raw ${name} in a string`, at };
      at++;
      continue;
    }
    escape.lastIndex = at;
    if (escape.test(text)) at = escape.lastIndex;
    else {
      fault ??= { what: "an escape that JSON does not have", at };
      at += 2;
    }
  }
}
