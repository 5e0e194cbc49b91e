/** Tasks and attempts at them, which `bench training` measures steps on. */
import { setImmediate } from "node:timers/promises";
import type { StoredModel } from "../model/modelFolder.ts";
import { openStudent } from "../model/student.ts";
import type { Model } from "../model/transformer.ts";
import { rollout } from "../policy/rollout.ts";
import { defaultProfile } from "../reward/profiles.ts";
import { synthesize } from "../synthesis/pipeline/run/synthesize.ts";
import { createAttemptScorer } from "../train/grpo/scoredAttempt.ts";
import { createTrainingGroup, type TrainingGroup } from "../train/trainingGroup.ts";
import type { Task } from "../trajectory/task.ts";
import type { CliContext } from "./command.ts";

export interface AttemptOptions {
  readonly tasks: readonly Task[];
  /** Attempts at each task. */
  readonly group: number;
  /** The advantage of an attempt by its number in the group; by default none. */
  readonly getAdvantage?: (number: number) => number;
  /** Whether the KL term is measured on all groups. */
  readonly isMeasured?: boolean;
}

/** A step's attempts. Those that end without a token of the student's are left out. */
export async function recordAttempts(
  { chat }: StoredModel,
  model: Model,
  { tasks, group: size, getAdvantage = () => 0, isMeasured = false }: AttemptOptions,
  { catalog, signal }: Pick<CliContext, "catalog" | "signal">,
): Promise<TrainingGroup[]> {
  const student = openStudent(model, chat, { name: "student", temperature: 1, seed: 1 });
  const scoreRollout = createAttemptScorer({ catalog, profile: defaultProfile, chat });
  const groups = await Promise.all(
    tasks.map(task =>
      Promise.all(
        Array.from({ length: size }, async (_, i) => {
          const id = `${task.id}/${i}`;
          const scored = scoreRollout(await rollout(task, student, catalog, { id, signal }));
          return scored && { ...scored, advantage: getAdvantage(i) };
        }),
      ),
    ),
  );
  student.dispose();
  return groups
    .map(group => group.filter(it => it !== undefined))
    .filter(group => group.some(it => it.logprobs.length > 0))
    .map((group, number) => createTrainingGroup(group, { number, isMeasured }));
}

/** Tasks on some servers. */
export async function synthesizeTasks(
  servers: readonly string[],
  count: number,
  { catalog, resources, signal }: Pick<CliContext, "catalog" | "resources" | "signal">,
): Promise<Task[]> {
  const tasks: Task[] = [];
  const options = { seed: 1, servers, menu: "chain", preset: "student", split: "train" } as const;
  for await (const it of synthesize({ catalog, resources, signal, ...options })) {
    await setImmediate();
    if (it.kind === "rejected") continue;
    tasks.push(it.task);
    if (tasks.length === count) break;
  }
  return tasks;
}
