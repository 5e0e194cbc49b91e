/**
 * Scores an attempt: the five parts of the paper's equation (5), each with its evidence, and the
 * success term of the profile. Scoring is a pure function.
 */
import { canonicalJson } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import { countGivenCalls } from "../trajectory/oneTurn.ts";
import { computeCallBudget, judgesAnswers } from "../trajectory/task.ts";
import { explainImport, listCalls, type Trajectory } from "../trajectory/trajectory.ts";
import {
  scoreAbstention,
  scoreCoverage,
  scoreEfficiency,
  scoreNames,
  listGoalNames,
  getCallValidity,
  scoreArguments,
  scoreRestraint,
  scoreServingNames,
  scoreServingValidity,
  scoreValidity,
} from "./parts.ts";
import {
  alignCalls,
  getPosition,
  type Alignment,
  type ScoredGoal,
  type ScoredCall,
} from "./align.ts";
import {
  isWrongArgument,
  partNames,
  type Breakdown,
  type CallEvidence,
  type GoalEvidence,
  type Part,
  type PartName,
} from "./breakdown.ts";
import { countUndoneWrites, isAcceptedWrite } from "./effects.ts";
import { applyFormula } from "./formula.ts";
import type { Profile } from "./profiles.ts";
import { keepGoals, resolveGoals, selectTurnGoals, type Resolution } from "./resolveGoals.ts";
import { findTeacherRefusals } from "./refusals.ts";
import { isAchieved } from "./success.ts";
import { judgeTold, type ToldJudgment } from "./told.ts";
import type { JsonSchema } from "../environment/server.ts";

/** The reason why an attempt is not scored: it ended by a fault that was not the policy's. */
export interface Unscorable {
  readonly unscorable: string;
}

export const isScored = (result: Breakdown | Unscorable): result is Breakdown => "total" in result;

/** The breakdown of an attempt, or why it has none. */
export const scoreAttempt = (attempt: Attempt, profile: Profile): Breakdown | Unscorable =>
  scoreCallsUntil(attempt, profile, undefined);

/**
 * The breakdown of an attempt, or with an `end` that of its first calls, as `prefixReward.ts`
 * defines it.
 */
export function scoreCallsUntil(
  attempt: Attempt,
  profile: Profile,
  end: number | undefined,
): Breakdown | Unscorable {
  const { task, tools, trajectory } = attempt;
  const unscorable = explainUnscorable(trajectory);
  if (unscorable !== undefined) return { unscorable };
  const allCalls = listScoredCalls(trajectory);
  const given = countGivenCalls(trajectory);
  const hasEnded = end === undefined;
  const calls = hasEnded ? allCalls : allCalls.slice(0, Math.max(given, end));
  const isLiteral = profile.goals === "literal";
  const resolution = isLiteral ? keepGoals(task.goals) : resolveGoals(attempt);
  const { turn } = trajectory.header;
  const breakdown = scoreResolved(
    selectTurnGoals(resolution, task, turn),
    {
      calls,
      given,
      isMet:
        hasEnded &&
        !isLiteral &&
        turn !== undefined &&
        calls.length === given &&
        isAchieved(attempt, profile),
      schemaOf: name => tools.get(name)?.inputSchema,
      conduct:
        profile.judgesConduct && judgesAnswers(task)
          ? createConduct(attempt, calls.length)
          : undefined,
      hasEnded,
    },
    profile,
  );
  if (profile.formula && breakdown.rule === "tool")
    return applyFormula(profile.formula, breakdown, attempt, {
      goals: selectTurnGoals(keepGoals(task.goals), task, turn).goals,
      calls: calls.slice(given),
      hasEnded,
    });
  if (profile.success === 0) return breakdown;
  const told: ToldJudgment =
    profile.answer === 0 || !hasEnded ? { evidence: [], score: undefined } : judgeTold(attempt);
  const answers = told.evidence.length === 0 ? {} : { answers: told.evidence };
  if (breakdown.rule === "abstain")
    return { ...breakdown, ...answers, total: breakdown.total * Number((told.score ?? 1) === 1) };
  const isSuccess = hasEnded && isAchieved(attempt, profile);
  const success = createPart(isSuccess ? 1 : 0, profile.success);
  const answer = told.score === undefined ? undefined : createPart(told.score, profile.answer);
  return {
    ...breakdown,
    ...answers,
    extras: { ...(answer ? { answer } : {}), success },
    total: breakdown.total + (answer?.value ?? 0) + success.value,
  };
}

const createConduct = (attempt: Attempt, callCount: number): Conduct => ({
  expected: findTeacherRefusals(attempt),
  isWrite: it => isAcceptedWrite(it, attempt.tools),
  countUndone: serving => countUndoneWrites(attempt, serving, callCount),
});

