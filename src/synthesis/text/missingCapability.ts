/**
 * What a talk comes up against when a tool is not to be had: the tool itself, or the look-up of
 * what was named; and the words for it. Knows clauses and words, not how they were planned.
 */
import type { Random } from "../../environment/random.ts";
import type { Intent } from "../user/intent.ts";
import { isRequest } from "./clauses.ts";
import { removeAllMarks } from "./valueMarks.ts";

export type MissingCapability =
  | { readonly kind: "tool" }
  | { readonly kind: "thing"; readonly noun: string; readonly said: string };

/** Words about what cannot be done: of the assistant, and of the user who then goes on. */
export interface MissingCapabilityTemplates {
  /** `{clause}` is what was asked for, as the assistant says it. */
  readonly request: readonly string[];
  /** Where it cannot be taken up in those words: what was asked, and what was to be done. */
  readonly question: readonly string[];
  readonly deed: readonly string[];
  /** The same after something that was done, and after something else that could not be done. */
  readonly rest: { readonly question: readonly string[]; readonly deed: readonly string[] };
  readonly again: {
    readonly request: readonly string[];
    readonly question: readonly string[];
    readonly deed: readonly string[];
  };
  /** `{thing}` is how it was named, `{noun}` what it is. */
  readonly thing: readonly string[];
  readonly goOn: readonly string[];
  /** After a question that the user cannot answer. */
  readonly unknown: readonly string[];
}

/**
 * Where in the talk it comes up: alone, last of several things asked for in one breath, or as the
 * next thing that cannot be done.
 */
export type RefusalPosition = "alone" | "rest" | "again";

/** What the assistant says instead of doing it. */
export function renderMissingCapability(
  missing: MissingCapability,
  { clause, tool }: Intent,
  templates: MissingCapabilityTemplates,
  position: RefusalPosition,
  random: Random,
): string {
  if (missing.kind === "thing") {
    const { noun, said } = missing;
    return random
      .pick(templates.thing)
      .replaceAll("{thing}", () => addressUser(said))
      .replaceAll("{noun}", noun);
  }
  const isPlain =
    isRequest(clause) &&
    clause.length < maxClauseLength &&
    !/[,:;.!]( |$)/.test(removeAllMarks(clause));
  if (isPlain)
    return random
      .pick(position === "again" ? templates.again.request : templates.request)
      .replace("{clause}", () => addressUser(clause));
  const own = position === "alone" ? templates : templates[position];
  return random.pick(tool.effect === "read" ? own.question : own.deed);
}

/** Words that are taken up again: of a longer clause only that it cannot be done is said. */
const maxClauseLength = 110;

/** The user's words about themselves as the assistant says them; what is quoted stays as it is. */
const addressUser = (text: string): string =>
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
