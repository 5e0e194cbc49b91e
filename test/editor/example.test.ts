/**
 * The example workspace has tasks that replay, and an attempt with several errors. `node
 * test/example.ts` creates it again.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCatalog } from "../../src/environment/catalog.ts";
import { computeReward } from "../../src/editor/trajectories/attemptReward.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { readTasks, readTrajectories } from "../../src/trajectory/file.ts";
import { checkReplay } from "../../src/trajectory/replay.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { listCalls } from "../../src/trajectory/trajectory.ts";

const servers = await loadServers();

const root = join(import.meta.dirname, "../..");
const catalog = openCatalog(servers, [join(root, "resources/servers")]);
const folder = join(root, "resources/example/prove/tasks");

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const it of items) list.push(it);
  return list;
}

const tasks: Task[] = await collect(readTasks(join(folder, "example.tasks.jsonl")));

test("every task replays and succeeds", () => {
  expect(tasks.length).toBeGreaterThanOrEqual(10);
  for (const task of tasks) {
    expect(
      checkReplay(catalog, task.trajectory),
      `${task.id}: run node test/example.ts`,
    ).toMatchObject({ verdict: "same" });
    expect(computeReward(catalog, task, task.trajectory)).toMatchObject({
      success: { achieved: true },
    });
  }
});

test("the beginner's attempt has each kind of error that the reward page explains", async () => {
  const [attempt] = await collect(readTrajectories(join(folder, "beginner.trajectory.jsonl")));
  const task = tasks.find(it => it.id === attempt!.header.task);
  expect(checkReplay(catalog, attempt!)).toMatchObject({ verdict: "same" });
  expect(new Set(listCalls(attempt!).map(it => it.outcome.kind))).toEqual(
    new Set(["unknown-tool", "bad-arguments", "ok"]),
  );
  const reward = computeReward(catalog, task, attempt!);
  if ("unscorable" in reward) throw new Error(reward.unscorable);
  const [paper] = reward.breakdowns;
  expect(reward.success.achieved).toBe(false);
  expect(paper.goals.some(it => !it.matched)).toBe(true);
  expect(paper.calls.flatMap(it => it.arguments).some(it => !it.equal)).toBe(true);
});
