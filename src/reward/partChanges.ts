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

/** The parts whose value changed, with their scores. */
export const listPartChanges = (before: Breakdown, after: Breakdown): readonly PartChange[] => {
  const partsBefore: Readonly<Record<string, Part>> = { ...before.parts, ...before.extras };
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
