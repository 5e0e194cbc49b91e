/**
 * Reads what a run trains on from its tasks file: the tasks of its split, or the corpus of their
 * conversations. The tasks are in memory that the threads of a training share: as objects, tens of
 * thousands of them take several times the memory in each thread.
 */
import type { Catalog } from "../environment/catalog.ts";
import { parseFixtureName } from "../environment/fixture.ts";
import type { StoredModel, TaskTopic } from "../model/modelFolder.ts";
import type { RunConfig } from "../run/config.ts";
import { listMisfitReasons, type FitCounts } from "../run/startModel.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { buildCorpus, type BuiltCorpus, type Corpus } from "./sft/corpus.ts";
import { checkMenus, checkTask, createFitCheck, FitTally } from "./taskFit.ts";

export interface TrainingSet {
  /** The tasks that `grpo` attempts; none for `sft`. */
  readonly tasks: SharedTasks;
  /** The index of each of these tasks in the split, which also counts tasks that are left out. */
  readonly places: readonly number[];
  /** The conversations that `sft` learns from. */
  readonly corpus?: Corpus;
  /** The fixture files of the tasks' servers. */
  readonly fixtures: readonly FixtureFile[];
  /** The topic of each task. */
  readonly taskTopics: readonly TaskTopic[];
  /** What the user should know about the tasks before the first step. */
  readonly warnings: readonly string[];
}

export interface FixtureFile {
  readonly server: string;
  /** Its name, without a world or a variant. */
  readonly name: string;
}

type Start = Pick<StoredModel, "config" | "chat">;

/** The share of tasks that do not fit from which on the user is warned. */
const misfitShare = 0.1;

