/** The syntax of templates: choosing alternatives, finding and filling slots, tidying the result. */
import type { Random } from "../../environment/random.ts";

/** The sentence's words with every `(a|b)` chosen. */
export function chooseAlternatives(text: string, random: Random): string {
  let open = text;
  for (;;) {
    const next = open.replaceAll(/\(([^()]*)\)/g, (_, all: string) => random.pick(all.split("|")));
    if (next === open) return tidyText(next);
    open = next;
  }
}

/** The names of a text's slots, in order, each once. */
export const findSlots = (text: string): string[] => [
  ...new Set([...text.matchAll(/\{([\w.]+)\}/g)].map(it => it[1]!)),
];

/** The text with its slots filled; a slot that `say` does not know makes it undefined. */
export function fillSlots(
  text: string,
  say: (slot: string) => string | undefined,
): string | undefined {
  let whole = true;
  const words = text.replaceAll(/\{([\w.]+)\}/g, (_, slot: string) => {
    const said = say(slot);
    if (said === undefined) whole = false;
    return said ?? "";
  });
  return whole ? tidyText(words) : undefined;
}

/**
 * Spaces once, no word twice in a row ("my Travel card card"), no "on tomorrow", and no sum like
 * "45.5 euros".
 */
export const tidyText = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([,.?!;:])(?=\s|$)/g, "$1")
    .replaceAll(/([^.])\.\.(?!\.)/g, "$1.")
    .replaceAll(/(?<=[.?!]\u0002?)(["”])\.(?=\s|$)/g, "$1")
    .replaceAll(/(?<![-\w.])(?!that that (?:\w+)\b)([a-z]+) \1\b(?![-.]\w)/gi, "$1")
    .replaceAll(
      /\b(turn|call|put|take|write|give|pick|set|throw|bring|hand|switch|send) (down|off|up|out|back|away) (it|them)\b/gi,
      "$1 $3 $2",
    )
    .replaceAll(/\b(the (?:\w+ )?(\w+)) (?:the|my) \2 /g, "$1 ")
    .replaceAll(/\bthe (\w+) (that|this) \1\b/g, "$2 $1")
    .replaceAll(
      /\b[oO]n (today|tomorrow|yesterday|the day after tomorrow|(?:a week|two weeks) from today|this (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b/g,
      "$1",
    )
    .replaceAll(/(?<![\d.])(\d+\.\d)(?=\W?(?: of [\d.]+\W?)? euros?\b)/g, sum => `${sum}0`)
    .trim();

/** A list as people say it: `a, b and c`. */
export const joinWithAnd = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)!}`;
