/**
 * Scores attempts of other programs: reads a line with goals and calls, and returns a line with the
 * parts of the reward. Names of tools are opaque, and no server is needed.
 */
import { z } from "zod";
import type { Json, JsonObject } from "../environment/json.ts";
import { describeTooDeep, isTooDeep } from "../storage/jsonDepth.ts";
import { UserError } from "../userError.ts";
import type { ScoredGoal, ScoredCall } from "../reward/align.ts";
import { partNames, type PartName } from "../reward/breakdown.ts";
import type { Profile } from "../reward/profiles.ts";
import { scoreCalls } from "../reward/reward.ts";

const edgeKind = z.enum(["explicit", "implicit"]);
// z.record would copy the object and lose keys such as __proto__
const jsonObject = z.custom<JsonObject>(
  it => it !== null && typeof it === "object" && !Array.isArray(it),
  "must be an object",
);
const goalSchema = z.object({
  calls: z
    .array(
      z.object({ name: z.string(), arguments: jsonObject, mask: z.array(z.string()).optional() }),
    )
    .min(1),
  after: z
    .array(
      z.union(
        [z.int().min(0), z.object({ goal: z.int().min(0), kind: edgeKind.optional() })],
        "must be indices, or {goal, kind}",
      ),
    )
    .optional(),
});
const callSchema = z.object({
  name: z.string().optional(),
  arguments: z.custom<Json>(() => true).optional(),
  outcome: z.enum(["ok", "refused", "bad-arguments", "unknown-tool"], {
    error: ({ input }) =>
      input === "broken"
        ? "an attempt with a broken call is never scored"
        : "must be ok, refused, bad-arguments or unknown-tool",
  }),
  message: z.int().min(0).optional(),
});
const attemptSchema = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  goals: z.array(goalSchema),
  calls: z.array(callSchema),
});

type Id = { readonly id?: string | number };
export type ScoredLine = Id &
  (
    | ({ readonly rule: "tool"; readonly total: number } & Readonly<Record<PartName, number>>)
    | { readonly rule: "abstain"; readonly total: number }
    | { readonly rule?: never; readonly error: string }
  );

/** Scores one line. For a line that cannot be scored, returns what is wrong with it. */
export function scoreLine(text: string, profile: Profile): ScoredLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { error: `not JSON (${(error as Error).message})` };
  }
  const id = readId(json);
  if (isTooDeep(json, "document"))
    return { ...id, error: `the line is ${describeTooDeep("document")}` };
  const parsed = attemptSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return { ...id, error: `${issue.path.join(".") || "line"}: ${issue.message}` };
  }
  const { goals, calls } = parsed.data;
  const error = findEdgeError(goals);
  return error ? { ...id, error } : { ...id, ...scoreGoalCalls(goals, calls, profile) };
}

/** Returns the profile. Throws a `UserError` for one that needs a server. */
export function checkCallsProfile(profile: Profile): Profile {
  if (profile.success === 0 && profile.formula === undefined) return profile;
  throw new UserError(
    `profile ${profile.name} needs tasks and their final worlds, which calls alone do not give`,
    "score a tasks file, or use --profile paper",
  );
}

/** Rounds to six decimals, which hides the rounding errors of sums. */
export const roundScore = (it: number): number => Math.round(it * 1e6) / 1e6;

function scoreGoalCalls(
  goals: z.infer<typeof goalSchema>[],
  calls: z.infer<typeof callSchema>[],
  profile: Profile,
): ScoredLine {
  const scoredGoals = goals.map((it): ScoredGoal => ({
    calls: it.calls,
    after: (it.after ?? []).map(edge =>
      typeof edge === "number"
        ? { goal: edge, kind: "implicit" }
        : { goal: edge.goal, kind: edge.kind ?? "implicit" },
    ),
  }));
  const scoredCalls = calls.map(
    ({ name = "", arguments: args = {}, outcome, message }): ScoredCall => ({
      name,
      arguments: args,
      outcome: { kind: outcome },
      message,
    }),
  );
  const { rule, parts, total } = scoreCalls({ goals: scoredGoals, calls: scoredCalls }, profile);
  if (rule === "abstain") return { rule, total };
  const scores = Object.fromEntries(
    partNames.map(it => [it, roundScore(parts[it].score)]),
  ) as Record<PartName, number>;
  return { rule, ...scores, total: roundScore(total) };
}

/** Finds an edge to a goal that does not come before: goals must be in topological order. */
function findEdgeError(goals: readonly z.infer<typeof goalSchema>[]): string | undefined {
  for (const [g, { after = [] }] of goals.entries()) {
    const edge = after.map(it => (typeof it === "number" ? it : it.goal)).find(it => it >= g);
    if (edge !== undefined)
      return `goals.${g}.after: a goal can only follow goals before it, not ${edge}`;
  }
  return undefined;
}

function readId(json: unknown): Id {
  const id = json !== null && typeof json === "object" ? (json as { id?: unknown }).id : undefined;
  return typeof id === "string" || typeof id === "number" ? { id } : {};
}
