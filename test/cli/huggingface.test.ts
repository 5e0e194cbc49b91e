/** The commands train and evaluate with the folder of a Hugging Face model. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluate } from "../../src/cli/evaluate.ts";
import { model } from "../../src/cli/model.ts";
import { train } from "../../src/cli/train.ts";
import { startBackend } from "../../src/compute/backend.ts";
import { readModelFolder } from "../../src/model/modelFolder.ts";
import { findLatestCheckpoint, readRun } from "../../src/run/folder.ts";
import { programs } from "../compute/numbers.ts";
import { root } from "../contracts/transports.ts";
import { writeTinyModel } from "../model/huggingface/tinyModel.ts";
import { endTrainer } from "../train/endTrainer.ts";
import { runCommand } from "./terminal.ts";

test("a run starts from the folder, and its checkpoint is evaluated", async () => {
  await startBackend("wasm", { programs });
  const cwd = mkdtempSync(join(tmpdir(), "prove-models-"));
  const folder = await writeTinyModel({ longest: 16_384 });
  const described = await runCommand(model, [folder, "--context", "12000", "--json"], { cwd });
  expect(JSON.parse(described.out[0]!)).toMatchObject({
    kind: "hugging-face",
    calls: "hermes",
    limits: { context: 12_000, prompt: 11_488 },
  });

  const example = join(root, "resources/example/prove/tasks/student.tasks.jsonl");
  const lines = readFileSync(example, "utf8").split("\n").slice(0, 2);
  const tasks = join(cwd, "two.tasks.jsonl");
  writeFileSync(tasks, `${lines.join("\n")}\n`);
  const run = join(cwd, "run");
  const options = ["--tasks", tasks, "--from", folder, "--run", run, "--steps", "1"];
  const trained = await runCommand(train, [...options, "--method", "sft"], { cwd });
  expect(trained.code).toBe(0);
  await endTrainer(run);
  expect(readRun(run)).toMatchObject({ workers: 1, sft: { conversations: 4, learningRate: 1e-5 } });
  const { config, chat } = readModelFolder(findLatestCheckpoint(run).folder);
  expect(config.training).toMatchObject([{ method: "sft", steps: 1, tasks: 2 }]);
  expect(chat.limits.context).toBe(12_000);

  const attempt = ["--tasks", tasks, "--policy", run, "--split", "train", "--limit", "1"];
  const evaluated = await runCommand(evaluate, [...attempt, "--json"], { cwd });
  expect(JSON.parse(evaluated.out[0]!)).toMatchObject({ attempts: 1, unscorable: 0 });
  for (const it of [cwd, folder]) rmSync(it, { recursive: true });
});