/** The breakdown by the resolved goals, whose evidence has the indices of the task's goals. */
function scoreResolved(
  { goals, indices, notes }: Resolution,
  { hasEnded, ...input }: Omit<CallScoringInput, "goals"> & { readonly hasEnded: boolean },
  profile: Profile,
): Breakdown {
  const breakdown = scoreCalls({ ...input, goals }, profile);
  const evidence = new Map(
    input.isMet ? [] : breakdown.goals.map(it => [indices[it.goal]!, it] as const),
  );
  return {
    ...breakdown,
    calls: breakdown.calls.map(it =>
      it.serves ? { ...it, serves: { ...it.serves, goal: indices[it.serves.goal]! } } : it,
    ),
    goals: notes.map((own, goal): GoalEvidence => {
      const it = evidence.get(goal);
      return {
        ...(it
          ? { ...it, goal, broken: it.broken.map(j => indices[j]!) }
          : { goal, matched: true, calls: [], broken: [], needed: false }),
        // in a prefix, the notes of a goal would tell of later calls
        ...(own.length > 0 && (hasEnded || it?.matched) ? { notes: own } : {}),
      };
    }),
  };
}

/** Goals and calls without a server, as external benchmarks provide them. */
interface CallScoringInput {
  readonly goals: readonly ScoredGoal[];
  readonly calls: readonly ScoredCall[];
  /** How many of the first calls are not scored: what they show counts, they themselves do not. */
  readonly given?: number;
  /** All goals were met by the given calls, and no other call was made: no part lacks anything. */
  readonly isMet?: boolean;
  readonly schemaOf?: (tool: string) => JsonSchema | undefined;
  /** Present if it counts what the calls did. */
  readonly conduct?: Conduct | undefined;
}

/** What the calls of an attempt did. */
interface Conduct {
  /** The calls that were right, although they were refused. */
  readonly expected: ReadonlySet<number>;
  /** Whether a call is a write that was accepted. */
  readonly isWrite: (call: ScoredCall) => boolean;
  /** How many writes were undone, without the calls that serve a goal. */
  readonly countUndone: (serving: ReadonlySet<number>) => number;
}

/** The breakdown without the success term, which needs the states. */
export function scoreCalls(
  { goals, calls, given = 0, isMet = false, schemaOf, conduct }: CallScoringInput,
  profile: Profile,
): Breakdown {
  const alignment = alignCalls(goals, calls, {
    ...profile,
    given,
    ...(schemaOf ? { schemaOf } : {}),
    ...(conduct ? { repeated: findRepeated(calls, conduct) } : {}),
  });
  const ownCalls = calls.slice(given);
  const names = listGoalNames(goals);
  const budget = computeCallBudget(conduct ? leaveOutSpare(goals) : goals, profile.beta);
  const expected = conduct?.expected ?? noCalls;
  const counted = calls.filter((_, i) => i >= given && !expected.has(i));
  const evidence = {
    n: ownCalls.length,
    budget,
    calls: createCallEvidence(calls, alignment, names, { budget, given, expected }),
    goals: createGoalEvidence(alignment),
  };
  if (goals.length === 0)
    return {
      profile: profile.name,
      rule: "abstain",
      parts: createParts(zeroScores, zeroScores),
      extras: {},
      total: conduct
        ? scoreRestraint(...countWrites(counted, conduct))
        : scoreAbstention(ownCalls.length),
      ...evidence,
    };
  const scores = isMet
    ? wholeScores
    : conduct
      ? scoreConduct({ goals, calls, given, alignment, names, budget, conduct }, profile)
      : {
          validity: scoreValidity(ownCalls),
          coverage: scoreCoverage(alignment),
          efficiency: scoreEfficiency(ownCalls.length, budget, profile),
          name: scoreNames(ownCalls, names),
          argument: scoreArguments(alignment.pairs),
        };
  const parts = createParts(scores, profile.weights);
  // equation (5)
  const total = partNames.reduce((sum, it) => sum + parts[it].value, 0);
  return { profile: profile.name, rule: "tool", parts, extras: {}, total, ...evidence };
}

const noCalls: ReadonlySet<number> = new Set();

/** How many calls are accepted writes, and how many are not. */
function countWrites(calls: readonly ScoredCall[], { isWrite }: Conduct): [number, number] {
  const writes = calls.filter(isWrite).length;
  return [writes, calls.length - writes];
}

/** The look-ups that repeat an earlier one without a write in between, with the first of them. */
function findRepeated(
  calls: readonly ScoredCall[],
  { isWrite }: Conduct,
): ReadonlyMap<number, number> {
  const repeated = new Map<number, number>();
  const firsts = new Map<string, number>();
  for (const [i, call] of calls.entries()) {
    if (call.outcome.kind !== "ok") continue;
    if (isWrite(call)) {
      firsts.clear();
      continue;
    }
    const text = canonicalJson([call.name, call.arguments]);
    const first = firsts.get(text);
    if (first === undefined) firsts.set(text, i);
    else repeated.set(i, first);
  }
  return repeated;
}

/** The goals without look-ups that were made without need, which then count nowhere. */
const leaveOutSpare = (goals: readonly ScoredGoal[]): ScoredGoal[] =>
  goals.map(it => ({ ...it, calls: it.calls.filter(call => !call.isSpare) }));

interface ConductInput extends Required<Pick<CallScoringInput, "goals" | "calls" | "given">> {
  readonly alignment: Alignment;
  readonly names: ReadonlySet<string>;
  readonly budget: number;
  readonly conduct: Conduct;
}

