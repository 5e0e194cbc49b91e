/**
 * Fifty conversations of the paper's mixture, chosen by seed and kept to be read: nobody should be
 * able to tell that a grammar wrote them.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { formatTranscript } from "../../../src/trajectory/transcript.ts";
import { catalog } from "../../contracts/doors.ts";
import { checkGolden } from "../../golden.ts";
import { made } from "../made.ts";

const folder = "conversations";
const [kept, of] = [50, 400];

const nameOf = ({ kind, servers, knobs }: Task, i: number) =>
  `${String(i + 1).padStart(2, "0")}-${servers[0]!.name}-${knobs["across"] === undefined ? kind : "across"}.txt`;

let chosen: [name: string, text: string][] = [];

beforeAll(async () => {
  const { tasks } = await made(of, {
    servers: [...catalog.servers.keys()],
    seed: 1,
    preset: "paper",
    count: of,
  });
  const numbers = createRandom(4, "fifty")
    .shuffle(tasks.map((_, i) => i))
    .slice(0, kept)
    .sort((a, b) => a - b);
  chosen = numbers.map((n, i) => [
    nameOf(tasks[n]!, i),
    formatTranscript(tasks[n]!.trajectory, { task: tasks[n]! }).text,
  ]);
  if (process.env["UPDATE"])
    rmSync(join(import.meta.dirname, "../../goldens", folder), { recursive: true, force: true });
});

describe("fifty conversations", () => {
  test.each(Array.from({ length: kept }, (_, i) => i))("number %i reads as it is kept", i => {
    const [name, text] = chosen[i]!;
    checkGolden(`${folder}/${name}`, text);
  });

  test("and no other file lies beside them", () => {
    expect(readdirSync(join(import.meta.dirname, "../../goldens", folder)).sort()).toEqual(
      chosen.map(([name]) => name).sort(),
    );
  });
});
