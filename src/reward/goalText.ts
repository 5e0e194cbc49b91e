/** Says in words what met the look-ups of a goal, or what they lack. Calls count from 1. */
import type { Fact } from "../trajectory/task.ts";
import type { AttemptCalls } from "./attemptCalls.ts";
import { formatCall } from "../trajectory/transcript.ts";
import { shorten } from "./entityNames.ts";
import { shows, type AskedCall } from "./resolveAnswers.ts";
import type { FeedResolution } from "./resolveFeeds.ts";

export function describeAnswer(calls: readonly number[], hasCallOfItsOwn: boolean): string {
  const by = `answered by ${listCalls(calls)}`;
  return hasCallOfItsOwn
    ? by
    : `${by}, which ${calls.length === 1 ? "serves" : "serve"} other goals`;
}

export function describeFeed(resolution: FeedResolution): string {
  switch (resolution.kind) {
    case "shown":
      return `what later goals take was shown by ${listCalls(resolution.calls)}`;
    case "known":
      return "what later goals take was known already, or none took it";
    case "missing":
      return `nothing showed ${resolution.values.join(", ")} before it was needed`;
    default:
      return resolution satisfies never;
  }
}

/** Says of a fact why it is missing: nothing showed it, or too late, or with another value. */
export function describeMissingFact(fact: Fact, asked: AskedCall, attempt: AttemptCalls): string {
  const { goalCall } = asked;
  const { entity, of = [], field, value } = fact;
  const { names } = attempt;
  const successes = attempt.listSuccesses();
  const isLate = successes.some(it => shows(attempt, it, fact, asked));
  const call = shorten(formatCall(goalCall.name, goalCall.arguments), 160);
  if (entity === undefined) {
    if (isLate) return `${call} was called too late`;
    if (field === undefined) return `${call} was not called`;
    return field === "count"
      ? `the number of results of ${call} was not looked up`
      : `the ${formatField(field)} was not looked up (${call} shows it)`;
  }
  const nameOf = (id: string) => names.name(id) ?? id;
  const known = names.name(entity);
  const owners = of.map(nameOf).join(" and ");
  // a value that identifies no entity is a row of a list
  const row = known ?? `the value ${JSON.stringify(entity)}`;
  const what =
    field === undefined
      ? `${row}${owners && `${known === undefined ? " for" : " of"} ${owners}`}`
      : `the ${formatField(field)} of ${nameOf(entity)}`;
  if (isLate) return `${what} was looked up too late`;
  const other =
    field === undefined
      ? undefined
      : successes.flatMap(it => attempt.getIndex(it).fields.get(entity)?.get(field) ?? []).at(-1);
  return other === undefined
    ? `${what} was not looked up (${goalCall.name} shows it)`
    : `${what} was looked up as ${names.formatValue(other)}, should be ${names.formatValue(value!)}`;
}

/** A field in words; one that is no noun is quoted. */
const formatField = (field: string): string =>
  /^(?:at|by|for|from|in|of|on|to|until|what|when|where|who)$/.test(field)
    ? `"${field}"`
    : field.replaceAll("_", " ");

const listCalls = (calls: readonly number[]): string =>
  `${calls.length === 1 ? "call" : "calls"} ${calls.map(it => it + 1).join(", ")}`;