interface LoadingOptions {
  /** Called with the number of tasks read. */
  readonly onTask: (count: number) => void;
  /** Rejects with its reason if it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Throws a `UserError` if the file has nothing to train on. `start` is the model that the run
 * starts from.
 */
export async function loadTrainingSet(
  config: RunConfig,
  catalog: Catalog,
  start: Start,
  { onTask, signal }: LoadingOptions,
): Promise<TrainingSet> {
  // from conversations the student learns new servers, and those that are too long are left out
  const needsFit = config.onlyFitting || config.method === "grpo";
  const checkFit = needsFit ? createFitCheck(start, catalog) : undefined;
  const fits = new FitTally();
  const unusable: UserError[] = [];
  const attempted = new SharedTasksBuilder();
  const places: number[] = [];
  let place = -1;
  const taskTopics: TaskTopic[] = [];
  async function* selectTasks(): AsyncGenerator<Task> {
    for await (const task of readTasks(config.tasks, { onTorn: it => console.error(it) })) {
      signal?.throwIfAborted();
      if (task.split !== config.split) continue;
      place++;
      const problem = findProblem(task, config, catalog);
      if (problem) {
        unusable.push(problem);
        continue;
      }
      if (checkFit) {
        const fit = checkFit(task);
        fits.count(fit);
        if (config.onlyFitting && fit !== "fits") continue;
      }
      places.push(place);
      taskTopics.push(getTaskTopic(task));
      onTask(taskTopics.length);
      yield task;
    }
  }
  const built: BuiltCorpus | undefined =
    config.method === "sft"
      ? await buildCorpus(selectTasks(), {
          catalog,
          chat: start.chat,
          settings: config.sft,
          seed: config.seed,
        })
      : undefined;
  if (!built)
    for await (const task of selectTasks())
      attempted.add(needsTeacher(config) ? task : removeTeacher(task));
  const [problem] = unusable;
  if (taskTopics.length === 0 && problem && fits.counts.total === 0)
    throw new UserError(
      `none of the ${unusable.length} tasks of the split ${config.split} in ${config.tasks} can be attempted; ${problem.what}`,
      problem.remedy,
    );
  if (taskTopics.length === 0 && fits.counts.total > 0)
    throw new UserError(
      `none of the ${fits.counts.total} tasks of the split ${config.split} in ${config.tasks} fits ${start.config.name}: ${listMisfitReasons(fits.counts).join(", ")}`,
      start.chat.describesTools
        ? "set a longer context with prove-rl model FOLDER --context N, or synthesize tasks with smaller menus"
        : "synthesize tasks for it with --preset student on the servers that it was trained on",
    );
  if (taskTopics.length === 0)
    throw new UserError(
      `${config.tasks} holds no tasks of the split ${config.split}`,
      "synthesize some, or choose another split",
    );
  if (built?.corpus.trainingCount === 0)
    throw new UserError(
      `every conversation of ${config.tasks} is too long: ${describeLimits(start)}`,
      start.chat.describesTools
        ? "set more with prove-rl model FOLDER, or synthesize tasks with smaller menus"
        : "synthesize with --preset student",
    );
  const tasks = attempted.build();
  // its folder is that of a checkpoint, which stays as it is
  checkMenus({ config: start.config, chat: start.chat }, openSharedTasks(tasks), catalog);
  const warnings = [
    ...describeUnusable(unusable, taskTopics.length),
    ...(config.onlyFitting ? [] : describeMisfits(fits.counts, start)),
    ...(built ? describeLong(built.overLong, taskTopics.length, start) : []),
  ];
  return {
    tasks,
    places,
    fixtures: listFixtures(taskTopics),
    taskTopics,
    warnings,
    ...(built ? { corpus: built.corpus } : {}),
  };
}

function findProblem(task: Task, config: RunConfig, catalog: Catalog): UserError | undefined {
  try {
    checkTask(task, config, catalog);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

const describeUnusable = (unusable: readonly UserError[], used: number): string[] =>
  unusable.slice(0, 1).map(({ what, remedy }) => {
    const count = unusable.length;
    const left = count === 1 ? "is left out:" : "are left out; the first:";
    return `${count} of ${used + count} tasks cannot be attempted, and ${left} ${what}. To do: ${remedy}`;
  });

/** Nothing if no task was checked. */
const describeMisfits = (counts: FitCounts, start: Start): string[] =>
  counts.total === 0 || counts.total - counts.fitting < misfitShare * counts.total
    ? []
    : [
        `${counts.fitting === 0 ? "none" : counts.fitting} of ${counts.total} tasks fit ${start.config.name}: ${listMisfitReasons(counts).join(", ")}. Attempts at those hardly ever succeed; --only-fitting leaves them out${canReadMore(start) ? `, and ${longerContext}` : ""}`,
      ];

/** Of supervised training, what its corpus lacks. */
const describeLong = (count: number, total: number, start: Start): string[] =>
  count === 0 || count < misfitShare * total
    ? []
    : [
        `${count} of ${total} conversations are too long, and are left out: ${describeLimits(start)}${canReadMore(start) ? `; ${longerContext}` : ""}`,
      ];

const describeLimits = ({ chat: { limits }, config }: Start): string =>
  `${config.name} reads ${limits.context.toLocaleString("en")} tokens, and may write ${limits.sampled} of them`;

const longerContext = "prove-rl model FOLDER --context N lets the model read more";

/** Whether the model was made for longer conversations than its settings allow. */
const canReadMore = ({ chat, config }: Start): boolean =>
  chat.describesTools && config.architecture.context > chat.limits.context;

/** Whether attempts begin after turns of the teacher, or variants follow what it did. */
const needsTeacher = (config: RunConfig): boolean =>
  config.method === "grpo" && (config.grpo.turns === "one" || config.grpo.variants);

/**
 * Attempts at whole tasks need only the first turn of the teacher's trajectory, and the user's
 * messages in a task with rules, whose user agrees where the teacher's user did. Without the rest,
 * a task takes about half the memory.
 */
const removeTeacher = (task: Task): Task => ({
  ...task,
  provenance: { ...task.provenance, log: [] },
  trajectory: {
    ...task.trajectory,
    events: task.trajectory.events
      .filter(it => it.kind === "user")
      .slice(0, task.policy ? undefined : 1),
  },
});

/** Each file once. */
function listFixtures(topics: readonly TaskTopic[]): FixtureFile[] {
  const files = topics.flatMap(it =>
    it.servers.map(({ name, fixture }) => ({
      server: name,
      name: parseFixtureName(fixture).base,
    })),
  );
  return [...new Map(files.map(it => [`${it.server}/${it.name}`, it])).values()];
}

/** Keeps only names: a large file is read one task at a time. */
const getTaskTopic = ({ goals, servers }: Task): TaskTopic => ({
  goals: goals.map(({ calls, after, turn }) => ({
    calls: calls.map(({ name }) => ({ name })),
    after,
    turn,
  })),
  servers: servers.map(({ name, fixture }) => ({ name, fixture })),
});

/** Any list of tasks, such as an array. */
export type TaskList = Pick<readonly Task[], "length" | "at">;

/** What is sent to another thread, which opens it with `openSharedTasks`. */
export interface SharedTasks {
  /** The tasks as JSON, one after the other. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** The index of each task's first byte, and at the end the number of bytes. */
  readonly starts: Float64Array<SharedArrayBuffer>;
}

/** Collects tasks, which it does not keep as objects. */
export class SharedTasksBuilder {
  readonly #tasks: Buffer[] = [];

  add(task: Task): void {
    this.#tasks.push(Buffer.from(JSON.stringify(task)));
  }

  build(): SharedTasks {
    const count = this.#tasks.length;
    const starts = new Float64Array(new SharedArrayBuffer((count + 1) * 8));
    for (const [i, it] of this.#tasks.entries()) starts[i + 1] = starts[i]! + it.length;
    const bytes = new Uint8Array(new SharedArrayBuffer(starts[count]));
    for (const [i, it] of this.#tasks.entries()) bytes.set(it, starts[i]);
    return { bytes, starts };
  }
}

/** Each call of `at` and each pass over the tasks parses them anew. */
export function openSharedTasks({ bytes, starts }: SharedTasks): TaskList & Iterable<Task> {
  const length = starts.length - 1;
  const parse = (i: number) => {
    const [from, to] = [starts[i]!, starts[i + 1]!];
    return JSON.parse(Buffer.from(bytes.buffer, from, to - from).toString()) as Task;
  };
  return {
    length,
    at(index) {
      const i = index < 0 ? length + index : index;
      return i >= 0 && i < length ? parse(i) : undefined;
    },
    *[Symbol.iterator]() {
      for (let i = 0; i < length; i++) yield parse(i);
    },
  };
}
