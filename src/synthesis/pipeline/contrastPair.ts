/**
 * Specifies contrast pairs: a normal task, and a task whose first turn says the same, or the same
 * without a value, and in which nothing can be called.
 */
import type { Random } from "../../environment/random.ts";
import type { AbstentionSort } from "../user/abstentionTurn.ts";
import type { AttemptTarget, TaskSpecification } from "./taskSpecification.ts";
import type { Synthesizer } from "./synthesizer.ts";

export interface PairSpecification {
  /** The normal task. */
  readonly partner: TaskSpecification;
  readonly contrast: TaskSpecification;
}

/** Draws of a normal task that needs one server only. */
const maxDraws = 8;

/** Specifies both tasks of a pair, or returns undefined if no chain could be drawn. */
export function specifyPair(
  { n, home }: AttemptTarget,
  abstention: AbstentionSort,
  random: Random,
  synthesizer: Synthesizer,
): PairSpecification | undefined {
  for (let draw = 0; draw < maxDraws; draw++) {
    const drawn = synthesizer.specifyTask({ n, home, kind: "normal" }, random);
    if (!drawn) return undefined;
    if (drawn.crossServerPlan) continue;
    // what is refused for now would not contrast with what cannot be done
    const { policy: _, recovery: __, ...plain } = drawn;
    const { id, info } = plain;
    const partner: TaskSpecification = {
      ...plain,
      id: `${id}-call`,
      pair: id,
      info: info === "missing" ? "complete" : info,
      ...(abstention === "question" ? { addsValue: true } : {}),
    };
    const contrast: TaskSpecification = {
      ...partner,
      id,
      kind: "abstain",
      info: "complete",
      chain: [],
      isOneTurn: true,
      abstention,
    };
    return { partner, contrast };
  }
  return undefined;
}
