/**
 * Opens the policy that a specification names: a run or model folder, an
 * endpoint's model, or a scripted policy. Checks that the held-out tasks are held out for a
 * student.
 */
import { startBackend } from "../compute/backend.ts";
import { UserError } from "../userError.ts";
import {
  checkTools,
  createServerDigest,
  findSeenEdge,
  getSeenTasks,
  hasSeen,
  listWorlds,
  loadModel,
  readModelFolder,
  type StoredModel,
} from "../model/modelFolder.ts";
import { openStudent } from "../model/student.ts";
import { createEndpointPolicy } from "../policy/chatMessages.ts";
import type { Policy } from "../policy/policy.ts";
import { idlePolicy, createTeacherPolicy } from "../policy/scripted.ts";
import { getBackendsFolder, type ComputedWith } from "../run/backends.ts";
import { findModelFolder } from "../run/folder.ts";
import { listGoalTools, type SeenTasks } from "../trajectory/seenTasks.ts";
import { checkMenus } from "../train/taskFit.ts";
import type { Task } from "../trajectory/task.ts";
import type { AppContext } from "./context.ts";
import { openEndpointFor, sentContent, type EndpointSettings } from "./endpoints.ts";
import { lookUpModel } from "./resources.ts";

export interface OpenedPolicy {
  readonly policy: Policy;
  /** Attempts to make at the same time. */
  readonly concurrency: number;
  /** What a student was trained on, if it records that. */
  readonly seen?: SeenTasks;
  /** What a student computes with. */
  readonly computedWith?: ComputedWith;
  dispose(): void;
}

type OpenedStudent = OpenedPolicy & Required<Pick<OpenedPolicy, "computedWith">>;

/** How a student or an endpoint chooses its tokens. */
export interface StudentChoice {
  /** 0 always takes the most probable token. */
  readonly temperature: number;
  readonly seed: number;
  /** Whether a student writes only calls that fit the offered tools. */
  readonly isConstrained?: boolean;
}

export const greedy: StudentChoice = { temperature: 0, seed: 0 };

/** Opens the policy that a specification names, to be measured on these tasks. */
export async function openPolicy(
  spec: string,
  tasks: readonly Task[],
  context: Pick<AppContext, "cwd" | "dist" | "catalog" | "resources" | "printNote">,
  endpoint: EndpointSettings,
  choice: StudentChoice = greedy,
): Promise<OpenedPolicy> {
  if (spec === "scripted:teacher")
    return { policy: createTeachersPolicy(tasks), concurrency: 1, dispose: () => {} };
  if (spec === "scripted:idle") return { policy: idlePolicy, concurrency: 1, dispose: () => {} };
  if (spec.startsWith("endpoint:"))
    return openEndpointModel(spec.slice("endpoint:".length), context, endpoint, choice);
  const stored = readStudent(findStudentFolder(spec, context));
  checkUnseen(stored, tasks);
  return await openStudentModel(stored, tasks, context, choice);
}

function findStudentFolder(spec: string, context: Pick<AppContext, "cwd" | "resources">): string {
  const folder = lookUpModel(spec, context);
  if (folder !== undefined) return folder;
  throw new UserError(
    `there is no policy ${spec}`,
    "give a run folder, a model folder, the name of a shipped student (small or careless), endpoint:MODEL, scripted:teacher or scripted:idle",
  );
}

function openEndpointModel(
  model: string,
  context: Pick<AppContext, "printNote">,
  settings: EndpointSettings,
  { temperature, isConstrained }: StudentChoice,
): OpenedPolicy {
  if (isConstrained)
    throw new UserError(
      `the decoding of endpoint:${model} cannot be constrained`,
      "leave out --constrain, or evaluate a run or model folder",
    );
  if (model === "")
    throw new UserError(
      "endpoint: names no model",
      "give its name as the endpoint knows it, such as endpoint:qwen3-4b",
    );
  const { endpoint, concurrency } = openEndpointFor(
    { ...settings, model },
    sentContent.evaluation,
    context,
  );
  return { policy: createEndpointPolicy(endpoint, temperature), concurrency, dispose: () => {} };
}

/** Reads the student from a run's newest checkpoint, or from a model folder. */
export const readStudent = (folder: string): StoredModel =>
  readModelFolder(findModelFolder(folder));

