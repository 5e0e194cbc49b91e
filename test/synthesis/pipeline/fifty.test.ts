/**
 * Fifty conversations of the paper's mixture, selected by seed and stored as goldens to be read by
 * people. They should read as if people had written them.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { formatTranscript } from "../../../src/trajectory/transcript.ts";
import { checkGolden } from "../../golden.ts";
import { readSharedTasks } from "../synthesizeTasks.ts";

const folder = "conversations";
const goldenCount = 50;

const getFileName = ({ kind, servers, knobs }: Task, i: number) =>
  `${String(i + 1).padStart(2, "0")}-${servers[0]!.name}-${knobs["across"] === undefined ? kind : "across"}.txt`;

let conversations: [name: string, text: string][] = [];

beforeAll(async () => {
  const { tasks } = await readSharedTasks("paper");
  const numbers = createRandom(4, "fifty")
    .shuffle(tasks.map((_, i) => i))
    .slice(0, goldenCount)
    .sort((a, b) => a - b);
  conversations = numbers.map((n, i) => [
    getFileName(tasks[n]!, i),
    formatTranscript(tasks[n]!.trajectory, { task: tasks[n]! }).text,
  ]);
  if (process.env["UPDATE"])
    rmSync(join(import.meta.dirname, "../../goldens", folder), { recursive: true, force: true });
});

describe("fifty conversations", () => {
  test.each(Array.from({ length: goldenCount }, (_, i) => i))("number %i is its golden", i => {
    const [name, text] = conversations[i]!;
    checkGolden(`${folder}/${name}`, text);
  });

  test("have no other files beside them", () => {
    expect(readdirSync(join(import.meta.dirname, "../../goldens", folder)).sort()).toEqual(
      conversations.map(([name]) => name).sort(),
    );
  });
});
