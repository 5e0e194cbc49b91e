/** The files of a run: written atomically, read back, and after a crash. */
import {
  cpSync,
  existsSync,
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { UserError } from "../../src/userError.ts";
import { runFormat, defaultSftSettings, type RunConfig } from "../../src/run/config.ts";
import {
  appendMetrics,
  listCheckpoints,
  createRun,
  discardAfter,
  getDiscardedFile,
  findLatestCheckpoint,
  getMetricsFile,
  readEnd,
  readMetrics,
  readRun,
  removeUnfinishedFiles,
  getRunFile,
  listRuns,
  writeCheckpoint,
  writeEnd,
} from "../../src/run/folder.ts";
import type { SftStep } from "../../src/run/metrics.ts";

const config: RunConfig = {
  format: runFormat,
  version: "0.1.0",
  began: "2026-03-02T09:00:00.000Z",
  tasks: "/t.tasks.jsonl",
  split: "train",
  seed: 1,
  backend: "auto",
  workers: 2,
  steps: 5,
  saveEvery: 2,
  profile: "paper",
  keepGroups: 1,
  method: "sft",
  sft: defaultSftSettings,
};
const step = (n: number): SftStep => ({
  step: n,
  method: "sft",
  loss: 1 / n,
  gradientNorm: 1,
  learningRate: 1,
  tokens: 10,
  taught: 4,
  conversations: 1,
  seconds: { learning: 0, total: 0 },
});

let root: string;
let folder: string;
let start: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "prove-run-"));
  folder = join(root, "runs", "one");
  start = join(root, "model");
  mkdirSync(start);
  for (const name of ["tokenizer.json", "weights.safetensors"])
    writeFileSync(join(start, name), name);
  writeFileSync(join(start, "config.json"), '{"name":"m","saw":{"servers":{}}}');
});

const mistakeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error("nothing was thrown");
};

describe("a run folder", () => {
  test("contains its configuration, and its starting model as checkpoint 0", () => {
    createRun(folder, config, start);
    expect(readRun(folder)).toEqual(config);
    expect(findLatestCheckpoint(folder)).toEqual({
      step: 0,
      folder: join(folder, "checkpoints", "0"),
    });
    expect(readFileSync(join(folder, "checkpoints", "0", "tokenizer.json"), "utf8")).toBe(
      "tokenizer.json",
    );
    expect(listRuns(join(root, "runs"))).toEqual([folder]);
  });

  test("is not overwritten", () => {
    createRun(folder, config, start);
    expect(mistakeOf(() => createRun(folder, config, start))).toContain("already holds a run");
  });

  test("does not begin where another one stopped whose run.json is gone", () => {
    createRun(folder, config, start);
    cpSync(join(folder, "checkpoints/0"), join(folder, "checkpoints/50"), { recursive: true });
    rmSync(getRunFile(folder));
    expect(mistakeOf(() => createRun(folder, config, start))).toContain(
      "has checkpoints of another run",
    );
  });

  test("is not begun from a model that lacks a file", () => {
    const model = join(root, "no-weights");
    cpSync(start, model, { recursive: true });
    rmSync(join(model, "weights.safetensors"));
    expect(mistakeOf(() => createRun(folder, config, model))).toBe(
      `the model folder ${model} has no weights.safetensors: copy the whole folder again, or choose another model`,
    );
    expect(existsSync(folder)).toBe(false);
  });

  test("that is missing, torn, of another version or without a checkpoint is an error", () => {
    expect(mistakeOf(() => readRun(root))).toContain("is not a run folder");
    createRun(folder, config, start);
    writeFileSync(getRunFile(folder), "{");
    expect(mistakeOf(() => readRun(folder))).toContain("is not JSON");
    writeFileSync(getRunFile(folder), JSON.stringify({ ...config, format: "prove/run@9" }));
    expect(mistakeOf(() => readRun(folder))).toMatch(
      /format prove\/run@9, which is newer than .*: update PROVE/,
    );
    writeFileSync(getRunFile(folder), JSON.stringify({ ...config, workers: 0 }));
    expect(mistakeOf(() => readRun(folder))).toContain("/workers");
    rmSync(join(folder, "checkpoints"), { recursive: true });
    expect(mistakeOf(() => findLatestCheckpoint(folder))).toContain("has no checkpoint");
  });

  test("loses what a killed trainer did not finish, and nothing else", () => {
    createRun(folder, config, start);
    const list = () => new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }));
    const before = list();
    mkdirSync(join(folder, "checkpoints/4.1234.tmp"));
    writeFileSync(join(folder, "checkpoints/4.1234.tmp/weights.safetensors"), "half");
    for (const name of ["ended.json.123456", "run.json.98"]) writeFileSync(join(folder, name), "{");
    removeUnfinishedFiles(folder);
    expect(list()).toEqual(before);
    for (const name of ["run.json.mine", "notes.123", "checkpoints/4.tmp"])
      writeFileSync(join(folder, name), "kept");
    removeUnfinishedFiles(folder);
    expect(list().size).toBe(before.size + 3);
  });

  test("stores how its last training ended", () => {
    createRun(folder, config, start);
    expect(readEnd(folder)).toBeUndefined();
    writeEnd(folder, { by: "failed", step: 3, what: "it broke", remedy: "mend it" });
    expect(readEnd(folder)).toEqual({ by: "failed", step: 3, what: "it broke", remedy: "mend it" });
  });
});

describe("metrics", () => {
  beforeEach(() => createRun(folder, config, start));

  test("are read line by line, and a torn line is reported", () => {
    for (const n of [1, 2]) appendMetrics(folder, step(n));
    appendFileSync(getMetricsFile(folder), `{"step":3,"meth`);
    const { lines, skipped } = readMetrics(folder);
    expect(lines.map(it => it.step)).toEqual([1, 2]);
    expect(skipped.map(it => it.line)).toEqual([3]);
  });

  test("after a torn line begin on a new line", () => {
    appendFileSync(getMetricsFile(folder), `{"step":1,"meth`);
    appendMetrics(folder, step(2));
    expect(readMetrics(folder).lines.map(it => it.step)).toEqual([2]);
  });

  test("after a checkpoint are moved, torn ones too, and their groups are deleted", () => {
    for (const n of [1, 2, 3]) {
      appendMetrics(folder, step(n));
      writeFileSync(join(folder, "groups", `${n}.jsonl`), "");
    }
    appendFileSync(getMetricsFile(folder), `{"step":4,"meth`);
    expect(discardAfter(folder, 2)).toEqual({ discarded: 2 });
    expect(readMetrics(folder)).toEqual({ lines: [step(1), step(2)], skipped: [] });
    expect(readFileSync(getDiscardedFile(folder), "utf8")).toBe(
      `${JSON.stringify(step(3))}\n{"step":4,"meth\n`,
    );
    expect(readdirSync(join(folder, "groups"))).toEqual(["1.jsonl", "2.jsonl"]);
    expect(discardAfter(folder, 2)).toEqual({ discarded: 0 });
  });
});

describe("a checkpoint", () => {
  beforeEach(() => createRun(folder, config, start));

  test("is written atomically", async () => {
    const at = await writeCheckpoint(folder, 2, async temporary =>
      writeFileSync(join(temporary, "config.json"), "{}"),
    );
    expect(at).toBe(join(folder, "checkpoints", "2"));
    const broken = writeCheckpoint(folder, 4, async temporary => {
      writeFileSync(join(temporary, "weights.safetensors"), "");
      throw new Error("the power went");
    });
    await expect(broken).rejects.toThrow("the power went");
    expect(listCheckpoints(folder)).toEqual([0, 2]);
  });
});
