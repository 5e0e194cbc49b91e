/** Live sessions that go on from an attempt, and their trajectories. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { ServerDefinitions } from "../../../src/editor/shared/serverDefinitions.ts";
import { computeDigest } from "../../../src/environment/digest.ts";
import { computeReward } from "../../../src/editor/attempts/attemptReward.ts";
import { formatAttempt } from "../../../src/editor/attempts/attemptText.ts";
import { TrajectoryCursor } from "../../../src/trajectory/cursor.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog, lookUp, moveFifty, transfer } from "../../trajectory/sampleTasks.ts";

vi.mock("vscode", () => ({
  EventEmitter: class {
    readonly event = () => ({ dispose() {} });
    fire() {}
    dispose() {}
  },
  CancellationError: class extends Error {},
  commands: {},
  window: {
    createOutputChannel: () => ({ warn() {} }),
    showErrorMessage: async () => undefined,
  },
  workspace: { isTrusted: true },
}));

const { LiveSessions, formatSessionTitle } =
  await import("../../../src/editor/servers/liveSessions.ts");
const { SessionStore } = await import("../../../src/editor/servers/storedSessions.ts");

const folder = mkdtempSync(join(tmpdir(), "prove-sessions-"));
afterAll(() => rmSync(folder, { recursive: true }));

let fileCount = 0;
const createStore = () => new SessionStore(join(folder, `${++fileCount}.json`));

const openSessions = (store = createStore()) =>
  new LiveSessions(
    {
      openCatalog: async () => catalog,
      openLiveCatalog: async () => catalog,
    } as Partial<ServerDefinitions> as ServerDefinitions,
    store,
  );

/** A session forked from the teacher's attempt after its first call, before the transfer. */
async function forkAttempt(sessions = openSessions()) {
  const task = await moveFifty();
  const { header, events } = task.trajectory;
  const cursor = new TrajectoryCursor(catalog, task.trajectory);
  const { position, state } = cursor.goTo(events.findIndex(it => it.kind === "call") + 1);
  const live = await sessions.forkAttempt(
    { title: task.id, header, events: events.slice(0, position) },
    computeDigest(state),
  );
  return { sessions, live, task };
}

const args = (amount: number) => transfer("acc_108", amount).arguments as Record<string, never>;

test("a session forked from an attempt has made its calls, and a reset returns to the fixture", async () => {
  const { sessions, live, task } = await forkAttempt();
  expect(formatSessionTitle(live)).toBe("Session 1 forked from t-move");
  expect([...live.session.tools.keys()]).toEqual(task.trajectory.header.menu);
  expect(live.calls.map(it => it.name)).toEqual([lookUp.name]);
  sessions.reset(live);
  expect(live.session.digest).toBe((await openSessions().open("banking", "small")).session.digest);
});

test("the trajectory of a forked session has the attempt's steps, replays, and is scored", async () => {
  const { sessions, live, task } = await forkAttempt();
  await sessions.call(live, "banking_transfer", args(1e6));
  await sessions.call(live, "banking_transfer", args(50));
  const trajectory = await sessions.createTrajectory(live);
  expect(trajectory.header).toMatchObject({ task: "t-move", policy: "you" });
  expect(listCalls(trajectory).map(it => [it.name, it.outcome.kind])).toEqual([
    [lookUp.name, "ok"],
    ["banking_transfer", "refused"],
    ["banking_transfer", "ok"],
  ]);
  expect(checkReplay(catalog, trajectory).verdict).toBe("same");
  expect(computeReward(catalog, task, trajectory)).toMatchObject({ success: { achieved: true } });
});

test("after a reload of the window, a forked session still belongs to the task", async () => {
  const store = createStore();
  const { sessions, live, task } = await forkAttempt(openSessions(store));
  await sessions.call(live, "banking_transfer", args(50));
  await sessions.fork(live);
  const before = await sessions.createTrajectory(live);
  sessions.dispose();
  const next = openSessions(store);
  await next.reopenStored();
  for (const it of next.all) {
    const trajectory = await next.createTrajectory(it);
    expect(trajectory.events).toEqual(before.events);
    expect(trajectory.header.task).toBe("t-move");
    expect(computeReward(catalog, task, trajectory)).toMatchObject({ success: { achieved: true } });
  }
  expect(next.all).toHaveLength(2);
});

test("a stored session is kept without an attempt of another version", async () => {
  const store = createStore();
  const { sessions } = await forkAttempt(openSessions(store));
  sessions.dispose();
  const file = join(folder, `${fileCount}.json`);
  const [stored] = JSON.parse(readFileSync(file, "utf8")) as object[];
  writeFileSync(file, JSON.stringify([{ ...stored, attempt: { title: "t-move", steps: [] } }]));
  const next = openSessions(store);
  await next.reopenStored();
  const [reopened] = next.all;
  expect((await next.createTrajectory(reopened!)).header.task).toBe("session");
  expect(readFileSync(`${file}.damaged-1`, "utf8")).toContain("t-move");
});

test("after a reset, the trajectory begins with the attempt's request", async () => {
  const { sessions, live } = await forkAttempt();
  sessions.reset(live);
  await expect(sessions.createTrajectory(live)).rejects.toThrow("it has no calls");
  await sessions.call(live, "banking_transfer", args(50));
  const { events } = await sessions.createTrajectory(live);
  expect(events.map(it => it.kind)).toEqual(["user", "assistant", "call", "ended"]);
});

test("the fork of a session takes its calls along", async () => {
  const { sessions, live } = await forkAttempt();
  await sessions.call(live, "banking_transfer", args(50));
  const fork = await sessions.fork(live);
  await sessions.call(fork, "banking_transfer", args(5));
  expect(listCalls(await sessions.createTrajectory(fork))).toHaveLength(3);
});

test("the transcript of a session names no task that was missed and no policy that ended it", async () => {
  const sessions = openSessions();
  const live = await sessions.open("banking", "small");
  await sessions.call(live, "banking_transfer", args(50));
  const trajectory = await sessions.createTrajectory(live);
  const reward = computeReward(catalog, undefined, trajectory);
  const { text } = formatAttempt(trajectory, undefined, reward);
  expect(text).toMatch(/^session without a task · banking \(small\) · seed \d+$/m);
  expect(text).toMatch(/^no reward: it was made in a session, without a task$/m);
  expect(text).not.toMatch(/policy|not found/);
});

test("a session on a fixture is saved too, but not one whose state was replaced", async () => {
  const sessions = openSessions();
  const live = await sessions.open("banking", "small");
  await sessions.call(live, "banking_transfer", args(50));
  const trajectory = await sessions.createTrajectory(live);
  expect(trajectory.header.servers).toMatchObject([{ name: "banking", fixture: "small" }]);
  expect(checkReplay(catalog, trajectory)).toMatchObject({ verdict: "same", steps: 1 });
  live.session.restore(live.session.state);
  await sessions.call(live, "banking_transfer", args(5));
  await expect(sessions.createTrajectory(live)).rejects.toThrow(
    "session 1 cannot be saved, because its calls do not lead from its fixture to its state",
  );
});
