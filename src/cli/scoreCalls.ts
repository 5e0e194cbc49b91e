/**
 * Scoring from outside: a line with goals and calls in, a line with the parts out. Names are
 * opaque, and no server is needed.
 */
import { z } from "zod";
import type { Json, JsonObject } from "../environment/json.ts";
import { UserError } from "../userError.ts";
import type { ScoredGoal, ScoredCall } from "../reward/align.ts";
import { partNames, type PartName } from "../reward/breakdown.ts";
import type { Profile } from "../reward/profiles.ts";
import { scoreCalls } from "../reward/reward.ts";

const kind = z.enum(["explicit", "implicit"]);
// values are taken from the line itself: a record's copy would lose keys such as __proto__
const object = z.custom<JsonObject>(
  it => it !== null && typeof it === "object" && !Array.isArray(it),
  "must be an object",
);
const goal = z.object({
  calls: z
    .array(z.object({ name: z.string(), arguments: object, mask: z.array(z.string()).optional() }))
    .min(1),
  after: z
    .array(
      z.union(
        [z.int().min(0), z.object({ goal: z.int().min(0), kind: kind.optional() })],
        "must be indices, or {goal, kind}",
      ),
    )
    .optional(),
});
const call = z.object({
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
const attempt = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  goals: z.array(goal),
  calls: z.array(call),
});

type Id = { readonly id?: string | number };
export type ScoredLine = Id &
  (
    | ({ readonly rule: "tool"; readonly total: number } & Readonly<Record<PartName, number>>)
    | { readonly rule: "abstain"; readonly total: number }
    | { readonly rule?: never; readonly error: string }
  );

/** Scores one line. A line that cannot be scored answers with what is wrong with it. */
export function scoreLine(text: string, profile: Profile): ScoredLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { error: `not JSON (${(error as Error).message})` };
  }
  const id = idOf(json);
  const parsed = attempt.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return { ...id, error: `${issue.path.join(".") || "line"}: ${issue.message}` };
  }
  const { goals, calls } = parsed.data;
  const wrong = wrongEdge(goals);
  if (wrong) return { ...id, error: wrong };
  try {
    return { ...id, ...scored(goals, calls, profile) };
  } catch (error) {
    // comparing arguments goes as deep as they do
    if (error instanceof RangeError) return { ...id, error: "arguments are nested too deeply" };
    throw error;
  }
}

/** The profile as it is without a server, or a `UserError` where it needs one. */
export function checkCallsProfile(profile: Profile): Profile {
  if (profile.success === 0) return profile;
  throw new UserError(
    `profile ${profile.name} needs the final worlds, which calls alone do not give`,
    "score a tasks file, or use --profile paper",
  );
}

/** To six decimals, so that sums show no dust. */
export const roundScore = (it: number): number => Math.round(it * 1e6) / 1e6;

function scored(
  goals: z.infer<typeof goal>[],
  calls: z.infer<typeof call>[],
  profile: Profile,
): ScoredLine {
  const steps = goals.map((it): ScoredGoal => ({
    calls: it.calls,
    after: (it.after ?? []).map(edge =>
      typeof edge === "number"
        ? { goal: edge, kind: "implicit" }
        : { goal: edge.goal, kind: edge.kind ?? "implicit" },
    ),
  }));
  const made = calls.map(({ name = "", arguments: args = {}, outcome, message }): ScoredCall => ({
    name,
    arguments: args,
    outcome: { kind: outcome },
    message,
  }));
  const { rule, parts, total } = scoreCalls({ goals: steps, calls: made }, profile);
  if (rule === "abstain") return { rule, total };
  const numbers = Object.fromEntries(
    partNames.map(it => [it, roundScore(parts[it].score)]),
  ) as Record<PartName, number>;
  return { rule, ...numbers, total: roundScore(total) };
}

/** Goals stand in an order in which each comes after those it follows. */
function wrongEdge(goals: readonly z.infer<typeof goal>[]): string | undefined {
  for (const [g, { after = [] }] of goals.entries()) {
    const edge = after.map(it => (typeof it === "number" ? it : it.goal)).find(it => it >= g);
    if (edge !== undefined)
      return `goals.${g}.after: a goal can only follow goals before it, not ${edge}`;
  }
  return undefined;
}

function idOf(json: unknown): Id {
  const id = json !== null && typeof json === "object" ? (json as { id?: unknown }).id : undefined;
  return typeof id === "string" || typeof id === "number" ? { id } : {};
}
