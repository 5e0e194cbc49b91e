/** Makes one attempt at a task: specifies it, runs its conversation, and filters the result. */
import { createRandom } from "../../environment/random.ts";
import { createSolverJudge, type FindSolverFlaw } from "../../evaluation/solverJudge.ts";
import { judges } from "../../evaluation/solvers/solvers.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import { addAlternatives } from "./alternatives.ts";
import { createTask, removePatches, unusableReasons } from "./createTask.ts";
import { DuplicateFilter, findRejection } from "./filter.ts";
import { rejectedFormat, type RejectedAttempt } from "./report.ts";
import { formatStateLog } from "./stateLog.ts";
import { runConversation } from "./stateMachine.ts";
import type { SynthesisOptions } from "./synthesisOptions.ts";
import { Synthesizer } from "./synthesizer.ts";
import type { AttemptTarget, TaskSpecification } from "./taskSpecification.ts";

/** An accepted task, or a rejected attempt with the conversation as far as it went. */
export type AttemptResult =
  | { readonly kind: "accepted"; readonly task: Task }
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
  readonly log?: string[];
  readonly events?: readonly Event[];
}

export async function attemptTask(
  target: AttemptTarget,
  context: AttemptContext,
): Promise<AttemptResult> {
  const { options, synthesizer } = context;
  const random = createRandom(options.seed, "task", target.n);
  const specification = synthesizer.specifyTask(target, random);
  const result = specification
    ? await synthesizeTask(specification, target.n, random, context)
    : { reason: "chain", explanation: "no chain here" };
  if ("reason" in result) {
    synthesizer.recordRejected(specification);
    const rejected = createRejectedAttempt(target, options.seed, specification, result);
    return { kind: "rejected", rejected };
  }
  synthesizer.recordAccepted(result);
  return { kind: "accepted", task: result };
}

async function synthesizeTask(
  specification: TaskSpecification,
  n: number,
  random: ReturnType<typeof createRandom>,
  { options, synthesizer, duplicates, findSolverFlaw }: AttemptContext,
): Promise<Task | Rejection> {
  const { catalog, split, rejectsDuplicates = true } = options;
  const prepared = synthesizer.prepareConversation(specification, n, random);
  if (typeof prepared === "string") return { reason: "query", explanation: prepared };
  const result = await runConversation(prepared.setup);
  const log = formatStateLog(result.log);
  const { events } = prepared.setup.conversation;
  const reject = (reason: string, explanation: string) => ({ reason, explanation, log, events });
  if (result.rejected) return reject(result.rejected.reason, result.rejected.explanation);
  const task = createTask(specification, prepared, log, options, random);
  if (typeof task === "string") return reject(task, unusableReasons[task]);
  if (split !== undefined && task.split !== split) return reject("split", `it is ${task.split}`);
  const rejection = findRejection(task, catalog);
  if (rejection) return reject(rejection.reason, rejection.why);
  const complete = addAlternatives(task, catalog);
  const flaw = await findSolverFlaw(complete);
  if (flaw) return { ...reject("solver", flaw.why), solver: flaw.solver };
  if (rejectsDuplicates && !duplicates.addIfNew(task))
    return reject("duplicate", "a task kept before makes nearly the same calls");
  return complete;
}

/** The line of the rejected file for an attempt. */
function createRejectedAttempt(
  { n, home, kind }: AttemptTarget,
  seed: number,
  specification: TaskSpecification | undefined,
  { reason, explanation, solver, log = [], events = [] }: Rejection,
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
    log,
    events: events.map(removePatches),
  };
}
