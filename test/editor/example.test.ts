/**
 * The example workspace has tasks that replay, a fixture of its own, an attempt with errors,
 * and a run. `node test/example.ts` creates the tasks and the attempt again, test/exampleRun.ts the
 * run.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCatalog } from "../../src/environment/catalog.ts";
import { computeReward } from "../../src/editor/attempts/attemptReward.ts";
import { findFixtureProblems } from "../../src/editor/fixtures/fixtureProblems.ts";
import type { Json } from "../../src/environment/json.ts";
import { indexGroups } from "../../src/editor/attempts/groupIndex.ts";
import { RunMonitor } from "../../src/editor/runs/runMonitor.ts";
import { getTrend } from "../../src/run/evaluation.ts";
import { getGroupsFile, listRecordedSteps } from "../../src/run/folder.ts";
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

test("the fixture of the workspace has no problems, and its tasks replay on it", async () => {
  const own = openCatalog(servers, [
    join(root, "resources/example/prove/fixtures"),
    join(root, "resources/servers"),
  ]);
  const fixture = own.getFixture("banking", "before-payday");
  expect(
    findFixtureProblems(own.getServer("banking"), fixture as unknown as Json, fixture.name),
  ).toEqual([]);
  const onFixture = await collect(readTasks(join(folder, "before-payday.tasks.jsonl")));
  expect(onFixture).toHaveLength(2);
  for (const task of onFixture) {
    expect(task.servers.map(it => it.fixture)).toEqual(["before-payday"]);
    expect(checkReplay(own, task.trajectory), `${task.id}: run node test/example.ts`).toMatchObject(
      { verdict: "same" },
    );
    expect(computeReward(own, task, task.trajectory)).toMatchObject({
      success: { achieved: true },
    });
  }
  // the account has too little money in this fixture only
  const outcomes = listCalls(onFixture[0]!.trajectory).map(it => JSON.stringify(it.outcome));
  expect(outcomes.some(it => it.includes("insufficient funds"))).toBe(true);
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

test("the run is finished and evaluated, and its attempts succeed and fail at tasks that are there", async () => {
  const run = new RunMonitor(join(root, "resources/example/prove/runs/example"));
  expect(run.status.state).toBe("finished");
  expect(getTrend(run.evaluation!.change.success)).toBe("higher");
  const ids = new Set((await collect(readTasks(run.config.tasks))).map(it => it.id));
  const steps = listRecordedSteps(run.folder);
  expect(steps).toHaveLength(2);
  for (const step of steps) {
    const { groups } = await indexGroups(getGroupsFile(run.folder, step));
    expect(groups.map(it => ids.has(it.task))).toEqual([true]);
    const successes = groups[0]!.entries.filter(it => it.success).length;
    expect(successes).toBeGreaterThan(0);
    expect(successes).toBeLessThan(groups[0]!.entries.length);
  }
  run.dispose();
});
