/**
 * Training with the command-line program: the whole loop, evaluation, and runs that are resumed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { evaluate } from "../../src/cli/evaluate.ts";
import { loop } from "../../src/cli/loop.ts";
import { train } from "../../src/cli/train.ts";
import { findLatestCheckpoint, listRuns, readMetrics } from "../../src/run/folder.ts";
import { readTrainerLock } from "../../src/run/trainerLock.ts";
import { root } from "../contracts/transports.ts";
import { endTrainer } from "../train/endTrainer.ts";
import { runCommand } from "./terminal.ts";

let cwd: string;
let rows: readonly {
  name: string;
  zeroVariance: number;
  metrics: {
    attempts: number;
    reward: Record<string, number>;
    success: number;
    parts: object;
    calls: number;
    budget: number;
    tokensPerRollout: number;
    rolloutsPerSecond: number;
  };
}[];
const tasks = () => join(cwd, "prove/tasks/loop-1.tasks.jsonl");

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "prove-loop-"));
  const { code, out } = await runCommand(
    loop,
    ["--seconds", "3", "--train", "16", "--heldout", "12", "--json"],
    { cwd },
  );
  expect(code).toBe(0);
  ({ rows } = JSON.parse(out.join("\n")) as { rows: typeof rows });
}, 240_000);
afterAll(async () => {
  for (const run of listRuns(join(cwd, "prove/runs"))) await endTrainer(run);
});

describe("the loop", () => {
  test("measures before, after GRPO and after the control on the same held-out tasks", () => {
    expect(rows.map(it => it.name)).toEqual(["before", "after GRPO", "after SFT"]);
    for (const { metrics } of rows) {
      expect(metrics.attempts).toBe(12);
      expect(Object.keys(metrics.reward)).toEqual(["prove-plus", "paper"]);
      expect(Object.keys(metrics.parts)).toEqual([
        "validity",
        "coverage",
        "efficiency",
        "name",
        "argument",
      ]);
      expect(metrics.tokensPerRollout).toBeGreaterThan(5);
    }
  });

  test("writes its tasks and both runs to the folders that the editor reads", () => {
    const splits = readFileSync(tasks(), "utf8")
      .trim()
      .split("\n")
      .map(it => (JSON.parse(it) as { split: string }).split);
    expect(splits.filter(it => it === "train")).toHaveLength(16);
    for (const method of ["grpo", "sft"])
      expect(readMetrics(join(cwd, "prove/runs", `loop-1-${method}`)).lines.length).toBeGreaterThan(
        0,
      );
  });
});

describe("evaluate", () => {
  test("evaluates the latest checkpoint of a run, and the teacher, which always succeeds", async () => {
    const { out } = await runCommand(
      evaluate,
      ["--tasks", tasks(), "--policy", "prove/runs/loop-1-grpo", "--limit", "5"],
      { cwd },
    );
    expect(out.join("\n")).toMatch(/tasks +5\nreward, paper +[\d.]+/);
    const teacher = await runCommand(
      evaluate,
      ["--tasks", tasks(), "--policy", "scripted:teacher", "--json"],
      { cwd },
    );
    expect(JSON.parse(teacher.out[0]!)).toMatchObject({ success: 1, attempts: 12 });
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
    await check(["--run", "r", "--tasks", tasks(), "--from", "nowhere"], /nowhere/);
    expect(existsSync(join(cwd, "r", "run.json"))).toBe(false);
  });

  test("stops within two seconds of Ctrl-C and leaves a run that can be resumed", async () => {
    const run = join(cwd, "stopped");
    await trainUntilInterrupted(["--tasks", tasks(), "--run", run, "--steps", "100000"]);
    const { step } = findLatestCheckpoint(run);
    // a step that takes longer is abandoned, and the run is resumed from its last checkpoint
    expect(step).toBeLessThanOrEqual(readMetrics(run).lines.at(-1)!.step);
    await trainUntilInterrupted(["--run", run, "--resume"]);
    const { lines } = readMetrics(run);
    expect(lines.length).toBeGreaterThan(step);
    expect(lines.map(it => it.step)).toEqual(lines.map((_, i) => i + 1));
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
    }, 30_000);
    let output = "";
    child.stderr.on("data", (it: Buffer) => (output += it.toString()));
    while (!output.includes("reward")) await once(child.stderr, "data");
    const requestedAt = performance.now();
    child.kill("SIGINT");
    await exited;
    expect(performance.now() - requestedAt).toBeLessThan(2_500);
    while (readTrainerLock(run)) await sleep(20);
  }
});
