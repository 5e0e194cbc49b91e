/**
 * Decides in which tasks the assistant has to recover from something, and from what: by the shares,
 * and more often what has been rare so far, because not every conversation has a place for it.
 */
import type { Random } from "../../environment/random.ts";
import type { Task } from "../../trajectory/task.ts";
import { recoverySorts, type RecoverySort } from "../user/intentRecovery.ts";

/** What part of the recoveries should be of which sort. */
const shares: Readonly<Record<RecoverySort, number>> = {
  repair: 0.35,
  hint: 0.25,
  ambiguous: 0.2,
  page: 0.1,
  stale: 0.1,
};

/** With fewer tasks than this, what has been counted is not used. */
const minTasks = 30;

/**
 * How much more often than its share a recovery is tried, because some tasks cannot have one, and
 * how strongly a deficit makes it more frequent.
 */
const odds = { surplus: 10, gain: 40 };

/** Counts of tasks: all, and those that take a recovery of a sort. */
export class RecoveryCounts {
  #total = 0;
  readonly #bySort = new Map<RecoverySort, number>();

  record({ knobs }: Pick<Task, "knobs">): void {
    this.#total++;
    const sort = recoverySorts.find(it => it === knobs["recovery"]);
    if (sort) this.#bySort.set(sort, this.count(sort) + 1);
  }

  get total(): number {
    return this.#total;
  }

  count(sort: RecoverySort): number {
    return this.#bySort.get(sort) ?? 0;
  }

  /** The share of the tasks that take any recovery. */
  get share(): number {
    return this.#total === 0
      ? 0
      : [...this.#bySort.values()].reduce((a, b) => a + b, 0) / this.#total;
  }
}

/** The sorts to try in a task, the one that is most wanted first; nothing for most tasks. */
export function drawRecovery(
  share: number,
  counts: RecoveryCounts,
  random: Random,
): { readonly recovery?: readonly RecoverySort[] } {
  if (share === 0) return {};
  const deficit = counts.total < minTasks ? 0 : share - counts.share;
  if (!random.boolean(Math.min(1, Math.max(0, odds.surplus * share + odds.gain * deficit))))
    return {};
  const getRate = (it: RecoverySort) => (counts.count(it) + random.next()) / shares[it];
  const rates = new Map(recoverySorts.map(it => [it, getRate(it)]));
  return { recovery: recoverySorts.toSorted((a, b) => rates.get(a)! - rates.get(b)!) };
}
