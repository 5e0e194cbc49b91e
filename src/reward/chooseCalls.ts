/** Chooses the calls of an attempt that together show everything that a goal needs. */

/** One thing that must be shown. */
export interface Need<T> {
  readonly needed: T;
  readonly isShownBy: (call: number) => boolean;
}

export interface CallChoice<T> {
  readonly calls: readonly number[];
  /** What no call shows. */
  readonly missing: readonly T[];
}

/**
 * Chooses one call that shows everything, the one with the lowest rank, or else few calls: each
 * time the one that shows most of what is left. Among equals, the first candidate is chosen.
 */
export function chooseCalls<T>(
  needs: readonly Need<T>[],
  candidates: readonly number[],
  getRank: (call: number) => number,
): CallChoice<T> {
  const ranked = rankCalls(candidates, getRank);
  const whole = ranked.find(call => needs.every(it => it.isShownBy(call)));
  if (whole !== undefined) return { calls: [whole], missing: [] };
  const calls: number[] = [];
  let left = [...needs];
  for (;;) {
    const counts = ranked.map(call => left.filter(it => it.isShownBy(call)).length);
    const most = Math.max(0, ...counts);
    if (most === 0) break;
    const best = ranked[counts.indexOf(most)]!;
    calls.push(best);
    left = left.filter(it => !it.isShownBy(best));
  }
  return { calls: calls.sort((a, b) => a - b), missing: left.map(it => it.needed) };
}

/** The calls by rank, among equals in their order. */
function rankCalls(calls: readonly number[], getRank: (call: number) => number): number[] {
  const ranks = new Map(calls.map(it => [it, getRank(it)]));
  return calls.toSorted((a, b) => ranks.get(a)! - ranks.get(b)!);
}
