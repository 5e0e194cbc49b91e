/** Creates a tasks file of any size by repeating the example's tasks with other ids. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const example = join(
  import.meta.dirname,
  "../../resources/example/prove/tasks/example.tasks.jsonl",
);

/** The text of a file with `count` tasks. */
export function createManyTasks(count: number): string {
  const lines = readFileSync(example, "utf8").trim().split("\n");
  return Array.from(
    { length: count },
    (_, n) => `${replaceId(lines[n % lines.length]!, `task-${n + 1}`)}\n`,
  ).join("");
}

/** Replaces the id of the task, also in its trajectory. */
const replaceId = (line: string, id: string) =>
  line.replaceAll(/"id":"([^"]*)"/.exec(line)![1]!, id);

/** Writes a file with `count` tasks and returns its name. */
export function writeManyTasks(file: string, count: number): string {
  writeFileSync(file, createManyTasks(count));
  return file;
}