/**
 * Opens a student. Throws a `UserError` if its tools have changed. Whether it was trained on what
 * the tasks hold out is for the caller to check who measures it.
 */
export async function openStudentModel(
  stored: StoredModel,
  tasks: readonly Task[],
  { dist, catalog }: Pick<AppContext, "dist" | "catalog">,
  choice: StudentChoice,
): Promise<OpenedStudent> {
  checkTools(
    stored,
    createServerDigest(catalog.servers),
    tasks.flatMap(it => it.servers.map(server => server.name)),
  );
  checkMenus(stored, tasks, catalog);
  const { name, device, notes } = await startBackend("auto", {
    programs: dist,
    backends: getBackendsFolder(),
    sizes: stored.config.architecture,
  });
  const model = await loadModel(stored);
  const student = openStudent(model, stored.chat, {
    name: `student:${stored.config.name}`,
    ...choice,
  });
  const seen = getSeenTasks(stored.config.saw);
  return {
    policy: student,
    concurrency: stored.kind === "student" ? 64 : 8,
    ...(seen ? { seen } : {}),
    computedWith: { backend: name, device, notes: [...notes] },
    dispose() {
      student.dispose();
      model.dispose();
    },
  };
}

/** Throws a `UserError` if a held-out task asks for what the student was trained on. */
export function checkUnseen(
  { folder, config: { saw } }: StoredModel,
  tasks: readonly Task[],
): void {
  for (const task of tasks) {
    const what = describeSeen(saw, task);
    if (what === undefined) continue;
    throw new UserError(
      `task ${task.id} is not held out for the model in ${folder}: it was trained on ${what}`,
      "measure it on tasks made by this version of PROVE, or with --split train",
    );
  }
}

/** What a model was trained on of that which a task holds out, or undefined. */
export function describeSeen(saw: StoredModel["config"]["saw"], task: Task): string | undefined {
  const { heldOut } = task.knobs;
  if (task.split === "heldout-server") {
    const servers = listMainServers(task);
    const isSeen = servers.some(it => Object.hasOwn(saw.servers, it));
    return isSeen ? `the servers ${servers.join(", ")}` : undefined;
  }
  if (task.split === "heldout-world") {
    const world = listWorlds(task).find(it => saw.worlds?.includes(it));
    return world === undefined ? undefined : `world ${world}`;
  }
  if (typeof heldOut === "string") {
    const edge = findSeenEdge(saw, heldOut.split(", "));
    return edge === undefined ? undefined : describeTools(edge);
  }
  const tools = listGoalTools(task);
  const isSeen = task.split === "heldout-chain" && tools.length > 0 && hasSeen(saw, tools);
  return isSeen ? describeTools(tools.join(", ")) : undefined;
}

/** What a model was trained on of that which a task asks for, held out or not, or undefined. */
export function describeTrained(saw: StoredModel["config"]["saw"], task: Task): string | undefined {
  const tools = listGoalTools(task);
  return (
    describeSeen(saw, task) ??
    (tools.length > 0 && hasSeen(saw, tools) ? describeTools(tools.join(", ")) : undefined)
  );
}

const describeTools = (tools: string): string =>
  /[,+>]/.test(tools) ? `the tools ${tools} together` : `the tool ${tools}`;

/**
 * The servers that a task is about: those of its goals, or else of its chain, or else the first.
 * The others only add distractors.
 */
function listMainServers({ goals, chain, servers }: Task): string[] {
  const tools = goals.length > 0 ? goals.flatMap(it => it.calls.map(call => call.name)) : chain;
  return servers
    .map(it => it.name)
    .filter((name, i) =>
      tools.length === 0 ? i === 0 : tools.some(it => it.startsWith(`${name}_`)),
    );
}

/** A policy that acts as the teacher of whichever task is attempted. */
function createTeachersPolicy(tasks: readonly Task[]): Policy {
  const teacherByTask = new Map(tasks.map(it => [it.id, createTeacherPolicy(it)]));
  return {
    name: "scripted:teacher",
    next: (conversation, signal) =>
      teacherByTask.get(conversation.header.task)!.next(conversation, signal),
  };
}
