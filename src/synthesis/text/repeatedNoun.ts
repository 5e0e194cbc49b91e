/** Leaves out a noun that has just been said. */
import { removeMarks } from "./valueMarks.ts";

/** A value without the noun of the clause before it: "the size of a folder: the folder ~". */
export function dropRepeatedNoun(clause: string, value: string): string {
  const [, noun] = /\ban? (\w+)$/.exec(clause) ?? [];
  const repeated = `the ${noun} `;
  if (noun === undefined || !value.startsWith(repeated)) return value;
  const name = value.slice(repeated.length);
  // "the payment for invoice 13" needs its noun
  return /^["~/A-Z]/.test(removeMarks(name)) ? name : value;
}
