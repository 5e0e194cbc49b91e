/** `work` about students: which tasks fit one, and how students do on held-out tasks. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createRunConfigFrom } from "../../src/run/createRunConfig.ts";
import { readStartModel } from "../../src/run/startModel.ts";
import { openCatalog } from "../../src/environment/catalog.ts";
import { takeFirstEvents } from "../../src/policy/scripted.ts";
import { readRun } from "../../src/run/folder.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { readTasks, readTrajectories } from "../../src/trajectory/file.ts";
import { checkReplay } from "../../src/trajectory/replay.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { listCalls, type Trajectory } from "../../src/trajectory/trajectory.ts";
import { formatTranscript } from "../../src/trajectory/transcript.ts";
import { UserError } from "../../src/userError.ts";
import { root } from "../contracts/transports.ts";
import { chatServer, says } from "../policy/chatServer.ts";
import { requestCountedWork } from "./editor.ts";
import { emptyFolder } from "./program.ts";

const fixtures = [join(root, "resources/servers")];
const getModel = (name: string) => join(root, "resources/models", name);
const example = join(root, "resources/example/prove/tasks/example.tasks.jsonl");

/** A file with a few tasks of the student's preset, a part of which is held out. */
function synthesize(...args: readonly string[]): string {
  const file = join(emptyFolder(), "few.tasks.jsonl");
  const options = ["--count", "40", "--seed", "1", "--preset", "student", ...args];
  execFileSync(
    process.execPath,
    [join(root, "dist/cli.js"), "synthesize", "--out", file, ...options],
    {
      stdio: "pipe",
    },
  );
  return file;
}
const few = synthesize("--servers", "banking,calendar,filesystem");

test("tasks fit on the servers that the student was trained on", async () => {
  const { result } = await requestCountedWork("checkFit", {
    tasks: few,
    model: getModel("careless"),
    fixtures,
  });
  const { train, heldOut, unknownServers } = result;
  expect(unknownServers).toEqual([]);
  expect(train.total + heldOut.total).toBe(40);
  expect(train.fitting).toBeGreaterThan(0.9 * train.total);
  expect(heldOut.fitting).toBeGreaterThan(1);
});

test("tasks on other servers are counted apart, and the servers are named", async () => {
  const { result, progress } = await requestCountedWork("checkFit", {
    tasks: example,
    model: getModel("careless"),
    fixtures,
  });
  const { train, unknownServers } = result;
  expect(train.fitting + train.unknownServers + train.tooLong).toBe(train.total);
  expect(train.unknownServers).toBeGreaterThan(train.fitting);
  expect(unknownServers).toContain("crm");
  expect(unknownServers).not.toContain("banking");
  expect(progress[0]).toEqual({ done: 1, total: 0, noun: "task" });
});

test("a training is planned before it is started", async () => {
  const model = getModel("careless");
  const options = { startedAt: new Date("2026-03-02T09:00:00Z"), tasks: few, workers: 1 };
  const config = createRunConfigFrom(readStartModel(model), { ...options, lora: { rank: 4 } });
  const { result } = await requestCountedWork("plan", { config, model, fixtures });
  expect(result).toMatchObject({ model: "careless", method: "grpo", backend: "wasm", fits: true });
  expect(result.trained).toBeLessThan(result.parameters / 10);
  expect(result.seconds).toBeGreaterThan(0);
});

test("two students attempt the same held-out tasks, and the second is compared with the first", async () => {
  const { result, progress } = await requestCountedWork("evaluate", {
    tasks: few,
    models: [getModel("careless"), getModel("small")],
    limit: 6,
    profile: "paper",
    fixtures,
  });
  const [careless, small] = result.measurements;
  expect(result).toMatchObject({
    count: 6,
    sets: expect.any(Number) as number,
    computedWith: {
      backend: "wasm",
      device: expect.stringMatching(/^the processor(, with vectors of 256 bits)?$/) as string,
      notes: [],
    },
  });
  expect(small!.success.mean).toBeGreaterThan(careless!.success.mean);
  expect(result.change!.success.mean).toBeCloseTo(small!.success.mean - careless!.success.mean, 6);
  for (const { success } of result.measurements) {
    expect(success.low).toBeLessThanOrEqual(success.mean);
    expect(success.high).toBeGreaterThanOrEqual(success.mean);
  }
  expect(progress[0]).toMatchObject({ total: 12, noun: "attempt" });
});

test("a file without held-out tasks that fit is refused with what to do", async () => {
  const trainOnly = join(emptyFolder(), "train.tasks.jsonl");
  const lines = readFileSync(few, "utf8").split("\n");
  writeFileSync(trainOnly, lines.filter(it => it.includes('"split":"train"')).join("\n"));
  const evaluate = (tasks: string) =>
    requestCountedWork("evaluate", {
      tasks,
      models: [getModel("careless")],
      limit: 5,
      profile: "paper",
      fixtures,
    });
  await expect(evaluate(trainOnly)).rejects.toBeInstanceOf(UserError);
  await expect(evaluate(trainOnly)).rejects.toMatchObject({
    what: expect.stringContaining("has no held-out tasks") as string,
    remedy: expect.stringContaining("synthesize") as string,
  });
});

