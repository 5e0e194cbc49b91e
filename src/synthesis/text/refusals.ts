/**
 * What the assistant says when it cannot do something, when a call was refused, and when a rule
 * wants the user's confirmation first.
 */
import type { Random } from "../../environment/random.ts";
import type { Tool } from "../../environment/server.ts";
import type { TaskRule } from "../../trajectory/taskRules.ts";
import { capitalize, isRequest } from "./grammar.ts";
import { removeAllMarks, tidyText } from "./templateText.ts";
import { formatReplyValue } from "./formatValue.ts";

/**
 * What is missing: the tool itself, a look-up of the entity that the user named, or the permission,
 * because a rule forbids the call.
 */
export type MissingCapability =
  | { readonly kind: "tool" }
  | { readonly kind: "rule"; readonly rule: TaskRule }
  | {
      readonly kind: "thing";
      readonly noun: string;
      /** How the user named the entity. */
      readonly mention: string;
    };

/** Templates for the assistant's answer and for the user who continues after it. */
export interface MissingCapabilityTemplates {
  /** `{clause}` is the user's request, in the assistant's words. */
  readonly request: readonly string[];
  /** For requests that are not repeated: after a question, and after a request for a change. */
  readonly question: readonly string[];
  readonly deed: readonly string[];
  /** For several requests of one turn: only questions, and others. */
  readonly several: { readonly question: readonly string[]; readonly deed: readonly string[] };
  /** The same after something that was done. */
  readonly rest: { readonly question: readonly string[]; readonly deed: readonly string[] };
  /** The same after something else that could not be done. */
  readonly again: {
    readonly request: readonly string[];
    readonly question: readonly string[];
    readonly deed: readonly string[];
  };
  /** `{thing}` is how the user named the entity, `{noun}` its kind. */
  readonly thing: readonly string[];
  readonly goOn: readonly string[];
  /** `{because}` and `{Because}` are the reason of the rule that forbids it. */
  readonly forbidden: { readonly request: readonly string[]; readonly plain: readonly string[] };
  /** What users say who ask once more for it, and the answers. */
  readonly insist: { readonly says: readonly string[]; readonly replies: readonly string[] };
}

/** What users say when they bring a tool. */
export interface ToolArrivalTexts {
  /** Sentences that say that the tool is there. */
  readonly says: readonly string[];
  /** Clauses that ask again, for a read and for a write. */
  readonly asks: { readonly read: readonly string[]; readonly write: readonly string[] };
}

/**
 * Where the answer stands: alone, after other requests of the same turn, or after an earlier answer
 * of this kind.
 */
export type RefusalPosition = "alone" | "rest" | "again";

/** A request that cannot be fulfilled. */
interface UnfulfilledRequest {
  readonly clause: string;
  readonly tool: Pick<Tool, "effect">;
}

interface RefusalContext {
  readonly templates: MissingCapabilityTemplates;
  readonly position: RefusalPosition;
  readonly random: Random;
}

export function renderMissingCapability(
  missing: MissingCapability,
  { clause, tool }: UnfulfilledRequest,
  { templates, position, random }: RefusalContext,
): string {
  if (missing.kind === "thing") {
    const { noun, mention } = missing;
    return random
      .pick(templates.thing)
      .replaceAll("{thing}", () => addressUser(mention))
      .replaceAll("{noun}", noun);
  }
  if (missing.kind === "rule") {
    const { because } = missing.rule;
    return random
      .pick(isRepeatable(clause) ? templates.forbidden.request : templates.forbidden.plain)
      .replace("{clause}", () => addressUser(clause))
      .replace("{because}", () => because)
      .replace("{Because}", () => capitalize(because));
  }
  if (isRepeatable(clause))
    return random
      .pick(position === "again" ? templates.again.request : templates.request)
      .replace("{clause}", () => addressUser(clause));
  const own = position === "alone" ? templates : templates[position];
  return random.pick(tool.effect === "read" ? own.question : own.deed);
}

// Renders the assistant's request for the user's confirmation.

export interface ConfirmationTexts {
  /** `{clause}` is the user's request in the assistant's words, `{Because}` the rule's reason. */
  readonly request: readonly string[];
  /** For requests that are not repeated. */
  readonly plain: readonly string[];
  /** The user's answers. */
  readonly agree: readonly string[];
}

