/**
 * Describes a breakdown as text: a note on each call, and lines for the totals. Goals count from 1.
 */
import {
  isWrongArgument,
  partNames,
  type Breakdown,
  type CallEvidence,
  type GoalEvidence,
  type Part,
} from "./breakdown.ts";

/** Describes how a call was scored, in one line. */
export function describeCall({ rule, calls }: Breakdown, call: number): string | undefined {
  const it = calls[call];
  if (!it) return undefined;
  if (it.given) return "the teacher's, before the attempted turn: not scored";
  if (rule === "abstain") return "no call was wanted";
  const notes = [
    `valid ${formatValidity(it.validity)}`,
    it.serves
      ? `serves goal ${it.serves.goal + 1}`
      : it.named
        ? "named by a goal, serves none"
        : "beside the goals",
  ];
  if (it.serves && it.arguments.length > 0) notes.push(describeArguments(it));
  if (it.overBudget) notes.push("over the budget");
  return notes.join(" · ");
}

/** Describes the total, the parts, and the goals that do not count. */
export function describeTotals({
  profile,
  rule,
  parts,
  extras,
  total,
  n,
  budget,
  goals,
}: Breakdown): readonly string[] {
  if (rule === "abstain")
    return [
      `reward by ${profile}: ${formatNumber(total)} (no goals: 1 for no call, and there ${n === 1 ? "was 1" : `were ${n}`})`,
    ];
  const all = [
    ...partNames.map(it => [it as string, parts[it]] as const),
    ...Object.entries(extras),
  ];
  return [
    `reward by ${profile}: ${formatNumber(total)}`,
    ...all.map(
      ([name, it]) =>
        `    ${name.padEnd(10)} ${formatNumber(it.score).padStart(8)} × ${formatNumber(it.weight).padEnd(6)} = ${hasNoPenalty(name, it) ? "no penalty" : formatNumber(it.value)}`,
    ),
    `    ${n} calls, budget ${budget}`,
    ...goals.flatMap(it => describeGoal(it).map(note => `    goal ${it.goal + 1} ${note}`)),
  ];
}

const formatValidity = (validity: number) =>
  validity === 1 ? "1" : validity > 0.5 ? "⅔" : validity > 0 ? "⅓" : "0";

function describeArguments({ arguments: all }: CallEvidence): string {
  const compared = all.filter(it => !it.masked);
  const differences = compared
    .filter(isWrongArgument)
    .map(it => `${it.key} should be ${JSON.stringify(it.goal)}`);
  const share = `${compared.length - differences.length} of ${compared.length} arguments`;
  return differences.length === 0 ? share : `${share} (${differences.join(", ")})`;
}

function describeGoal({ matched, otherArguments, broken, notes = [] }: GoalEvidence): string[] {
  const order = `comes before ${broken.map(it => `goal ${it + 1}`).join(", ")}, which it should follow`;
  return [
    ...(matched ? [] : ["has no call"]),
    ...(otherArguments ? ["was called with other arguments"] : []),
    ...(broken.length > 0 ? [order] : []),
    ...notes,
  ];
}

/** Whether a part is a penalty that was not incurred; its score of 0 is the best one. */
export const hasNoPenalty = (name: string, { score }: Part): boolean =>
  name === "efficiency" && score === 0;

const formatNumber = (it: number) => String(Number(it.toFixed(4)));