/** The parts where it counts what the calls did. Calls that were right to try count nowhere. */
function scoreConduct(
  { goals, calls, given, alignment, names, budget, conduct }: ConductInput,
  profile: Profile,
): Readonly<Record<PartName, number>> {
  const isNeeded = (g: number) => goals[g]!.calls.some(it => !it.isSpare);
  const pairs = alignment.pairs.filter(it => !goals[it.goal]!.calls[it.part]!.isSpare);
  const needed = {
    pairs,
    positions: alignment.positions.filter((_, g) => isNeeded(g)),
    broken: alignment.broken.filter((_, g) => isNeeded(g)),
  };
  const serving = new Set(pairs.map(it => it.call));
  const others = calls.filter((_, i) => i >= given && !serving.has(i) && !conduct.expected.has(i));
  const ownServing = [...serving].filter(it => it >= given).length;
  const n = ownServing + others.length;
  const undone = others.some(conduct.isWrite) ? conduct.countUndone(serving) : 0;
  return {
    validity: scoreServingValidity(serving.size, others),
    coverage: needed.positions.length === 0 ? 1 : scoreCoverage(needed),
    // an undone write and the call that undid it are over the budget
    efficiency: scoreEfficiency(
      Math.max(n, undone === 0 ? 0 : budget + 2 * undone),
      budget,
      profile,
    ),
    name: scoreServingNames(serving.size, others, names),
    argument: needed.positions.length === 0 ? 1 : scoreArguments(pairs),
  };
}

const zeroScores: Readonly<Record<PartName, number>> = {
  validity: 0,
  coverage: 0,
  efficiency: 0,
  name: 0,
  argument: 0,
};

const wholeScores: Readonly<Record<PartName, number>> = {
  validity: 1,
  coverage: 1,
  efficiency: 0,
  name: 1,
  argument: 1,
};

const createPart = (score: number, weight: number): Part => ({
  score,
  weight,
  value: score * weight,
});

const createParts = (
  scores: Readonly<Record<PartName, number>>,
  weights: Readonly<Record<PartName, number>>,
): Breakdown["parts"] => ({
  validity: createPart(scores.validity, weights.validity),
  coverage: createPart(scores.coverage, weights.coverage),
  efficiency: createPart(scores.efficiency, weights.efficiency),
  name: createPart(scores.name, weights.name),
  argument: createPart(scores.argument, weights.argument),
});

/**
 * Why an attempt cannot be scored, whatever its task is: other software executed its calls, or it
 * was cut off by a fault or a broken call.
 */
export function explainUnscorable(trajectory: Trajectory): string | undefined {
  const importedFrom = explainImport(trajectory.header);
  if (importedFrom !== undefined) return importedFrom;
  const end = trajectory.events.at(-1);
  if (end?.kind === "ended" && end.by === "fault")
    return end.fault ?? "the attempt ended by a fault";
  for (const { name, outcome } of listCalls(trajectory))
    if (outcome.kind === "broken") return outcome.message ?? `${name} broke`;
  return undefined;
}

const listScoredCalls = (trajectory: Trajectory): readonly ScoredCall[] =>
  listCalls(trajectory).map(({ name, arguments: args, outcome, message }) => ({
    name,
    arguments: args,
    // a broken call is never scored
    outcome: outcome as ScoredCall["outcome"],
    message,
  }));

function createCallEvidence(
  calls: readonly ScoredCall[],
  { pairs }: Alignment,
  names: ReadonlySet<string>,
  { budget, given, expected }: { budget: number; given: number; expected: ReadonlySet<number> },
): readonly CallEvidence[] {
  const pairByCall = new Map(pairs.map(it => [it.call, it]));
  return calls.map((it, call) => {
    const pair = pairByCall.get(call);
    const message = getErrorMessage(it);
    return {
      call,
      name: it.name,
      validity: expected.has(call) ? 1 : getCallValidity(it),
      ...(message === undefined ? {} : { message }),
      named: names.has(it.name) || pair !== undefined || expected.has(call),
      ...(pair ? { serves: { goal: pair.goal, call: pair.part } } : {}),
      arguments: pair?.arguments ?? [],
      overBudget: call - given + 1 > budget,
      ...(expected.has(call) ? { expected: true as const } : {}),
      ...(call < given ? { given: true as const } : {}),
    };
  });
}

function getErrorMessage({ name, outcome }: ScoredCall): string | undefined {
  if (name === "") return outcome.message ?? "the call could not be parsed";
  return outcome.kind === "ok" ? undefined : (outcome.message ?? outcome.kind);
}

const createGoalEvidence = ({ positions, broken, pairs }: Alignment): readonly GoalEvidence[] =>
  positions.map((calls, goal) => {
    const position = getPosition(calls);
    const hasOthers = pairs.some(it => it.goal === goal && it.arguments.some(isWrongArgument));
    return {
      goal,
      matched: position !== undefined,
      ...(position === undefined ? {} : { position }),
      calls,
      ...(hasOthers ? { otherArguments: true as const } : {}),
      broken: broken[goal]!,
    };
  });
