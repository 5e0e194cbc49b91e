/**
 * Training with the command-line program: the whole loop, evaluation, and runs that are resumed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { evaluate } from "../../src/cli/evaluate.ts";
import { loop } from "../../src/cli/loop.ts";
import { score } from "../../src/cli/score.ts";
import { train } from "../../src/cli/train.ts";
import { warmStart } from "../../src/cli/warmStart.ts";
import type { Interval } from "../../src/evaluation/interval.ts";
import { findLatestCheckpoint, listRuns, readMetrics, readRun } from "../../src/run/folder.ts";
import type { GrpoStep } from "../../src/run/metrics.ts";
import { readTrainerLock } from "../../src/run/locks.ts";
import { root } from "../contracts/transports.ts";
import { endTrainer } from "../train/endTrainer.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { runCommand } from "./terminal.ts";

let cwd: string;
interface Metrics {
  readonly attempts: number;
  readonly samples: number;
  readonly success: number;
  readonly pass?: number;
  readonly reward: Readonly<Record<string, number>>;
  readonly parts: object;
  readonly tokensPerRollout: number;
}
let rows: readonly {
  readonly name: string;
  readonly metrics: Metrics;
  readonly sampled: Metrics;
  readonly steps?: number;
  readonly rolloutsPerSecond?: number;
  readonly change?: Readonly<Record<string, { readonly mean: number } | undefined>>;
}[];
const tasks = () => join(cwd, "prove/tasks/loop-1.tasks.jsonl");

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "prove-loop-"));
  const { code, out } = await runCommand(
    loop,
    "--seconds 1 --train 16 --read 24 --heldout 12 --sampled 2 --controls --json".split(" "),
    { cwd },
  );
  expect(code).toBe(0);
  ({ rows } = JSON.parse(out.join("\n")) as { rows: typeof rows });
});
afterAll(async () => {
  for (const run of listRuns(join(cwd, "prove/runs"))) await endTrainer(run);
});

describe("the loop", () => {
  test("measures before, after GRPO and after both controls on the same held-out tasks", () => {
    expect(rows.map(it => it.name)).toEqual([
      "before",
      "after GRPO",
      "reading the teacher",
      "shuffled advantages",
    ]);
    for (const { metrics, sampled } of rows) {
      expect(metrics.attempts).toBe(12);
      expect([sampled.attempts, sampled.samples]).toEqual([16, 8]);
      expect(sampled.pass).toBeGreaterThanOrEqual(sampled.success);
      expect(Object.keys(metrics.reward)).toEqual(["prove-plus", "paper"]);
      expect(metrics.tokensPerRollout).toBeGreaterThan(5);
    }
  });

  test("tells how each training changed the success, and how fast its own attempts were", () => {
    const [before, ...after] = rows;
    for (const it of after) {
      expect(it.steps).toBeGreaterThan(0);
      expect(it.change!["success"]!.mean).toBeCloseTo(it.metrics.success - before!.metrics.success);
      expect(it.change!["mean@8"]!.mean).toBeCloseTo(it.sampled.success - before!.sampled.success);
    }
    const { lines } = readMetrics(join(cwd, "prove/runs/loop-1-grpo"));
    const sum = (read: (it: GrpoStep) => number) =>
      lines.reduce((total, it) => total + (it.method === "grpo" ? read(it) : 0), 0);
    expect(after[0]!.rolloutsPerSecond).toBeCloseTo(
      sum(it => it.attempts) / sum(it => it.seconds.total),
    );
  });

  test("writes its tasks and all runs to the folders that the editor reads", () => {
    const readSplits = (file: string) =>
      readFileSync(join(cwd, "prove/tasks", file), "utf8")
        .trim()
        .split("\n")
        .map(it => (JSON.parse(it) as { split: string }).split);
    const splits = readSplits("loop-1.tasks.jsonl");
    expect(splits.filter(it => it === "train")).toHaveLength(16);
    expect(readSplits("loop-1-read.tasks.jsonl")).toEqual(Array(24).fill("train"));
    const read = readRun(join(cwd, "prove/runs/loop-1-sft"));
    expect(read.tasks).toContain("loop-1-read.tasks.jsonl");
    for (const name of ["grpo", "sft", "shuffled"])
      expect(readMetrics(join(cwd, "prove/runs", `loop-1-${name}`)).lines.length).toBeGreaterThan(
        0,
      );
  });

  test("prints a table and the differences, and says how to see the runs in the editor", async () => {
    const folder = mkdtempSync(join(tmpdir(), "prove-loop-text-"));
    const { code, out } = await runCommand(
      loop,
      "--seconds 1 --train 8 --heldout 6 --sampled 2".split(" "),
      { cwd: folder },
    );
    expect(code).toBe(0);
    const text = out.join("\n");
    expect(text).toMatch(/success +mean@8 +pass@8/);
    expect(text).toMatch(/^before +[\d.]+% +[\d.]+%/m);
    expect(text).toMatch(/^after GRPO, differences from before/m);
    expect(text).toMatch(/^ {2}mean@8(: unchanged| [+−]0\.\d+ \(95% )/m);
    expect(text).toMatch(/^tasks .*loop-1\.tasks\.jsonl$/m);
    expect(text).toContain(`open ${folder} in VS Code`);
  });
});

describe("warm-start", () => {
  test("goes on from a model and writes how it and the new one were trained", async () => {
    const out = join(cwd, "prove/models/careless");
    const { code } = await runCommand(
      warmStart,
      [
        "--tasks",
        tasks(),
        "--out",
        out,
        ..."--from small --run prove/warm-starts/careless --careless 0.9 --seconds 1 --workers 1".split(
          " ",
        ),
      ],
      { cwd },
    );
    expect(code).toBe(0);
    const read = (name: string): unknown => JSON.parse(readFileSync(join(out, name), "utf8"));
    expect(read("training.json")).toMatchObject({
      from: "small",
      sft: { careless: 0.9, decay: 1 },
    });
    expect(read("config.json")).toMatchObject({
      name: "careless",
      training: [{ method: "sft" }, { method: "sft", from: "small", seconds: expect.any(Number) }],
    });
  });

  test("names the model that it cannot go on from", async () => {
    const result = runCommand(
      warmStart,
      ["--from", cwd, "--tasks", tasks(), "--run", join(cwd, "other"), "--out", join(cwd, "no")],
      { cwd },
    );
    await expect(result).rejects.toThrow(/is not a model folder/);
    expect(existsSync(join(cwd, "other"))).toBe(false);
  });
});

/** Until the test ends, the folder of a native backend is there, but has nothing in it. */
function createEmptyBackend(name: "tensorflow" | "webgpu"): void {
  const backends = mkdtempSync(join(tmpdir(), "prove-backends-"));
  mkdirSync(join(backends, name));
  vi.stubEnv("PROVE_BACKENDS", backends);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe("evaluate", () => {
  test("evaluates the latest checkpoint of a run, and the teacher, which always succeeds", async () => {
    const { out } = await runCommand(
      evaluate,
      ["--tasks", tasks(), "--policy", "prove/runs/loop-1-grpo", "--limit", "5"],
      { cwd },
    );
    expect(out.join("\n")).toMatch(
      /^backend +wasm, the processor(, with vectors of 256 bits)?\ntasks +5\nsuccess with goals +[\d.]+%/,
    );
    const teacher = await runCommand(
      evaluate,
      ["--tasks", tasks(), "--policy", "scripted:teacher", "--json"],
      { cwd },
    );
    const document = JSON.parse(teacher.out[0]!) as object;
    expect(document).toMatchObject({ success: 1, attempts: 12 });
    expect(document).not.toHaveProperty("computedWith");
  });

  test("says which backend was passed over, and why", async () => {
    createEmptyBackend("tensorflow");
    const args = ["--tasks", tasks(), "--policy", "small", "--limit", "1"];
    const [json] = (await runCommand(evaluate, [...args, "--json"], { cwd })).out;
    const { computedWith } = JSON.parse(json!) as {
      computedWith: { device: string; notes: string[] };
    };
    expect(computedWith).toEqual({
      backend: "wasm",
      device: expect.stringMatching(/^the processor(, with vectors of 256 bits)?$/) as string,
      notes: [expect.stringMatching(/^backend tensorflow was passed over: .* has neither /)],
    });
    const { out } = await runCommand(evaluate, args, { cwd });
    const { device, notes } = computedWith;
    expect(out[0]).toBe(`backend               wasm, ${device}; ${notes[0]}`);
  });

  test("compares a policy with another one, with greedy decoding and sampled", async () => {
    const args = ["--tasks", tasks(), "--policy", "scripted:teacher", "--limit", "5"];
    const compared = [...args, "--baseline", "scripted:idle", "--samples", "2"];
    const { out } = await runCommand(evaluate, [...compared, "--json"], { cwd });
    const { policies, change, sampledChange } = JSON.parse(out[0]!) as Record<
      "change" | "sampledChange",
      Record<string, Interval>
    > & { readonly policies: readonly { readonly success: number }[] };
    const [idle, teacher] = policies.map(it => it.success) as [number, number];
    expect(teacher).toBeGreaterThan(idle);
    for (const it of [change, sampledChange]) expect(it["success"]!.mean).toBe(teacher - idle);
    expect(policies).toMatchObject([{ sampled: { attempts: 10 } }, { sampled: { attempts: 10 } }]);
    const text = (await runCommand(evaluate, compared, { cwd })).out;
    expect(text).toContain("scripted:teacher compared with scripted:idle");
    expect(text).toContain("  sampled, mean@2");
    expect(text.filter(it => /^ {2}success \+1\.000 .*: higher$/.test(it))).toHaveLength(2);
  });

  test("writes the tasks at which a policy failed, and never over another file", async () => {
    const failed = join(cwd, "failed.tasks.jsonl");
    const read = (file: string) => readFileSync(file, "utf8").trim().split("\n");
    const evaluateFor = (policy: string, ...options: string[]) =>
      runCommand(
        evaluate,
        ["--tasks", tasks(), "--policy", policy, "--json", "--failed", failed, ...options],
        { cwd },
      );
    const taught = await evaluateFor("scripted:teacher");
    expect(taught.notes.join()).toContain("no task failed");
    expect(existsSync(failed)).toBe(false);

    const { out, notes } = await evaluateFor("small", "--split", "train");
    const { success, attempts } = JSON.parse(out[0]!) as Metrics;
    const count = Math.round((1 - success) * attempts);
    expect(count).toBeGreaterThan(0);
    expect(notes.join()).toContain(`${count} of ${attempts} tasks failed`);
    expect(read(failed)).toHaveLength(count);
    expect(read(tasks())).toEqual(expect.arrayContaining(read(failed)));

    const written = readFileSync(failed, "utf8");
    await expect(evaluateFor("small")).rejects.toThrow(/failed\.tasks\.jsonl exists already/);
    expect(readFileSync(failed, "utf8")).toBe(written);
    rmSync(failed);
    await expect(evaluateFor("small,scripted:teacher")).rejects.toThrow(
      "--failed is for one policy, and --policy names 2",
    );
  });

  test("writes the attempts, which can be scored again", async () => {
    const attempts = join(cwd, "teacher.trajectory.jsonl");
    const evaluateTo = (file: string) =>
      runCommand(
        evaluate,
        ["--tasks", tasks(), "--policy", "scripted:teacher", "--json"].concat([
          "--samples",
          "2",
          "--attempts",
          file,
        ]),
        { cwd },
      );
    const { out } = await evaluateTo(attempts);
    const { attempts: count } = JSON.parse(out[0]!) as Metrics;
    const scored = await runCommand(score, ["--tasks", tasks(), attempts, "--json"], { cwd });
    expect(scored.out).toHaveLength(3 * count);
    await expect(evaluateTo(attempts)).rejects.toThrow("teacher.trajectory.jsonl exists already");
    await expect(evaluateTo(join(cwd, "teacher.jsonl"))).rejects.toThrow(
      "is not the name of a trajectory file",
    );
  });

  test("attempts a task once that is in the file several times", async () => {
    const file = join(cwd, "repeated.tasks.jsonl");
    const lines = readFileSync(tasks(), "utf8");
    writeFileSync(file, lines.repeat(3));
    const { out, notes } = await runCommand(
      evaluate,
      ["--tasks", file, "--policy", "small", "--json"],
      { cwd },
    );
    expect(JSON.parse(out[0]!)).toMatchObject({ attempts: 12 });
    expect(notes).toContain(`24 tasks have the id of an earlier one in ${file}, and are left out`);
  });

  test("refuses held-out tasks that require tools that the student was trained on", async () => {
    const seen = join(cwd, "seen.tasks.jsonl");
    writeFileSync(
      seen,
      readFileSync(tasks(), "utf8").replaceAll('"split":"train"', '"split":"heldout-chain"'),
    );
    await expect(
      runCommand(evaluate, ["--tasks", seen, "--policy", "prove/runs/loop-1-grpo"], { cwd }),
    ).rejects.toThrow(
      /is not held out for the model in .*: it was trained on the tools .* together/,
    );
  });

  const check = (args: string[], reason: RegExp) =>
    expect(runCommand(evaluate, args, { cwd })).rejects.toThrow(reason);
  test("names what is wrong with its options", async () => {
    await check(["--policy", "x"], /needs a tasks file/);
    await check(["--tasks", tasks(), "--policy", "nowhere"], /there is no policy nowhere/);
    await check(["--tasks", tasks(), "--policy", "prove"], /is not a model folder/);
    await check(
      ["--tasks", tasks(), "--policy", "scripted:teacher", "--split", "best"],
      /there is no split best/,
    );
    await check(
      ["--tasks", tasks(), "--policy", "scripted:teacher", "--split", "heldout-server"],
      /holds no tasks of the split heldout-server/,
    );
  });
});

describe("train", () => {
  const check = (args: string[], reason: RegExp) =>
    expect(runCommand(train, args, { cwd })).rejects.toThrow(reason);
  test("names what is wrong with its options", async () => {
    writeFileSync(join(cwd, "bad.json"), JSON.stringify({ grpo: { group: 1 } }));
    await check(["--tasks", tasks()], /needs a run folder/);
    await check(["--run", "r"], /needs a tasks file/);
    await check(["--run", "nowhere", "--resume"], /is not a run folder/);
    await check(
      ["--run", "r", "--tasks", tasks(), "--config", "bad.json"],
      /bad\.json:1 is not a file of training settings: at \/grpo\/group/,
    );
    await check(
      ["--run", "r", "--tasks", tasks(), "--backend", "abacus"],
      /backend cannot be used/,
    );
    await check(["--run", "r", "--tasks", tasks(), "--from", "nowhere"], /no model nowhere/);
    expect(existsSync(join(cwd, "r", "run.json"))).toBe(false);
  });

  test("refuses weights that are not all numbers, and writes no run folder", async () => {
    const model = join(cwd, "spoiled");
    cpSync(join(root, "resources/models/careless"), model, { recursive: true });
    const file = join(model, "weights.safetensors");
    const bytes = readFileSync(file);
    bytes.fill(0xff, bytes.length - 2); // NaN in 16 bits
    writeFileSync(file, bytes);
    const args = ["--tasks", tasks(), "--run", "prove/runs/spoiled", "--from", model];
    await expect(runCommand(train, args, { cwd })).rejects.toThrow(
      /weights\.safetensors has NaN in/,
    );
    expect(existsSync(join(cwd, "prove/runs/spoiled"))).toBe(false);
  });

  test("says before the first step which task cannot be attempted, and which backend is not used", async () => {
    createEmptyBackend("tensorflow");
    const [first, ...others] = readFileSync(tasks(), "utf8").split("\n");
    const task = JSON.parse(first!) as Task;
    const menu = [...task.menu, { name: "banking_teleport" }];
    const file = join(cwd, "prove/tasks/renamed.tasks.jsonl");
    writeFileSync(file, [JSON.stringify({ ...task, menu }), ...others].join("\n"));
    const small = { tasks: file, steps: 1, grpo: { prompts: 2, group: 2 } };
    writeFileSync(join(cwd, "small.train.json"), JSON.stringify(small));
    const { code, notes } = await runCommand(
      train,
      ["--run", "renamed", "--config", "small.train.json"],
      { cwd },
    );
    expect(code).toBe(0);
    expect(notes).toEqual([
      expect.stringMatching(
        /^1 of 16 tasks cannot be attempted, and is left out: task .* offers banking_teleport/,
      ),
      expect.stringMatching(/^backend tensorflow was passed over: .* has neither /),
    ]);
    expect(readRun(join(cwd, "renamed")).trainedWith).toMatchObject({
      backend: "wasm",
      aboutTasks: notes.slice(0, 1),
      notes: notes.slice(1),
    });
  });

  test.each([
    ["no task fits", ["--only-fitting"], /none of the \d+ tasks .* fits careless: \d+ on servers/],
    ["the folder of the backend is empty", ["--backend", "tensorflow"], /has neither/],
  ])("leaves nothing behind if it is refused because %s", async (_, more, reason) => {
    createEmptyBackend("tensorflow");
    const file = join(cwd, "unknown.tasks.jsonl");
    const example = readFileSync(join(root, "resources/example/prove/tasks/example.tasks.jsonl"));
    const unknown = String(example)
      .split("\n")
      .filter(it => it.includes('"split":"train"') && it.includes('"servers":[{"name":"maps"'));
    writeFileSync(file, unknown.join("\n"));
    const chosen = more.includes("--only-fitting") ? file : tasks();
    const refused = ["--tasks", chosen, "--from", "careless", ...more];
    const parent = mkdtempSync(join(tmpdir(), "prove-refused-"));
    await check([...refused, "--run", join(parent, "runs/a/b")], reason);
    expect(readdirSync(parent)).toEqual([]);
    // what was there before stays, also a file with the name of a run's own
    const kept = ["checkpoints", "notes.txt", "trainer.log"];
    mkdirSync(join(parent, "mine/checkpoints"), { recursive: true });
    for (const it of kept.slice(1)) writeFileSync(join(parent, "mine", it), "mine");
    await check([...refused, "--run", join(parent, "mine")], reason);
    expect(readdirSync(join(parent, "mine"))).toEqual(kept);
    expect(readdirSync(join(parent, "mine/checkpoints"))).toEqual([]);
  });

  test("exits with 1 and one line about the alarm if the learning rate spoils the weights", async () => {
    const settings = { learningRate: 1000, prompts: 2, group: 2 };
    const file = { tasks: "tasks/loop-1.tasks.jsonl", model: "careless", seed: 5, seconds: 600 };
    writeFileSync(join(cwd, "prove/high.train.json"), JSON.stringify({ ...file, grpo: settings }));
    const { code, out } = await runCommand(
      train,
      "--run spoiled --config prove/high.train.json --steps 40 --workers 1".split(" "),
      { cwd },
    );
    const { tasks: trained, from, seed, steps, seconds } = readRun(join(cwd, "spoiled"));
    expect({ trained, from, seed, steps, seconds }).toEqual({
      trained: tasks(),
      from: "careless",
      seed: 5,
      steps: 40,
    });
    expect(code).toBe(1);
    expect(out.at(-1)).toMatch(
      /^the training ended with .*\. To do: start a new run with a lower learning rate$/,
    );
  });

  test("stops at Ctrl-C, loses no step that it reported, and can be resumed", async () => {
    const run = join(cwd, "stopped");
    const file = join(cwd, "few.train.json");
    writeFileSync(file, JSON.stringify({ grpo: { prompts: 2, group: 2 } }));
    // a limit, so that the trainer ends by itself where this process is killed
    const limits = ["--seconds", "600", "--workers", "1", "--config", file];
    await trainUntilInterrupted(["--tasks", tasks(), "--run", run, ...limits]);
    const { step } = findLatestCheckpoint(run);
    expect(step).toBe(readMetrics(run).lines.at(-1)!.step);
    await trainUntilInterrupted(["--run", run, "--resume"]);
    const { lines } = readMetrics(run);
    expect(lines.length).toBeGreaterThan(step);
    expect(lines.map(it => it.step)).toEqual(lines.map((_, i) => i + 1));
  });

  test("resumes a run that has ended with new limits, and refuses other options", async () => {
    const run = join(cwd, "extended");
    const small = { tasks: tasks(), steps: 1, grpo: { prompts: 2, group: 2 } };
    writeFileSync(join(cwd, "short.train.json"), JSON.stringify(small));
    const start = ["--run", run, "--config", "short.train.json", "--workers", "1"];
    await runCommand(train, start, { cwd });
    const resume = ["--run", run, "--resume"];
    await check([...resume, "--seed", "0"], /--seed <n> is given/);
    await check([...resume, "--only-fitting"], /--only-fitting is given/);
    await check([...resume, "--steps", "1"], /has been trained for 1 steps and/);
    const { code, out } = await runCommand(train, [...resume, "--steps", "2"], { cwd });
    expect({ code, last: out.at(-1) }).toEqual({ code: 0, last: `done after step 2: ${run}` });
    expect(readRun(run)).toMatchObject({ steps: 2, from: "small" });
    expect(readMetrics(run).lines.map(it => it.step)).toEqual([1, 2]);
  });

  /** Trains until a step is done, then presses Ctrl-C. */
  async function trainUntilInterrupted(args: readonly string[]): Promise<void> {
    const run = args[args.indexOf("--run") + 1]!;
    const child = spawn(process.execPath, [join(root, "dist/cli.js"), "train", ...args], {
      cwd,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const exited = once(child, "exit");
    // if the test fails: Ctrl-C also stops a trainer that has not locked its folder yet
    onTestFinished(async () => {
      child.kill("SIGINT");
      await Promise.race([exited, sleep(5_000)]);
      child.kill("SIGKILL");
      await exited;
      await endTrainer(run);
    });
    let output = "";
    child.stderr.on("data", (it: Buffer) => (output += it.toString()));
    while (!output.includes("reward")) await once(child.stderr, "data");
    child.kill("SIGINT");
    await exited;
    while (readTrainerLock(run)) await sleep(20);
  }
});
