/**
 * A tasks file as large as a whole data set, in no time: the example's tasks again and again under
 * other ids.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const example = join(
  import.meta.dirname,
  "../../resources/example/prove/tasks/example.tasks.jsonl",
);

/** The text of so many tasks, a line each. */
export function manyTasksText(count: number): string {
  const lines = readFileSync(example, "utf8").trim().split("\n");
  return Array.from(
    { length: count },
    (_, n) => `${renamed(lines[n % lines.length]!, `task-${n + 1}`)}\n`,
  ).join("");
}

/** A task's id stands in its trajectory, too. */
const renamed = (line: string, id: string) => line.replaceAll(/"id":"([^"]*)"/.exec(line)![1]!, id);

/** Writes the file and gives its name. */
export function manyTasks(file: string, count: number): string {
  writeFileSync(file, manyTasksText(count));
  return file;
}
