/**
 * Describes a breakdown as text: a note on each call, lines for the totals, and what differs from
 * another breakdown of the attempt, such as that of a prefix. Goals count from 1.
 */
import {
  isWrongArgument,
  partNames,
  type AnswerEvidence,
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
  if (it.expected) return "refused, as the teacher's was: right to try";
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

/** Describes how a fact was told, in one line. */
export const describeAnswer = ({ subject, wanted, isTold, note }: AnswerEvidence): string =>
  isTold ? `✓ told ${subject}: ${wanted}` : `✗ ${subject}: ${note ?? "not told"}`;

/** Describes the total, the parts, the goals that do not count, and what was to be told. */
export function describeTotals({
  profile,
  rule,
  parts,
  extras,
  total,
  n,
  budget,
  goals,
  answers = [],
}: Breakdown): readonly string[] {
  const told = answers.map(it => `    ${describeAnswer(it)}`);
  if (rule === "abstain") {
    const condition = `1 for no call${answers.length > 0 ? " and nothing wrong said" : ""}${total > 0 && total < 1 ? ", a look-up costs 0.05" : ""}`;
    return [
      `reward by ${profile}: ${formatNumber(total)} (no goals: ${condition}, and there ${n === 1 ? "was 1" : `were ${n}`})`,
      ...told,
    ];
  }
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
    ...told,
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

/** A part that has another value. */
interface PartChange {
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
  // no call has failed, and none has served a goal: the means still have no value
  const isOpen = after.calls.every(it => it.validity === 1) && after.parts.validity.score === 0;
  if (isOpen) return before;
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
export function formatChange(change: number, decimals = 3): string {
  const digits = Math.abs(change).toFixed(decimals);
  if (Number(digits) === 0) return "±0";
  return `${change < 0 ? "−" : "+"}${digits}`;
}

export const formatPartChange = (
  { name, before, after, change }: PartChange,
  decimals = 3,
): string =>
  `${name} ${before.toFixed(decimals)} → ${after.toFixed(decimals)} (${formatChange(change, decimals)})`;
