/**
 * Parses JSON without rounding its numbers. JavaScript holds whole numbers beyond 2^53 only
 * roughly, and numbers beyond 1.8e308 not at all. In what other programs send, the text stays in
 * place of such a number. The arguments of a call stay a text as a whole, so that they are not
 * taken for arguments with a text.
 */

/** The value of a JSON text, with a text in place of each number that would be rounded. */
export const parseExactJson = (text: string): unknown => parse(text);

/**
 * The value of a JSON text with calls, whose arguments have one of these keys. Arguments with a
 * number that would be rounded stay their JSON text.
 */
export const parseCallJson = (text: string, keys: readonly string[] = ["arguments"]): unknown =>
  parse(text, keys);

/** A number of a JSON text that would be rounded; none if the text is not JSON. */
export function findLongNumber(text: string): string | undefined {
  const [part] = findParts(text);
  if (!part) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return text.slice(part.start, part.end);
}

/** The arguments of a call from their JSON text, which they stay if a number would be rounded. */
export function parseCallArguments(text: string): unknown {
  const args: unknown = JSON.parse(text);
  return findLongNumber(text) === undefined ? args : text;
}

/** The JSON text of the arguments of a call. */
export const formatCallArguments = (args: unknown): string =>
  typeof args === "string" && findLongNumber(args) !== undefined ? args : JSON.stringify(args);

/** Why a call with such a number is refused. */
export const describeLongNumber = (number: string): string =>
  `${explainLongNumber(number)}: write it as a text`;

export const explainLongNumber = (number: string): string =>
  Number.isFinite(Number(number))
    ? `${number} has more digits than a number can keep`
    : `${number} is larger than a number can be`;

function parse(text: string, keys?: readonly string[]): unknown {
  const json: unknown = JSON.parse(text);
  const parts = findParts(text, keys);
  if (parts.length === 0) return json;
  let exact = "";
  let end = 0;
  for (const it of parts) {
    exact += text.slice(end, it.start) + JSON.stringify(text.slice(it.start, it.end));
    end = it.end;
  }
  return JSON.parse(exact + text.slice(end));
}

interface Part {
  readonly start: number;
  readonly end: number;
}

const longDigits = /(?:^|[^\d.])\d{16}|e\+?\d{3}/i;
const token = /["{}[\]]|-?\d[\d.e+-]*/gi;
const stringEnd = /["\\]/g;

/** The numbers of a JSON text that would be rounded, or the values of the keys that have one. */
function findParts(text: string, keys?: readonly string[]): readonly Part[] {
  if (!longDigits.test(text)) return [];
  const parts: Part[] = [];
  let depth = 0;
  let args: { readonly start: number; readonly depth: number } | undefined;
  let hasLong = false;
  token.lastIndex = 0;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [character] = found;
    const start = found.index;
    switch (character) {
      case '"':
        token.lastIndex = findStringEnd(text, start + 1);
        break;
      case "{":
      case "[":
        depth++;
        if (keys && !args && isValueOf(text, start, keys)) args = { start, depth };
        break;
      case "}":
      case "]":
        if (args?.depth === depth) {
          if (hasLong) parts.push({ start: args.start, end: start + 1 });
          args = undefined;
          hasLong = false;
        }
        depth--;
        break;
      default:
        if (!isLong(character)) break;
        hasLong = true;
        if (!keys) parts.push({ start, end: token.lastIndex });
    }
  }
  return parts;
}

/** Whether the value that begins at an index has one of the keys. */
function isValueOf(text: string, start: number, keys: readonly string[]): boolean {
  const [, key] = /"([^"]*)"\s*:\s*$/.exec(text.slice(Math.max(0, start - 40), start)) ?? [];
  return key !== undefined && keys.includes(key);
}

function findStringEnd(text: string, from: number): number {
  stringEnd.lastIndex = from;
  for (let found = stringEnd.exec(text); found; found = stringEnd.exec(text)) {
    if (found[0] === '"') return found.index + 1;
    stringEnd.lastIndex = found.index + 2;
  }
  return text.length;
}

function isLong(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return !Number.isNaN(value);
  return /^-?\d+$/.test(number) && !Number.isSafeInteger(value) && String(value) !== number;
}
