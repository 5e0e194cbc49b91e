/** The syntax of templates: choosing alternatives, finding and filling slots, tidying the text. */
import type { Random } from "../../environment/random.ts";

/** Chooses one alternative for every `(a|b)`. */
export function chooseAlternatives(text: string, random: Random): string {
  let open = text;
  for (;;) {
    const next = open.replaceAll(/\(([^()]*)\)/g, (_, all: string) => random.pick(all.split("|")));
    if (next === open) return tidyText(next);
    open = next;
  }
}

/** Lists the texts that choosing among the alternatives of a template can give. */
export function listAlternatives(text: string): string[] {
  const choice = text.match(/\(([^()]*)\)/);
  if (!choice) return [tidyText(text)];
  const before = text.slice(0, choice.index);
  const after = text.slice(choice.index! + choice[0].length);
  return choice[1]!.split("|").flatMap(it => listAlternatives(before + it + after));
}

/** Lists the names of a text's slots in order, each once. */
export const findSlots = (text: string): string[] => [
  ...new Set([...text.matchAll(/\{([\w.]+)\}/g)].map(it => it[1]!)),
];

/** Fills the slots of a text; undefined if `renderSlot` returns undefined for one of them. */
export function fillSlots(
  text: string,
  renderSlot: (slot: string) => string | undefined,
): string | undefined {
  let isComplete = true;
  const filled = text.replaceAll(/\{([\w.]+)\}/g, (_, slot: string) => {
    const words = renderSlot(slot);
    if (words === undefined) isComplete = false;
    return words ?? "";
  });
  return isComplete ? tidyText(filled) : undefined;
}

/**
 * Removes repeated spaces and words ("my Travel card card"), corrects "on tomorrow" and
 * "Foods's", and adds cents to amounts such as "45.5 euros".
 */
export const tidyText = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([,.?!;:])(?=\s|$)/g, "$1")
    .replaceAll(/([^.])\.\.(?!\.)/g, "$1.")
    .replaceAll(/(?<=[.?!]\u0002?)(["”]\u0002?)\.(?=\s|$)/g, "$1")
    .replaceAll(/(?<![-\w.])(?!that that (?:\w+)\b)([a-z]+) \1\b(?![-.]\w)/gi, "$1")
    .replaceAll(
      /\b(turn|call|put|take|write|give|pick|set|throw|bring|hand|switch|send) (down|off|up|out|back|away) (it|them)\b/gi,
      "$1 $3 $2",
    )
    .replaceAll(/(?<=[a-z]s\u0002?)'s(?= )/g, "'")
    .replaceAll(/\b(the (?:\w+ )?(\w+)) (?:the|my) \2 /g, "$1 ")
    .replaceAll(/\bthe (\w+) (that|this) \1\b/g, "$2 $1")
    .replaceAll(
      /\b[oO]n (today|tomorrow|yesterday|the day (?:after tomorrow|before yesterday)|(?:a|two|three|four) weeks? (?:ago|from (?:today|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day))|(?:this|last) (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\w+ days ago)\b/g,
      "$1",
    )
    .replaceAll(
      /\b([oO]n|([Ss]tarting|[Bb]eginning)) (\w+ days) from now\b/g,
      (_, __, lead = "", days) => `${lead as string} in ${days as string}`.trim(),
    )
    .replaceAll(/\bfrom (?=(?:a|two|three|four) weeks? from )/g, "starting ")
    .replaceAll(/(?<![\d.])(\d+\.\d)(?=\W?(?: of [\d.]+\W?)? euros?\b)/g, sum => `${sum}0`)
    .trim();

/** Joins words into a list: `a, b and c`. */
export const joinWithAnd = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)!}`;

// Marks around a value's own words in a text. They keep the value's case at the start of a sentence
// and its boundaries while sentences are joined.

/** Stands before a value. */
const startMark = "\u0001";

/** Stands after a value in a reply. */
export const endMark = "\u0002";

export const markVerbatim = (value: string): string => startMark + value;

/** The text without start marks. */
export const removeMarks = (text: string): string => text.replaceAll(startMark, "");

/** The text without start and end marks. */
export const removeAllMarks = (text: string): string => text.replaceAll(/[\u0001\u0002]/g, "");
