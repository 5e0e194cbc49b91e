/** `backends` on one backend: its rows, with a tiny Hugging Face model and without one. */
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { backends } from "./backends.ts";
import { startBackend } from "../../src/compute/backend.ts";
import { programs } from "../compute/numbers.ts";
import { writeTinyModel } from "../model/huggingface/tinyModel.ts";
import { runCommand } from "../cli/terminal.ts";
import { emptyFolder } from "../cli/program.ts";

const cwd = emptyFolder();
const measure = (...args: string[]) => runCommand(backends, args, { cwd });
const parse = (lines: readonly string[]) =>
  lines.map(it => JSON.parse(it) as { name: string; value: number; unit: string });

test("the training of a model's adapters: learning, sampling, a step of GRPO and memory", async () => {
  await startBackend("wasm", { programs });
  const model = await writeTinyModel({ longest: 16_384, settings: { context: 12_000 } });
  const { code, out } = await measure("--backend", "wasm", "--model", model);
  expect(code).toBe(0);
  const rows = parse(out);
  const names = ["learning-256", "memory-256", "learning-2000", "memory-2000", "sampling"];
  const ofStep = ["step-sampling", "step-learning", "step-tokens", "step-memory"];
  const withoutClock = rows.map(it => it.name).filter(it => !it.endsWith(".clock"));
  expect(withoutClock).toEqual([...names, ...ofStep].map(it => `training.model.${it}.wasm`));
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
  // of two tasks with four attempts each, at most 32 tokens an attempt
  expect(rows.find(it => it.unit === "tokens")!.value).toBeLessThanOrEqual(256);
  rmSync(model, { recursive: true });
});

test("a folder that has no whole model is refused", async () => {
  await expect(measure("--backend", "wasm", "--model", cwd)).rejects.toThrow("config.json");
});
