/** Repeats a user's clause in the assistant's words: "pay my bill" becomes "pay your bill". */
import { isRequest } from "./clauses.ts";
import { removeAllMarks } from "./valueMarks.ts";

/** Whether a clause reads well after "I can't" or "Shall I". */
export const isRepeatable = (clause: string): boolean =>
  isRequest(clause) &&
  clause.length < maxRepeatedLength &&
  !/[,:;.!]( |$)/.test(removeAllMarks(clause));

/** Clauses of this length or more are not repeated in the answer. */
const maxRepeatedLength = 110;

/** Turns the user's first person into the assistant's second person, except in quotations. */
export const addressUser = (text: string): string =>
  removeAllMarks(text)
    .split(/("[^"]*"|“[^”]*”)/)
    .map((part, i) => (i % 2 === 1 ? part : toSecondPerson(part)))
    .join("");

const toSecondPerson = (text: string): string =>
  text
    .replaceAll(/\b(my|our)\b/gi, "your")
    .replaceAll(/\bmine\b/gi, "yours")
    .replaceAll(/\bmyself\b/gi, "yourself")
    .replaceAll(/\bI am\b/g, "you are")
    .replaceAll(/\bI'm\b/g, "you're")
    .replaceAll(/\b(me|us|I|we)\b/g, "you");
