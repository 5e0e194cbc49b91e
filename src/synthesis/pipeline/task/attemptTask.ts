/** Makes one attempt at a task: specifies it, runs its conversation, and filters the result. */
import { createRandom, type Random } from "../../../environment/random.ts";
import {
  createSolverJudge,
  type FindSolverFlaw,
  type SolverFlaw,
} from "../../../evaluation/solverJudge.ts";
import { judges } from "../../../evaluation/solvers/solvers.ts";
import { PolicyFault } from "../../../policy/policy.ts";
import type { Task, GoalCall } from "../../../trajectory/task.ts";
import type { Event } from "../../../trajectory/trajectory.ts";
import { addAlternatives } from "./alternatives.ts";
import type { AbstentionSort } from "../../user/turns/abstentionTurn.ts";
import { createTask, removePatches, unusableReasons } from "./createTask.ts";
import { DuplicateFilter, findRejection } from "./filter.ts";
import type { PreparedConversation } from "../conversation/conversation.ts";
import { choosePreset, presets, type SynthesisOptions } from "../synthesisOptions.ts";
import { DemandCounts } from "../report/demands.ts";
import {
  bugReason,
  difficultyReason,
  rejectedFormat,
  tokensReason,
  type RejectedAttempt,
} from "../report/report.ts";
import { formatStateLog } from "../conversation/stateLog.ts";
import { runConversation } from "../conversation/stateMachine.ts";
import { Synthesizer } from "../conversation/synthesizer.ts";
import type { AttemptTarget, TaskSpecification } from "../specification/taskSpecification.ts";
import { describeFailure, UserError } from "../../../userError.ts";

/** An accepted task, or a rejected attempt with the conversation as far as it went. */
export type AttemptResult =
  | {
      readonly kind: "accepted";
      readonly task: Task;
      /** The normal task that contrasts with it. */
      readonly partner?: Task;
    }
  | { readonly kind: "rejected"; readonly rejected: RejectedAttempt };

/** What the attempts of one synthesis share. */
export interface AttemptContext {
  readonly options: SynthesisOptions;
  readonly synthesizer: Synthesizer;
  readonly duplicates: DuplicateFilter;
  /** Finds a solver that a task misjudges. */
  readonly findSolverFlaw: FindSolverFlaw;
}

/** The context of a synthesis that begins. */
export const createAttemptContext = (
  options: SynthesisOptions,
  synthesizer = new Synthesizer(options),
): AttemptContext => ({
  options,
  synthesizer,
  duplicates: new DuplicateFilter(),
  findSolverFlaw: createSolverJudge(options.catalog, judges, options.signal),
});

/** Why an attempt is rejected, in a word and in full, and how far its conversation went. */
interface Rejection {
  readonly reason: string;
  readonly explanation: string;
  readonly solver?: string;
  readonly tokens?: number;
  readonly log?: string[];
  readonly events?: readonly Event[];
}

/** Makes an attempt. One that fails because of a bug is rejected, so that the others go on. */
export async function attemptTask(
  target: AttemptTarget,
  context: AttemptContext,
): Promise<AttemptResult> {
  const { seed, signal } = context.options;
  try {
    return await makeAttempt(target, context);
  } catch (error) {
    signal?.throwIfAborted();
    // neither an error that the user can fix nor a model that does not answer is about one attempt
    if (error instanceof UserError || error instanceof PolicyFault) throw error;
    const rejection = { reason: bugReason, explanation: describeFailure(error) };
    const rejected = createRejectedAttempt(target, seed, undefined, rejection);
    return { kind: "rejected", rejected };
  }
}

async function makeAttempt(target: AttemptTarget, context: AttemptContext): Promise<AttemptResult> {
  const { options, synthesizer } = context;
  const random = createRandom(options.seed, "task", target.n);
  const pairShare = target.mayBePaired ? presets[options.preset ?? "paper"].pairShare : 0;
  const abstention = pairShare > 0 ? synthesizer.chooseAbstention() : undefined;
  if (abstention !== undefined && abstention !== "no-need" && random.boolean(pairShare))
    return attemptPair(target, abstention, random, context);
  const specification = synthesizer.specifyTask(target, random);
  const result = specification
    ? await synthesizeTask(
        { ...specification, ...(abstention === undefined ? {} : { abstention }) },
        target.n,
        random,
        context,
      )
    : noChain;
  if ("reason" in result) {
    synthesizer.recordRejected(specification);
    const rejected = createRejectedAttempt(target, options.seed, specification, result);
    return { kind: "rejected", rejected };
  }
  synthesizer.recordAccepted(result);
  return { kind: "accepted", task: result };
}

const noChain = { reason: "chain", explanation: "no chain here" };

/** A normal task, and a task in which the same request is refused or has to be asked about. */
async function attemptPair(
  target: AttemptTarget,
  abstention: AbstentionSort,
  random: Random,
  context: AttemptContext,
): Promise<AttemptResult> {
  const { options, synthesizer } = context;
  const specification = specifyPair(target, abstention, random, synthesizer);
  const result = specification
    ? await synthesizePair(specification, target.n, random, context)
    : noChain;
  if ("reason" in result) {
    synthesizer.recordRejected(specification?.partner);
    const rejected = createRejectedAttempt(target, options.seed, specification?.partner, result);
    return { kind: "rejected", rejected };
  }
  synthesizer.recordAccepted(result.partner);
  synthesizer.recordAccepted(result.task);
  return { kind: "accepted", ...result };
}

