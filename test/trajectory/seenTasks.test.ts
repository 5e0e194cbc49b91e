/** How far held-out tasks are from training tasks. */
import { expect, test } from "vitest";
import {
  createSeenTasks,
  listTurnSequences,
  type TaskCalls,
} from "../../src/trajectory/seenTasks.ts";
import type { Task } from "../../src/trajectory/task.ts";

/** A task with the calls of each turn. */
const createTask = (...turns: readonly (readonly string[])[]) =>
  ({
    goals: turns.flatMap((names, turn) => names.map(name => ({ calls: [{ name }], turn }))),
  }) as unknown as Task & TaskCalls;

const trained = [createTask(["find", "read"], ["send"]), createTask(["list"], ["pay"])];
const seen = createSeenTasks(
  [
    ["find", "read", "send"],
    ["list", "pay"],
  ],
  trained.flatMap(listTurnSequences),
);

const check = (title: string, task: Task, distance: "near" | "far" | undefined) =>
  test(title, () => expect(seen.getDistance(task)).toBe(distance));

check("a subset of trained tools is near, in any order", createTask(["send", "read"]), "near");
check("a new set of turns that were all seen is near", createTask(["list"], ["send"]), "near");
check("a new set with a new turn is far", createTask(["list", "send"]), "far");
check("a tool that was never trained is far", createTask(["move"]), "far");
check("a task without goals has no distance", createTask(), undefined);