test("a student attempts one task, and its attempt is a trajectory file that replays", async () => {
  const tasks: Task[] = [];
  for await (const it of readTasks(few)) tasks.push(it);
  const file = join(emptyFolder(), "try.trajectory.jsonl");
  const attempt = (task: Task) =>
    requestCountedWork("attempt", {
      task,
      policy: { kind: "student", model: getModel("small") },
      file,
      fixtures,
    });
  await attempt(tasks[0]!);
  const attempts: Trajectory[] = [];
  for await (const it of readTrajectories(file)) attempts.push(it);
  expect(attempts.map(it => it.header)).toMatchObject([
    { task: tasks[0]!.id, policy: "student:small" },
  ]);
  expect(checkReplay(openCatalog(await loadServers(), fixtures), attempts[0]!)).toMatchObject({
    verdict: "same",
  });
  for await (const it of readTasks(example))
    if (it.servers.some(server => server.name === "crm")) {
      await expect(attempt(it)).rejects.toMatchObject({
        what: `small does not know the servers of task ${it.id}`,
        remedy: expect.stringContaining("banking, calendar") as string,
      });
      break;
    }
});

test("a student tries a held-out task of the tools that it was trained on, and the attempt says so", async () => {
  const before = join(root, "resources/example/prove/tasks/before-payday.tasks.jsonl");
  const own = join(root, "resources/example/prove/fixtures");
  const tasks: Task[] = [];
  for await (const it of readTasks(before)) tasks.push(it);
  expect(tasks.map(it => it.split)).not.toContain("train");
  const file = join(emptyFolder(), "try.trajectory.jsonl");
  for (const task of tasks) {
    const attempt = {
      task,
      policy: { kind: "student", model: getModel("careless") },
      file,
      fixtures: [own, ...fixtures],
    } as const;
    const { header, events } = task.trajectory;
    const from = { header, events: takeFirstEvents(events, 1) };
    for (const work of [attempt, { ...attempt, from }]) {
      await requestCountedWork("attempt", work);
      for await (const it of readTrajectories(file)) {
        expect(it.header.trainedOn).toMatch(/^the tools banking_.* together$/);
        expect(formatTranscript(it).text).toContain(
          `note: the student was trained on ${it.header.trainedOn}`,
        );
      }
    }
  }
  // measuring still refuses to count them
  await expect(
    requestCountedWork("evaluate", {
      tasks: before,
      models: [getModel("careless")],
      limit: 5,
      profile: "paper",
      fixtures: [own, ...fixtures],
    }),
  ).rejects.toMatchObject({ what: expect.stringContaining("held-out tasks in") as string });
});

test("an endpoint goes on with the teacher's attempt, and gets no key of the environment", async () => {
  vi.stubEnv("PROVE_API_KEY", "planted");
  onTestFinished(() => void vi.unstubAllEnvs());
  const tasks: Task[] = [];
  for await (const it of readTasks(few)) tasks.push(it);
  const task = tasks.find(it => listCalls(it.trajectory).length > 1)!;
  const { header, events } = task.trajectory;
  const file = join(emptyFolder(), "fork.trajectory.jsonl");
  const first = events.findIndex(it => it.kind === "call") + 1;
  const { url, asked } = await chatServer(() => says("I cannot."));
  const fork = (position: number) =>
    requestCountedWork("attempt", {
      task,
      policy: { kind: "endpoint", url, model: "mute" },
      from: { header, events: takeFirstEvents(events, position) },
      file,
      fixtures,
    });
  await fork(first);
  expect(asked[0]!.headers["authorization"]).toBeUndefined();
  expect(asked[0]!.body.messages.map(it => it.role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
  ]);
  for await (const attempt of readTrajectories(file)) {
    expect(attempt.header.policy).toBe(`endpoint:mute after ${header.policy}`);
    expect(listCalls(attempt)).toEqual([
      expect.objectContaining({ name: listCalls(task.trajectory)[0]!.name }),
    ]);
  }
  await expect(fork(events.length)).rejects.toMatchObject({
    what: expect.stringContaining("has ended there") as string,
  });
});

test("a folder for another training framework is prepared with the workspace's fixtures", async () => {
  const workspace = emptyFolder();
  const own = join(workspace, "prove/fixtures");
  mkdirSync(join(own, "banking"), { recursive: true });
  const fixture = "banking/mine.fixture.json";
  copyFileSync(
    join(root, "resources/servers/banking/fixtures/small.fixture.json"),
    join(own, fixture),
  );
  const out = join(workspace, "prove/runs/one");
  await requestCountedWork("prepareEngine", {
    engine: "verl",
    tasks: example,
    model: "Qwen/Qwen3-8B",
    out,
    gpus: 4,
    loraRank: 8,
    profile: "paper",
    fixtures: [own, ...fixtures],
  });
  expect(readRun(out)).toMatchObject({ engine: "verl", from: "Qwen/Qwen3-8B", workers: 4 });
  expect(existsSync(join(out, "prove/fixtures", fixture))).toBe(true);
});