async function synthesizePair(
  { partner: partnerSpecification, contrast }: PairSpecification,
  n: number,
  random: Random,
  context: AttemptContext,
): Promise<{ task: Task; partner: Task } | Rejection> {
  const { synthesizer } = context;
  const prepared = synthesizer.prepareConversation(partnerSpecification, n, random);
  if (typeof prepared === "string") return { reason: "query", explanation: prepared };
  const partner = await finishTask(partnerSpecification, prepared, random, context);
  if ("reason" in partner) return partner;
  const firstTurn = prepared.getFirstTurn?.();
  const own = { ...contrast, split: partner.split };
  const contrasting =
    firstTurn && partner.turns[0]!.goals.length > 0
      ? synthesizer.prepareContrast(own, firstTurn, n, random)
      : undefined;
  if (!contrasting) return { reason: "pair", explanation: "the first turn has no contrast" };
  const task = await finishTask(own, contrasting, random, context);
  return "reason" in task ? task : { task, partner };
}

async function synthesizeTask(
  specification: TaskSpecification,
  n: number,
  random: Random,
  context: AttemptContext,
): Promise<Task | Rejection> {
  const prepared = context.synthesizer.prepareConversation(specification, n, random);
  if (typeof prepared === "string") return { reason: "query", explanation: prepared };
  return finishTask(specification, prepared, random, context);
}

/** Runs a conversation, and creates and filters its task. */
async function finishTask(
  specification: TaskSpecification,
  prepared: PreparedConversation,
  random: Random,
  { options, duplicates, findSolverFlaw }: AttemptContext,
): Promise<Task | Rejection> {
  const { catalog, split, rejectsDuplicates = true, tokenLimit, difficulty } = options;
  const result = await runConversation(prepared.setup);
  const log = formatStateLog(result.log);
  const { events } = prepared.setup.conversation;
  const reject = (reason: string, explanation: string) => ({ reason, explanation, log, events });
  if (result.rejected) return reject(result.rejected.reason, result.rejected.explanation);
  const task = createTask(specification, prepared, log, options, random);
  if (typeof task === "string") return reject(task, unusableReasons[task]);
  if (split !== undefined && task.split !== split) return reject("split", `it is ${task.split}`);
  if (difficulty !== undefined && task.kind === "normal") {
    const measured = DemandCounts.measureDifficulty(task);
    if (measured !== difficulty) return reject(difficultyReason, `it is ${measured}`);
  }
  const tokens = tokenLimit?.count(task) ?? 0;
  if (tokenLimit && tokens > tokenLimit.max)
    return {
      ...reject(tokensReason, `it takes ${tokens} tokens, more than ${tokenLimit.max}`),
      tokens,
    };
  const rejection = findRejection(task, catalog);
  if (rejection) return reject(rejection.reason, rejection.why);
  const { task: judged, flaw } = await judgeTask(addAlternatives(task, catalog), findSolverFlaw);
  if (flaw) return { ...reject("solver", flaw.why), solver: flaw.solver };
  const contradiction = choosePreset(options).keepsContradictions
    ? undefined
    : findContradiction(judged);
  if (contradiction !== undefined) return reject("contradiction", contradiction);
  if (rejectsDuplicates && !duplicates.addIfNew(judged))
    return reject("duplicate", "a task kept before makes nearly the same calls");
  return judged;
}

/**
 * Names a write that a later request undoes, as when an appointment is moved and then cancelled.
 * Users who change their mind say so.
 */
function findContradiction({ goals, knobs }: Task): string | undefined {
  if (knobs["changesOfMind"] !== undefined) return undefined;
  const undone = goals.flatMap(it => it.calls).find(it => it.required);
  return undone && `a later request undoes ${undone.name}, and the user does not say why`;
}

/** The line of the rejected file for an attempt. */
function createRejectedAttempt(
  { n, home, kind }: AttemptTarget,
  seed: number,
  specification: TaskSpecification | undefined,
  { reason, explanation, solver, tokens, log = [], events = [] }: Rejection,
): RejectedAttempt {
  return {
    format: rejectedFormat,
    id: specification?.id ?? `${home}-${seed}-${n}`,
    servers: specification?.servers.map(it => it.name) ?? [home],
    kind,
    chain: [...(specification?.chain ?? [])],
    reason,
    why: explanation,
    ...(solver === undefined ? {} : { solver }),
    ...(tokens === undefined ? {} : { tokens }),
    log,
    events: events.map(removePatches),
  };
}

// Specifies contrast pairs: a normal task, and a task whose first turn says the same, or the same
// without a value, and in which nothing can be called.

interface PairSpecification {
  /** The normal task. */
  readonly partner: TaskSpecification;
  readonly contrast: TaskSpecification;
}

/** Draws of a normal task that needs one server only. */
const maxDraws = 8;

/** Specifies both tasks of a pair, or returns undefined if no chain could be drawn. */
function specifyPair(
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

// Judges a task by solvers, and marks the writes that the final state does not show, such as a
// change that is changed again later: without the mark, an attempt that leaves them out succeeds.

/** The task with its required writes, and what is still wrong with it. */
interface JudgedTask {
  readonly task: Task;
  readonly flaw: SolverFlaw | undefined;
}

/** Judges a task until no wrong solver shows another write that has to be required. */
export async function judgeTask(task: Task, findSolverFlaw: FindSolverFlaw): Promise<JudgedTask> {
  const flaw = await findSolverFlaw(task);
  const hidden = new Set(flaw?.unmadeWrites.filter(it => !it.required));
  return hidden.size === 0
    ? { task, flaw }
    : judgeTask(requireWrites(task, hidden), findSolverFlaw);
}

const requireWrites = (task: Task, writes: ReadonlySet<GoalCall>): Task => ({
  ...task,
  goals: task.goals.map(goal => ({
    ...goal,
    calls: goal.calls.map(it => (writes.has(it) ? { ...it, required: true as const } : it)),
  })),
});
