/** The work for the editor that lets a student or an endpoint attempt one task. */
import { openCatalog, type Catalog } from "../../environment/catalog.ts";
import { readModelFolder } from "../../model/modelFolder.ts";
import { continueAttempt } from "../../policy/scripted.ts";
import { createEndpointPolicy } from "../../policy/chatMessages.ts";
import type { Policy } from "../../policy/policy.ts";
import { rollout } from "../../policy/rollout.ts";
import type { AttemptWork } from "../../protocol/work.ts";
import { writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { createFitCheck } from "../../train/taskFit.ts";
import type { Task } from "../../trajectory/task.ts";
import {
  getEnd,
  type Finished,
  type Trajectory,
  formatTrajectory,
} from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";
import type { AppContext } from "../context.ts";
import { openEndpointFor, sentContent } from "../endpoints.ts";
import { describeTrained, greedy, openStudentModel } from "../policies.ts";

type WorkContext = Pick<AppContext, "catalog" | "dist" | "signal" | "printNote">;

/** A policy under the name that the attempt's id has. */
interface NamedPolicy {
  readonly name: string;
  readonly policy: Policy;
  /** What a student was trained on of that which the task asks for. */
  readonly trainedOn?: string;
  dispose(): void;
}

/**
 * Lets a policy attempt a task, or go on with an attempt at it, with its most probable answers, and
 * writes the attempt as a trajectory file. A student may have been trained on the task, which the
 * attempt then says: trying is not measuring. Throws a `UserError` if the task does not fit a
 * student, or if there is nothing to go on with.
 */
export async function attemptTask(
  { task, policy: choice, file, fixtures, from }: AttemptWork,
  context: WorkContext,
): Promise<object> {
  const catalog = openCatalog([...context.catalog.servers.values()], fixtures);
  const opened =
    choice.kind === "student"
      ? await openFittingStudent(choice.model, task, { ...context, catalog })
      : openModel(choice, context);
  try {
    const policy = from ? continueAttempt(from, opened.policy) : opened.policy;
    const { trajectory } = await rollout(task, policy, catalog, {
      signal: context.signal,
      id: `${from?.header.id ?? task.id}/${opened.name}`,
      turn: from?.header.turn,
    });
    if (from) checkContinued(from, trajectory);
    const { trainedOn } = opened;
    const header = { ...trajectory.header, ...(trainedOn === undefined ? {} : { trainedOn }) };
    writeFileAtomicallySync(file, formatTrajectory({ ...trajectory, header }));
  } finally {
    opened.dispose();
  }
  return {};
}

async function openFittingStudent(
  model: string,
  task: Task,
  { catalog, dist }: Pick<WorkContext, "dist"> & { readonly catalog: Catalog },
): Promise<NamedPolicy> {
  const stored = readModelFolder(model);
  const { name, saw } = stored.config;
  const fit = createFitCheck(stored, catalog)(task);
  if (fit !== "fits")
    throw new UserError(
      fit === "too-long"
        ? `task ${task.id} is too long for ${name}`
        : `${name} does not know the servers of task ${task.id}`,
      stored.chat.describesTools
        ? "choose a shorter task, or set a longer context in prove.json of the model's folder"
        : `choose a shorter task on ${Object.keys(saw.servers).sort().join(", ")}`,
    );
  const student = await openStudentModel(stored, [task], { dist, catalog }, greedy);
  const trainedOn = describeTrained(saw, task);
  return {
    name,
    policy: student.policy,
    ...(trainedOn === undefined ? {} : { trainedOn }),
    dispose: () => student.dispose(),
  };
}

function openModel(
  choice: Extract<AttemptWork["policy"], { kind: "endpoint" }>,
  { printNote }: WorkContext,
): NamedPolicy {
  // keys in the environment were not meant for this address
  const { endpoint } = openEndpointFor(choice, sentContent.evaluation, { printNote }, {});
  return { name: choice.model, policy: createEndpointPolicy(endpoint), dispose: () => {} };
}

function checkContinued(from: Trajectory, trajectory: Finished<Trajectory>): void {
  const count = ({ events }: Trajectory) => events.filter(it => it.kind === "assistant").length;
  if (count(trajectory) > count(from)) return;
  const { fault } = getEnd(trajectory);
  throw fault === undefined
    ? new UserError(
        `${from.header.id} has ended there, or has used all messages of its task`,
        "fork at an earlier position",
      )
    : new UserError(fault, "check the address, the model and the key of the endpoint");
}
