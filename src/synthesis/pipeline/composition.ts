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

const kinds: readonly TaskKind[] = ["normal", "irrelevant", "clarify", "abstain"];

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

/** The composition of a synthesis without an end. */
export const endless: Composition = {
  normal: Infinity,
  irrelevant: Infinity,
  clarify: Infinity,
  abstain: Infinity,
};

export const countTasks = (composition: Composition): number =>
  kinds.reduce((sum, it) => sum + composition[it], 0);

/**
 * Divides a composition into parts of nearly equal size: what is left of a kind goes to the next
 * part in turn.
 */
export function divideComposition(composition: Composition, parts: number): Composition[] {
  const result = Array.from({ length: parts }, () => ({ ...endless }));
  let next = 0;
  for (const kind of kinds) {
    const total = composition[kind];
    if (total === Infinity) continue;
    for (const it of result) it[kind] = Math.floor(total / parts);
    for (let left = total % parts; left > 0; left--) result[next++ % parts]![kind]++;
  }
  return result;
}

/** The kind and the possible servers of one task in the file. */
export interface TaskSlot {
  readonly kind: TaskKind;
  /** Names of servers in order of preference: the next one is used if the ones before fail. */
  readonly servers: readonly string[];
}

/**
 * Yields the slots of these numbers of tasks, which may be infinite, in order. Kinds alternate in
 * proportion to their counts, and servers alternate within each kind. Each `next` call takes the
 * name of the server that was used for the slot before.
 */
export function* planSlots(
  mixture: Mixture,
  totals: Composition,
  servers: readonly string[],
): Generator<TaskSlot, void, string> {
  const { multi, clarify, abstain, irrelevant } = mixture;
  const weights = {
    normal: multi * (1 - irrelevant),
    irrelevant: multi * irrelevant,
    clarify,
    abstain,
  };
  const counts = { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 };
  const countsByServer = new Map(
    servers.map(it => [it, { all: 0, normal: 0, irrelevant: 0, clarify: 0, abstain: 0 }]),
  );
  const getCounts = (server: string) => countsByServer.get(server)!;
  for (;;) {
    const openKinds = kinds.filter(it => weights[it] > 0 && counts[it] < totals[it]);
    if (openKinds.length === 0) return;
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