/** The question about the requests of a turn; those that are only parts of sentences are undefined. */
export function renderConfirmation(
  because: string,
  clauses: readonly (string | undefined)[],
  texts: ConfirmationTexts,
  random: Random,
): string {
  const [clause] = clauses;
  const canRepeat = clauses.length === 1 && clause !== undefined && isRepeatable(clause);
  return random
    .pick(canRepeat ? texts.request : texts.plain)
    .replace("{clause}", () => addressUser(clause!))
    .replace("{Because}", () => capitalize(because));
}

// Repeats a user's clause in the assistant's words: "pay my bill" becomes "pay your bill".

/** Whether a clause reads well after "I can't" or "Shall I". */
const isRepeatable = (clause: string): boolean =>
  isRequest(clause) &&
  clause.length < maxRepeatedLength &&
  !/[,:;.!]( |$)/.test(removeAllMarks(clause));

/** Clauses of this length or more are not repeated in the answer. */
const maxRepeatedLength = 110;

/** Turns the user's first person into the assistant's second person, except in quotations. */
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

// Rewrites the message of a refused call in words for the user.

/**
 * Rewrites the message of a refusal: `card card_1 (Travel card) is frozen since 2026-03-09` becomes
 * `the Travel card is frozen since 9 March`.
 */
export function formatRefusal(message: string, now: string, random: Random): string {
  return tidyText(
    message
      .replaceAll(/\b(\w+) [a-z]+_\d+ \(([^)]{1,200})\)/g, (_, noun: string, label: string) =>
        noun === "place"
          ? label
          : label.toLowerCase().includes(noun)
            ? `the ${label}`
            : `the ${noun} ${label}`,
      )
      .replaceAll(/ \((?:booking )?[a-z]+_\d+\)/g, "")
      .replaceAll(/\b(?:(?:the|that|an?) )?(\w+) [a-z]+_\d+\b/g, "that $1")
      .replaceAll(/ <[\w.-]+@[\w.-]+>/g, "")
      .replaceAll(/\b\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?\b/g, it =>
        formatReplyValue(it, { now, random }),
      )
      .replaceAll(/\bat (?=\d{1,2} [A-Z][a-z]+(?: \d{4})? at \d)/g, "on ")
      .replaceAll(/\b\d{4}-\d{2}\b(?!-)/g, it => formatReplyValue(it, { now, random }))
      .replaceAll(/(?<![/.~"\w])[a-z]+(?:_[a-z]+)+\b(?![./])/g, it => it.replaceAll("_", " "))
      .replaceAll(/\b(the|that|a) the\b/g, "$1")
      .replaceAll(
        /(?<![\d.])\d+\.\d(?= (?:available|needed|left|euros?|owed|due|paid|to pay|more|in cash)\b)/g,
        "$&0",
      )
      .replaceAll(
        /(^|: )(calendar|card|account|invoice|order|lead|deal|project|channel|scene|store) (?=[A-Z])/g,
        "$1the $2 ",
      )
      .replaceAll(/\brepeats weekdays\b/g, "repeats on weekdays")
      .replaceAll(
        /\bthe user (is|was|has|does|goes|[a-z]+[^\Ws]s)\b/g,
        (_, verb: string) => `you ${secondPerson[verb] ?? verb.replace(/s$/, "")}`,
      )
      .replaceAll(/\bthe user\b/g, "you")
      .replaceAll(/\byou is\b/g, "you are")
      .replace(/[.;:]$/, ""),
  );
}

const secondPerson: Readonly<Record<string, string>> = {
  is: "are",
  was: "were",
  has: "have",
  does: "do",
  goes: "go",
};

/** Whether a reason can stand after "I am afraid": the part before a colon has to have a verb. */
export const isFullClause = (reason: string): boolean =>
  /\b(is|are|was|were|has|have|had|may|can|cannot|could|will|would|must|does|do|did|takes?|allows?|belongs?|hosts?|exists?|repeats?|contains?|needs?|sells?|owes?|goes|stays?|leads?|plans?|agrees?|uses?|works?|holds?|looks?|comes|trades?|opens?|closes|invites|deals?|starts?|ends?|clash(es)?|costs?|ran|left)\b/.test(
    reason.split(": ")[0]!,
  );
