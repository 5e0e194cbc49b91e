/** A reference implementation of the reward, as close to the paper's equations as possible. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../src/environment/json.ts";
import type { ScoredGoal, ScoredCall } from "../../src/reward/align.ts";

/**
 * Equations (1) to (5) with the paper's weights, α and β. `strict`: explicit edges ask for an
 * earlier message.
 */
export function referenceTotal(
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
  strict: boolean,
): number {
  if (goals.length === 0) return calls.length === 0 ? 1 : 0;
  const n = calls.length;
  if (n === 0) return 0;

  const level = { ok: 3, refused: 2, "bad-arguments": 1, "unknown-tool": 0 };
  const validity =
    calls.reduce((sum, it) => sum + (it.name === "" ? 0 : level[it.outcome.kind] / 3), 0) / n;

  const at = match(goals, calls, strict);
  const covered = goals.filter(
    (_, g) =>
      mu(at[g]!) !== Infinity &&
      goals[g]!.after.every(edge => isKept(at, calls, edge, mu(at[g]!), strict)),
  );
  const coverage = covered.length / goals.length;

  const wanted = goals.flatMap(it => it.calls);
  const budget = wanted.length + Math.ceil(0.5 * wanted.length);
  const efficiency = (-0.5 * Math.max(0, n - budget)) / budget;

  const name = calls.filter(it => wanted.some(want => want.name === it.name)).length / n;

  const shares = goals.flatMap(({ calls: parts }, g) =>
    parts.flatMap((want, p) =>
      at[g]![p] === Infinity ? [] : [share(want.arguments, calls[at[g]![p]!]!)],
    ),
  );
  const argument =
    shares.length === 0 ? 0 : shares.reduce((sum, it) => sum + it, 0) / shares.length;

  return 0.5 * validity + 0.5 * coverage + 0.15 * efficiency + 0.2 * name + 0.1 * argument;
}

/**
 * Positions by goal and part, Infinity where nothing serves. Goals in order; the best of all free
 * calls by a sort over three keys.
 */
function match(
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
  strict: boolean,
): number[][] {
  const at: number[][] = [];
  for (const [g, goal] of goals.entries()) {
    at[g] = [];
    for (const want of goal.calls) {
      const free = [...calls.keys()].filter(i => !at.flat().includes(i) && fits(want, calls[i]!));
      const ranked = free.map(i => ({
        i,
        kept: goal.after.every(edge => isKept(at, calls, edge, i, strict)) ? 1 : 0,
        share: share(want.arguments, calls[i]!),
      }));
      ranked.sort((a, b) => b.kept - a.kept || b.share - a.share || a.i - b.i);
      at[g].push(ranked[0]?.i ?? Infinity);
    }
  }
  return at;
}

const fits = (want: { name: string; arguments: JsonObject }, call: ScoredCall) =>
  call.name === want.name &&
  Object.keys(want.arguments).every(key => Object.keys(call.arguments as JsonObject).includes(key));

const share = (want: JsonObject, call: ScoredCall) => {
  const keys = Object.keys(want);
  return keys.length === 0
    ? 1
    : keys.filter(key => isDeepStrictEqual(want[key], (call.arguments as JsonObject)[key])).length /
        keys.length;
};

const mu = (served: readonly number[]) => Math.max(...served);

function isKept(
  at: readonly number[][],
  calls: readonly ScoredCall[],
  edge: ScoredGoal["after"][number],
  position: number,
  strict: boolean,
): boolean {
  const served = at[edge.goal]!;
  if (mu(served) === Infinity || mu(served) >= position) return false;
  const message = (i: number) => calls[i]!.message ?? i;
  return !strict || edge.kind === "implicit" || served.every(it => message(it) < message(position));
}
