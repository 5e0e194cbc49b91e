/**
 * The rules of a task's policy: what the system message says, and a condition on calls that can be
 * checked. A rule forbids such calls, or demands that the user confirms them first.
 */
import { z } from "zod";
import { getWeekdayName, weekdays } from "../environment/time.ts";
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import type { Tool } from "../environment/server.ts";
import { isAbout, type AgreedQuestion } from "./confirmation.ts";
import type { ShownResult } from "./knowledge.ts";
import { startsTurn, type CallEvent, type Event, type Trajectory } from "./trajectory.ts";

const timeOfDaySchema = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

/** A condition on one argument. A call without the argument does not meet it. */
const conditionSchema = z.union([
  /** A number above it, or a list with more items. */
  z.strictObject({ argument: z.string(), above: z.number() }),
  /** A time whose hour and minute are before the first or after the second. */
  z.strictObject({
    argument: z.string(),
    outsideHours: z.tuple([timeOfDaySchema, timeOfDaySchema]),
  }),
  /** A time or date on one of these days of the week. */
  z.strictObject({ argument: z.string(), onDays: z.array(z.enum(weekdays)).min(1) }),
  z.strictObject({
    argument: z.string(),
    is: z.array(z.union([z.string(), z.number(), z.boolean()])).min(1),
  }),
]);

export const taskRuleSchema = z.strictObject({
  id: z.string(),
  /** As the system message says it. */
  text: z.string(),
  /** The reason that the assistant gives, as a clause. */
  because: z.string(),
  /** Full names of the tools that it is about. */
  tools: z.array(z.string()).min(1),
  /** Which calls of these tools; all if absent. */
  if: conditionSchema.optional(),
  /** `confirm`: the user has to agree before the call; `never`: the call must not be made. */
  demands: z.enum(["confirm", "never"]),
});

/** The rules that hold in a task. */
export const taskPolicySchema = z.strictObject({ rules: z.array(taskRuleSchema).min(1) });

export type RuleCondition = z.infer<typeof conditionSchema>;
export type TaskRule = z.infer<typeof taskRuleSchema>;
export type TaskPolicy = z.infer<typeof taskPolicySchema>;

/** A call as rules see it. */
interface RuledCall {
  readonly name: string;
  readonly arguments: Json;
}

/** Whether a rule is about a call. */
export const appliesTo = (rule: TaskRule, { name, arguments: args }: RuledCall): boolean =>
  rule.tools.includes(name) && (rule.if === undefined || meets(rule.if, args));

function meets(condition: RuleCondition, args: Json): boolean {
  const { argument } = condition;
  if (!isJsonObject(args) || !Object.hasOwn(args, argument)) return false;
  const value = args[argument]!;
  if ("above" in condition)
    return (Array.isArray(value) ? value.length : Number(value)) > condition.above;
  if ("is" in condition) return condition.is.some(it => it === value);
  if (typeof value !== "string") return false;
  if ("onDays" in condition)
    return /^\d{4}-\d\d-\d\d/.test(value) && condition.onDays.includes(getWeekdayName(value));
  const time = /T(\d\d:\d\d)/.exec(value)?.[1] ?? /^(\d\d:\d\d)/.exec(value)?.[1];
  const [from, to] = condition.outsideHours;
  return time !== undefined && (time < from || time > to);
}

/** Whether a user's answer agrees. */
export const isAgreement = (text: string): boolean =>
  /^(yes|yeah|yep|sure|ok|okay|go ahead|please do|do it|that's right)\b/i.test(text.trim());

/** A call that breaks a rule, by its position among the calls. */
export interface BrokenRule {
  readonly rule: TaskRule;
  readonly call: CallEvent;
  readonly index: number;
}

/**
 * The calls of an attempt that break a rule, refused ones too. A confirmed call is one before which
 * the user, in the same turn, has agreed to a question about it. What the teacher itself asked for
 * a confirmation is such a question, whatever it names.
 */
export function findBrokenRules(
  {
    policy,
    trajectory: taught,
  }: {
    readonly policy?: TaskPolicy | undefined;
    readonly trajectory: Pick<Trajectory, "events">;
  },
  events: readonly Event[],
  tools: ReadonlyMap<string, Tool>,
): readonly BrokenRule[] {
  if (!policy) return [];
  const broken: BrokenRule[] = [];
  const taughtQuestions = new Set(listAgreedQuestions(taught.events).map(it => it.text));
  const questions = listAgreedQuestions(events);
  let start = 0;
  let index = -1;
  for (const [at, event] of events.entries()) {
    if (startsTurn(event)) start = at;
    if (event.kind !== "call") continue;
    index++;
    const isConfirmed = ({ text, because }: TaskRule): boolean =>
      questions.some(
        it =>
          it.answer > start &&
          it.answer < at &&
          (taughtQuestions.has(it.text) ||
            isAbout(
              it,
              {
                name: event.name,
                arguments: event.arguments,
                rule: `${text} ${because}`,
              },
              tools,
            )),
      );
    const rule = policy.rules.find(
      it => appliesTo(it, event) && !(it.demands === "confirm" && isConfirmed(it)),
    );
    if (rule) broken.push({ rule, call: event, index });
  }
  return broken;
}

/** The messages to which the user agreed; `answer` is the position of the event that says so. */
function listAgreedQuestions(
  events: readonly Event[],
): readonly (AgreedQuestion & { readonly answer: number })[] {
  const questions: (AgreedQuestion & { readonly answer: number })[] = [];
  const shown: ShownResult[] = [];
  let request = "";
  let message = "";
  for (const [answer, event] of events.entries()) {
    if (event.kind === "assistant") message = event.text;
    if (event.kind === "call" && event.outcome.kind === "ok")
      shown.push({
        name: event.name,
        arguments: event.arguments as JsonObject,
        value: event.outcome.value,
      });
    if (event.kind !== "user") continue;
    if (event.answers && isAgreement(event.text))
      questions.push({ text: message, request, shown: shown.slice(), answer });
    request = event.answers ? `${request}\n${event.text}` : event.text;
  }
  return questions;
}

/** Why a call breaks a rule, in one line. */
export const describeBrokenRule = ({ rule, call, index }: BrokenRule): string =>
  `call ${index + 1}, ${call.name}, breaks the rule "${rule.id}": ${
    rule.demands === "never" ? "it is forbidden" : "the user did not confirm it"
  } (${rule.text})`;
