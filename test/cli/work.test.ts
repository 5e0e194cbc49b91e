/** `work`: the terminal program as the editor forks it. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SynthesisWork } from "../../src/protocol/work.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import { UserError } from "../../src/userError.ts";
import { root } from "../contracts/transports.ts";
import { requestWork } from "./editor.ts";
import { emptyFolder } from "./program.ts";

const createWork = (file: string, more: Partial<SynthesisWork> = {}): SynthesisWork => ({
  file,
  count: 6,
  seed: 3,
  servers: ["banking"],
  fixtures: [join(root, "resources/servers")],
  teacher: { kind: "graph" },
  ...more,
});

async function readIds(file: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of readTasks(file)) ids.push(id);
  return ids;
}

test("a synthesis reports its progress and ends with a report of its file", async () => {
  const file = join(emptyFolder(), "prove/tasks/six.tasks.jsonl");
  const { result, progress, code } = await requestWork(createWork(file));
  expect(code).toBe(0);
  expect(progress[0]).toMatchObject({ done: expect.any(Number) as number, total: 6 });
  expect(result).toMatchObject({
    file,
    report: { accepted: 6, options: { count: 6, seed: 3, servers: ["banking"] } },
  });
  expect(await readIds(file)).toHaveLength(6);
});

test("a cancellation ends the work and leaves whole tasks", async () => {
  const file = join(emptyFolder(), "prove/tasks/many.tasks.jsonl");
  const cancellation = new AbortController();
  let received = 0;
  const { error, code } = await requestWork(createWork(file, { count: 100_000 }), {
    signal: cancellation.signal,
    onProgress: () => ++received === 2 && cancellation.abort("canceled by the test"),
  });
  expect(error).toBe("canceled by the test");
  expect(code).toBe(1);
  expect((await readIds(file)).length).toBeGreaterThan(0);
});

test("a user error arrives with what happened and the remedy", async () => {
  const { error, progress } = await requestWork(
    createWork(join(emptyFolder(), "prove/tasks/x.tasks.jsonl"), { servers: ["bakery"] }),
  );
  expect(progress).toEqual([]);
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({
    what: "there is no server bakery",
    remedy: expect.stringMatching(/^choose one of banking, trading, .*, video_meeting$/) as string,
  });
});
