/**
 * How many tasks of each kind there are among so many, and on which server each is made: exact
 * counts, spread evenly, the same for the same count. Knows kinds and names, not how a task is
 * made.
 */
import type { Task } from "../../trajectory/task.ts";

export type TaskKind = Task["kind"];

/**
 * Weights of talks in several turns, of those with a missing tool, and of those in which nothing is
 * to be called; and the share of the first that nothing on offer can do.
 */
export interface Mixture {
  readonly multi: number;
  readonly clarify: number;
  readonly abstain: number;
  readonly irrelevant: number;
}

export type Composition = Readonly<Record<TaskKind, number>>;

/** Whole numbers that add up to n, by largest remainder. */
export function apportion(weights: readonly number[], n: number): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const counts = weights.map(it => Math.floor((n * it) / sum));
  // what is left of the division, without its rounding
  const remainders = weights.map((it, i) => n * it - counts[i]! * sum);
  const order = weights.map((_, i) => i).sort((a, b) => remainders[b]! - remainders[a]! || a - b);
  const left = n - counts.reduce((a, b) => a + b, 0);
  for (const i of order.slice(0, left)) counts[i]!++;
  return counts;
}

/** The number of tasks of each kind among n. */
export function computeComposition(
  { multi, clarify, abstain, irrelevant }: Mixture,
  n: number,
): Composition {
  const [talks, missing, idle] = apportion([multi, clarify, abstain], n) as [
    number,
    number,
    number,
  ];
  const [normal, foreign] = apportion([1 - irrelevant, irrelevant], talks) as [number, number];
  return { normal, irrelevant: foreign, clarify: missing, abstain: idle };
}

/** What one place in the file is for. */
export interface TaskSlot {
  readonly kind: TaskKind;
  /** Where it is best made, and where else if that comes to nothing. */
  readonly servers: readonly string[];
}

/**
 * The places of n tasks in order, or of endlessly many: kinds alternate as their numbers have it,
 * and servers within each kind. Told which server took each place.
 */
export function* planSlots(
  mixture: Mixture,
  n: number,
  servers: readonly string[],
): Generator<TaskSlot, void, string> {
  const kinds: readonly TaskKind[] = ["normal", "irrelevant", "clarify", "abstain"];
  const { multi, clarify, abstain, irrelevant } = mixture;
  const weights = {
    normal: multi * (1 - irrelevant),
    irrelevant: multi * irrelevant,
    clarify,
    abstain,
  };
  const wanted = Number.isFinite(n)
    ? computeComposition(mixture, n)
    : { normal: Infinity, irrelevant: Infinity, clarify: Infinity, abstain: Infinity };
  const given = { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 };
  const taken = new Map(
    servers.map(it => [it, { all: 0, normal: 0, irrelevant: 0, clarify: 0, abstain: 0 }]),
  );
  for (let i = 0; i < n; i++) {
    const open = kinds.filter(it => weights[it] > 0 && given[it] < wanted[it]);
    const kind = open.reduce((a, b) =>
      (given[b] + 0.5) / weights[b] < (given[a] + 0.5) / weights[a] ? b : a,
    );
    const by = (it: string) => taken.get(it)!;
    const order = servers.toSorted((a, b) => by(a)[kind] - by(b)[kind] || by(a).all - by(b).all);
    given[kind]++;
    const server = by(yield { kind, servers: order });
    server[kind]++;
    server.all++;
  }
}
