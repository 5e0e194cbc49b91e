/** Says in words what met the look-ups of a goal, or what they lack. Calls count from 1. */
import type { Fact } from "../trajectory/task.ts";
import type { AttemptCalls } from "./attemptCalls.ts";
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
  const successes = attempt.listSuccesses();
  const isLate = successes.some(it => shows(attempt, it, fact, asked));
  if (entity === undefined) {
    const call = `${goalCall.name} ${JSON.stringify(goalCall.arguments)}`;
    if (isLate) return `${call} was called too late`;
    if (field === undefined) return `no ${call}`;
    const what = field === "count" ? "how many there are" : `the ${formatField(field)}`;
    return `${what} was not looked up (no ${call})`;
  }
  const row = of.length === 0 ? entity : `${entity} of ${of.join(" and ")}`;
  const what = field === undefined ? row : `the ${formatField(field)} of ${entity}`;
  if (isLate) return `${what} was looked up too late`;
  const other =
    field === undefined
      ? undefined
      : successes.flatMap(it => attempt.getIndex(it).fields.get(entity)?.get(field) ?? []).at(-1);
  return other === undefined
    ? `${what} was not looked up`
    : `${what} was looked up as ${JSON.stringify(other)}, not ${JSON.stringify(value)}`;
}

const formatField = (field: string): string => field.replaceAll("_", " ");

const listCalls = (calls: readonly number[]): string =>
  `${calls.length === 1 ? "call" : "calls"} ${calls.map(it => it + 1).join(", ")}`;
