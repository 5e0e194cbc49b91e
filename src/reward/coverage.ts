/**
 * R_coverage, equation (1): the share of goals that were matched after all of their direct
 * predecessors.
 */
import { getPosition, type Alignment } from "./align.ts";

/** R_coverage = (1/|G|) Σ m(g)·o(g), o(g) = Π over direct predecessors of 1[μ(j) < μ(g)]. */
export function scoreCoverage({ positions, broken }: Alignment): number {
  const covered = positions.filter(
    (callPositions, g) => getPosition(callPositions) !== undefined && broken[g]!.length === 0,
  );
  return covered.length / positions.length;
}
