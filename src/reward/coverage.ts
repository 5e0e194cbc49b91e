/**
 * R_coverage, equation (1): the share of goals that were matched after every goal they follow.
 * Order counts one edge at a time.
 */
import { getPosition, type Alignment } from "./align.ts";

/** R_coverage = (1/|G|) Σ m(g)·o(g), o(g) = Π over direct predecessors of 1[μ(j) < μ(g)]. */
export function scoreCoverage({ positions, broken }: Alignment): number {
  const kept = positions.filter(
    (served, g) => getPosition(served) !== undefined && broken[g]!.length === 0,
  );
  return kept.length / positions.length;
}
