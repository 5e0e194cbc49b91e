/**
 * Reads what a run trains on from its tasks file: the tasks of its split, or the corpus of their
 * conversations.
 */
import type { Catalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import type { StoredModel, TaskTopic } from "../model/modelFolder.ts";
import type { RunConfig } from "../run/config.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import { buildCorpus, type BuiltCorpus, type Corpus } from "./corpus.ts";
import { checkMenus, createFitCheck } from "./taskFit.ts";

export interface TrainingSet {
  /** The tasks that `grpo` attempts. */
  readonly tasks: readonly Task[];
  /** The conversations that `sft` learns from. */
  readonly corpus?: Corpus;
  /** The topic of each task. */
  readonly taskTopics: readonly TaskTopic[];
}

/**
 * Throws a `UserError` if the file has nothing to train on. `start` is the model that the run
 * starts from. `onTask` is called with the number of tasks read.
 */
export async function loadTrainingSet(
  config: RunConfig,
  catalog: Catalog,
  start: Pick<StoredModel, "folder" | "config" | "chat">,
  onTask: (count: number) => void,
): Promise<TrainingSet> {
  const checkFit = config.onlyFitting ? createFitCheck(start, catalog) : undefined;
  let unfitCount = 0;
  const tasks: Task[] = [];
  const taskTopics: TaskTopic[] = [];
  async function* selectTasks(): AsyncGenerator<Task> {
    for await (const task of readTasks(config.tasks, { onTorn: it => console.error(it) })) {
      if (task.split !== config.split) continue;
      if (checkFit && checkFit(task) !== "fits") {
        unfitCount++;
        continue;
      }
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
      tasks.push(needsTeacher(config) ? task : removeTeacher(task));
  if (taskTopics.length === 0 && unfitCount > 0)
    throw new UserError(
      `none of the ${unfitCount} tasks of the split ${config.split} in ${config.tasks} fits ${start.config.name}`,
      "synthesize tasks for it with --preset student on the servers that it was trained on",
    );
  if (taskTopics.length === 0)
    throw new UserError(
      `${config.tasks} holds no tasks of the split ${config.split}`,
      "synthesize some, or choose another split",
    );
  if (built?.corpus.trainingCount === 0)
    throw new UserError(
      `every conversation of ${config.tasks} is longer than the student can hold`,
      start.chat.describesTools
        ? `${start.config.name} reads ${start.chat.limits.context} tokens, and may write ${start.chat.limits.sampled} of them: set more with prove-rl model ${start.folder}`
        : "synthesize with --preset student",
    );
  checkMenus(start, tasks, catalog);
  return { tasks, taskTopics, ...(built ? { corpus: built.corpus } : {}) };
}

/** Whether attempts begin after turns of the teacher, or variants follow what it did. */
const needsTeacher = (config: RunConfig): boolean =>
  config.method === "grpo" && (config.grpo.turns === "one" || config.grpo.variants);

/**
 * Attempts at whole tasks do not need the teacher's trajectory, except that the user of a task with
 * rules agrees where the teacher's user did. Every worker has a copy of all tasks.
 */
const removeTeacher = (task: Task): Task => ({
  ...task,
  provenance: { ...task.provenance, log: [] },
  trajectory: {
    ...task.trajectory,
    events: task.policy ? task.trajectory.events.filter(it => it.kind === "user") : [],
  },
});

/** Keeps only names: a large file is read one task at a time. */
const getTaskTopic = ({ goals, servers }: Task): TaskTopic => ({
  goals: goals.map(({ calls, after, turn }) => ({
    calls: calls.map(({ name }) => ({ name })),
    after,
    turn,
  })),
  servers: servers.map(({ name, fixture }) => ({ name, fixture })),
});
