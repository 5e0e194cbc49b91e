/** All solvers, in the order of tables: the right ones first. */
import {
  alternativeReader,
  asker,
  parallel,
  verifier,
  filterer,
  lister,
  pager,
} from "./rightSolvers.ts";
import type { Solver } from "./solver.ts";
import {
  conditionIgnorer,
  everythingOnce,
  guesser,
  lazy,
  oneCall,
  oneWrongValue,
  ruleBreaker,
  skipper,
} from "./wrongSolvers.ts";

/**
 * The solvers that judge each task of a synthesis. The others decide differently on almost no task
 * that these accept, and calling a whole menu takes long.
 */
export const judges: readonly Solver[] = Object.freeze([
  lister,
  filterer,
  pager,
  alternativeReader,
  lazy,
  skipper,
  oneWrongValue,
  conditionIgnorer,
  ruleBreaker,
]);

export const solvers: readonly Solver[] = Object.freeze([
  lister,
  filterer,
  verifier,
  asker,
  parallel,
  pager,
  alternativeReader,
  lazy,
  guesser,
  skipper,
  oneWrongValue,
  conditionIgnorer,
  ruleBreaker,
  everythingOnce,
  oneCall,
]);
