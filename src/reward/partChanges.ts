/** Compares two breakdowns of one attempt under one profile, such as those of two prefixes. */
import type { Breakdown, Part } from "./breakdown.ts";

/** A part that has another value. */
export interface PartChange {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  /** The difference of the values, with the weight. */
  readonly change: number;
}

/**
 * What a breakdown is compared with. Before the first call, the means over calls have no value: the
 * first call is compared with one that is valid, named by a goal and has the goal's arguments.
 */
export function createBaseline(before: Breakdown, after: Breakdown): Breakdown {
  if (before.n > 0 || after.n === 0 || after.rule === "abstain") return before;
  const { validity, name, argument } = before.parts;
  const fill = ({ weight }: Part): Part => ({ score: 1, weight, value: weight });
  return {
    ...before,
    parts: {
      ...before.parts,
      validity: fill(validity),
      name: fill(name),
      argument: fill(argument),
    },
    total: before.total + validity.weight + name.weight + argument.weight,
  };
}

/** The parts whose value changed, with their scores. */
export const listPartChanges = (before: Breakdown, after: Breakdown): readonly PartChange[] => {
  const { parts, extras } = createBaseline(before, after);
  const partsBefore: Readonly<Record<string, Part>> = { ...parts, ...extras };
  return Object.entries({ ...after.parts, ...after.extras }).flatMap(([name, part]) => {
    const own = partsBefore[name];
    const change = part.value - (own?.value ?? 0);
    return change === 0 ? [] : [{ name, before: own?.score ?? 0, after: part.score, change }];
  });
};

/** A change of a reward with its sign. */
export function formatChange(change: number): string {
  const digits = Math.abs(change).toFixed(4);
  if (Number(digits) === 0) return "±0";
  return `${change < 0 ? "−" : "+"}${digits}`;
}

export const formatPartChange = ({ name, before, after, change }: PartChange): string =>
  `${name} ${before.toFixed(4)} → ${after.toFixed(4)} (${formatChange(change)})`;
