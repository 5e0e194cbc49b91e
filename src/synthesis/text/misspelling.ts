/** Slips of the keyboard in names. */
import type { Random } from "../../environment/random.ts";
import { countEdits } from "../../environment/textSearch.ts";

/** The shortest word that is misspelt, and how many changes two names may be apart. */
const limits = { letters: 5, changes: 3 };

/** A name with a slip in one of its longer words, or undefined if it has none. */
export function misspell(name: string, random: Random): string | undefined {
  const words = [...name.matchAll(/\p{L}+/gu)].filter(it => it[0].length >= limits.letters);
  if (words.length === 0) return undefined;
  const { 0: word, index } = random.pick(words);
  // the first and the last letter are right
  const at = 1 + random.integer(word.length - 3);
  const [letter, next] = [word[at]!, word[at + 1]!];
  const slips = [
    word.slice(0, at) + next + letter + word.slice(at + 2),
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + letter + word.slice(at),
  ].filter(it => it !== word && !/(.)\1\1/u.test(it));
  return slips.length === 0
    ? undefined
    : name.slice(0, index) + random.pick(slips) + name.slice(index + word.length);
}

/** Whether one of two names could be meant by the other. */
export const isSimilar = (a: string, b: string): boolean =>
  Math.abs(a.length - b.length) <= limits.changes &&
  countEdits(a.toLowerCase(), b.toLowerCase()) <= limits.changes;
