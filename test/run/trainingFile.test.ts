/** Training files: their paths, and values that cannot be used. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRunConfigFrom } from "../../src/run/createRunConfig.ts";
import { readStartModel } from "../../src/run/startModel.ts";
import { formatTrainingFile, readTrainingFile } from "../../src/run/trainingFile.ts";
import { root } from "../contracts/transports.ts";

const models = join(root, "resources/models");
let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-training-file-"));
  file = join(folder, "first.train.json");
  mkdirSync(join(folder, "tasks"));
  mkdirSync(join(folder, "runs/a/checkpoints/50"), { recursive: true });
  writeFileSync(join(folder, "tasks/a.tasks.jsonl"), "");
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (content: object) => {
  writeFileSync(file, JSON.stringify(content, null, 2));
  return readTrainingFile(file, models);
};

test("paths are relative to the file, and models that ship have names", () => {
  expect(read({ tasks: "tasks/a.tasks.jsonl", model: "careless", steps: 5 })).toEqual({
    tasks: join(folder, "tasks/a.tasks.jsonl"),
    model: join(models, "careless"),
    steps: 5,
  });
  expect(read({}).model).toBe(join(models, "small"));
  expect(read({ model: "runs/a/checkpoints/50" }).model).toBe(
    join(folder, "runs/a/checkpoints/50"),
  );
});

test("what is written is read again", () => {
  const settings = {
    tasks: join(folder, "tasks/a.tasks.jsonl"),
    model: join(models, "careless"),
    seconds: 60,
    profile: "paper",
    grpo: { objective: "dapo" },
  } as const;
  const text = formatTrainingFile(settings, { folder, models });
  expect(JSON.parse(text)).toMatchObject({ tasks: "tasks/a.tasks.jsonl", model: "careless" });
  writeFileSync(file, text);
  expect(readTrainingFile(file, models)).toEqual(settings);
});

test("a run has the file's settings, and those that suit its model", () => {
  const create = (content: object) => {
    const { model, ...settings } = read({ tasks: "tasks/a.tasks.jsonl", ...content });
    const options = { startedAt: new Date(0), ...settings, tasks: settings.tasks! };
    return createRunConfigFrom(readStartModel(model), options);
  };
  expect(create({ model: "careless", backend: "wasm" })).toMatchObject({
    from: "careless",
    backend: "wasm",
    grpo: { learningRate: 2e-4, decay: "linear" },
  });
  expect(create({ model: "careless", grpo: { learningRate: 1e-4 } })).toMatchObject({
    grpo: { learningRate: 1e-4 },
  });
  expect(create({ model: "small" })).toMatchObject({ grpo: { learningRate: 8e-5 } });
});

test.each([
  [
    { steps: 5, task: "a" },
    /first\.train\.json:3 is not .* at \/: Unrecognized key: "task" \(did you mean tasks\?\):/,
  ],
  [
    { grpo: { learningrate: 1e-4 } },
    /first\.train\.json:3 is not .* at \/grpo: Unrecognized key: "learningrate" \(did you mean learningRate\?\):/,
  ],
  [{ zebra: 1 }, /first\.train\.json:2 is not .* at \/: Unrecognized key: "zebra":/],
  [{ steps: 0 }, /first\.train\.json:2 is not a file of training settings: at \/steps/],
  [{ grpo: { group: 1 } }, /first\.train\.json:3 .* at \/grpo\/group/],
  [{ tasks: "nowhere.jsonl" }, /there is no tasks file nowhere\.jsonl/],
  [{ model: "smal" }, /there is no model folder smal/],
  [{ profile: "papr" }, /at \/profile/],
])("%j is refused", (content, message) => expect(() => read(content)).toThrow(message));
