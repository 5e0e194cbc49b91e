/**
 * Computes how many tasks of each kind a synthesis makes, and plans the kind and the server of each
 * task. Counts are exact, kinds and servers are spread evenly, and the same input gives the same
 * plan.
 */
import type { Task } from "../../trajectory/task.ts";

export type TaskKind = Task["kind"];

/** The shares of the kinds of tasks. */
export interface Mixture {
  /** Weight of conversations of several turns. */
  readonly multi: number;
  /** Weight of conversations with a missing tool. */
  readonly clarify: number;
  /** Weight of conversations in which no tool should be called. */
  readonly abstain: number;
  /** Share of the conversations of several turns that no tool on the menu can serve, 0 to 1. */
  readonly irrelevant: number;
}

export type Composition = Readonly<Record<TaskKind, number>>;

/** Divides n into whole numbers in proportion to weights, by the largest remainder method. */
export function apportion(weights: readonly number[], n: number): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const counts = weights.map(it => Math.floor((n * it) / sum));
  // remainders times the sum, which avoids a rounding error
  const remainders = weights.map((it, i) => n * it - counts[i]! * sum);
  const order = weights.map((_, i) => i).sort((a, b) => remainders[b]! - remainders[a]! || a - b);
  const left = n - counts.reduce((a, b) => a + b, 0);
  for (const i of order.slice(0, left)) counts[i]!++;
  return counts;
}

/** Computes the number of tasks of each kind among n. */
export function computeComposition(
  { multi, clarify, abstain, irrelevant }: Mixture,
  n: number,
): Composition {
  const [multiCount, clarifyCount, abstainCount] = apportion([multi, clarify, abstain], n) as [
    number,
    number,
    number,
  ];
  const [normalCount, irrelevantCount] = apportion([1 - irrelevant, irrelevant], multiCount) as [
    number,
    number,
  ];
  return {
    normal: normalCount,
    irrelevant: irrelevantCount,
    clarify: clarifyCount,
    abstain: abstainCount,
  };
}

/** The kind and the possible servers of one task in the file. */
export interface TaskSlot {
  readonly kind: TaskKind;
  /** Names of servers in order of preference: the next one is used if the ones before fail. */
  readonly servers: readonly string[];
}

const kinds: readonly TaskKind[] = ["normal", "irrelevant", "clarify", "abstain"];

/**
 * Yields the slots of n tasks in order; n may be infinite. Kinds alternate in proportion to their
 * counts, and servers alternate within each kind. Each `next` call takes the name of the server
 * that was used for the slot before.
 */
export function* planSlots(
  mixture: Mixture,
  n: number,
  servers: readonly string[],
): Generator<TaskSlot, void, string> {
  const { multi, clarify, abstain, irrelevant } = mixture;
  const weights = {
    normal: multi * (1 - irrelevant),
    irrelevant: multi * irrelevant,
    clarify,
    abstain,
  };
  const totals = Number.isFinite(n)
    ? computeComposition(mixture, n)
    : { normal: Infinity, irrelevant: Infinity, clarify: Infinity, abstain: Infinity };
  const counts = { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 };
  const countsByServer = new Map(
    servers.map(it => [it, { all: 0, normal: 0, irrelevant: 0, clarify: 0, abstain: 0 }]),
  );
  const getCounts = (server: string) => countsByServer.get(server)!;
  for (let i = 0; i < n; i++) {
    const openKinds = kinds.filter(it => weights[it] > 0 && counts[it] < totals[it]);
    const kind = openKinds.reduce((a, b) =>
      (counts[b] + 0.5) / weights[b] < (counts[a] + 0.5) / weights[a] ? b : a,
    );
    const order = servers.toSorted(
      (a, b) => getCounts(a)[kind] - getCounts(b)[kind] || getCounts(a).all - getCounts(b).all,
    );
    counts[kind]++;
    const usedCounts = getCounts(yield { kind, servers: order });
    usedCounts[kind]++;
    usedCounts.all++;
  }
}
