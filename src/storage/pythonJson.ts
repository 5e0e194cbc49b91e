/** Parses JSON as Python writes it: with NaN, Infinity and -Infinity, which are no JSON. */
import { parseExactJson } from "./exactJson.ts";

/** Receives the number of values that were read as null because they are no JSON. */
export type OnReplaced = (count: number) => void;

/** The value of a JSON text. Throws the `SyntaxError` of `JSON.parse` for all other faults. */
export function parsePythonJson(text: string, onReplaced: OnReplaced): unknown {
  try {
    return parseExactJson(text);
  } catch {
    const replaced = replaceNonFinite(text);
    const json = parseExactJson(replaced.text);
    onReplaced(replaced.count);
    return json;
  }
}

const nonFinite = ["NaN", "Infinity", "-Infinity"];

/** A text with null for each NaN, Infinity and -Infinity outside of its strings. */
export function replaceNonFinite(text: string): { readonly text: string; readonly count: number } {
  if (!/NaN|Infinity/.test(text)) return { text, count: 0 };
  const parts: string[] = [];
  let copied = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '"') isInString = !isInString;
    else if (char === "\\") i++;
    if (isInString || !"NI-".includes(char)) continue;
    const word = nonFinite.find(it => text.startsWith(it, i));
    if (word === undefined) continue;
    parts.push(text.slice(copied, i), "null");
    copied = i + word.length;
    i = copied - 1;
  }
  return { text: parts.join("") + text.slice(copied), count: parts.length / 2 };
}

/** What to tell the user about values that were read as null. */
export const formatReplaced = (count: number): string =>
  `NaN, Infinity and -Infinity are not JSON: ${count} such ${count === 1 ? "value was" : "values were"} read as null`;
