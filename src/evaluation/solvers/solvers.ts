/** All solvers, in the order of tables. */
import {
  alternativeReader,
  asker,
  parallel,
  verifier,
  filterer,
  lister,
  pager,
  fullReader,
} from "./rightSolvers.ts";
import { confirmer, forger, lateWriter, repeater, undoer } from "./cheatingSolvers.ts";
import { askFirst, doubleChecker, earlyReader, looker, merger, reorderer } from "./orderSolvers.ts";
import { lazyMatcher } from "./lazyMatcher.ts";
import type { Solver } from "./solver.ts";
import {
  claimer,
  falsifier,
  okSayer,
  paraphraser,
  refusalSkipper,
  tellerOfEverything,
} from "./tellingSolvers.ts";
import {
  conditionIgnorer,
  everythingOnce,
  guesser,
  lazy,
  oneCall,
  oneWrongValue,
  ruleBreaker,
  skipper,
  firstPage,
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
  reorderer,
  lazy,
  skipper,
  oneWrongValue,
  conditionIgnorer,
  ruleBreaker,
  paraphraser,
  okSayer,
]);

/** The right ones first, then the wasteful ones, the wrong ones, and baselines. */
export const solvers: readonly Solver[] = Object.freeze([
  lister,
  filterer,
  pager,
  fullReader,
  alternativeReader,
  verifier,
  asker,
  parallel,
  earlyReader,
  reorderer,
  merger,
  askFirst,
  looker,
  paraphraser,
  doubleChecker,
  repeater,
  lazy,
  oneCall,
  guesser,
  skipper,
  oneWrongValue,
  firstPage,
  conditionIgnorer,
  ruleBreaker,
  everythingOnce,
  falsifier,
  okSayer,
  tellerOfEverything,
  claimer,
  confirmer,
  lateWriter,
  refusalSkipper,
  undoer,
  forger,
  lazyMatcher,
]);
