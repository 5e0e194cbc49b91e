/** Whatever of our files holds attempts, read as attempts: a tasks file gives each task's teacher, a trajectory file its attempts. */
import { Mistake } from "../mistake.ts";
import { jsonLines, parseTask, readTrajectories, type Reading } from "./file.ts";
import type { Task } from "./task.ts";
import type { Trajectory } from "./trajectory.ts";

export interface Recorded {
  readonly trajectory: Trajectory;
  /** The task it is an attempt at, where the file holds that too. */
  readonly task?: Task;
}

/** Reads the attempts of a file, whichever kind it is; its first line says. Throws a `Mistake` with file and line. */
export async function* readRecorded(file: string, reading: Reading = {}): AsyncGenerator<Recorded> {
  for await (const { json, number } of jsonLines(file, reading)) {
    const kind = kindOf(json);
    if (kind === "trajectory") {
      for await (const trajectory of readTrajectories(file, reading)) yield { trajectory };
      return;
    }
    if (kind !== "task") throw new Mistake(`${file}:${number} is neither a task nor the header of a trajectory`, "give a *.tasks.jsonl or a *.trajectory.jsonl file");
    const task = parseTask(json, `${file}:${number}`);
    yield { task, trajectory: task.trajectory };
  }
}

function kindOf(json: unknown): string | undefined {
  const format = json !== null && typeof json === "object" ? (json as { format?: unknown }).format : undefined;
  return typeof format === "string" ? /^prove\/(\w+)@/.exec(format)?.[1] : undefined;
}
