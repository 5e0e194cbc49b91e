/**
 * A Hugging Face model in the place of a student: it attempts tasks, learns from teachers'
 * conversations, takes a step of GRPO, and is saved with its tokenizer and its history.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import type { Catalog } from "../../src/environment/catalog.ts";
import { evaluate } from "../../src/evaluation/evaluate.ts";
import {
  copyWeights,
  loadModel,
  readModelFolder,
  writeStoredModel,
} from "../../src/model/modelFolder.ts";
import { templateFiles } from "../../src/model/huggingface/chatTemplate.ts";
import { openStudent } from "../../src/model/student.ts";
import type { Model } from "../../src/model/transformer/transformer.ts";
import { provePlusProfile } from "../../src/reward/profiles.ts";
import type { GrpoConfig, SftConfig } from "../../src/run/config.ts";
import { createRunConfigFrom } from "../../src/run/createRunConfig.ts";
import type { GrpoStep, SftStep } from "../../src/run/metrics.ts";
import { readStartModel } from "../../src/run/startModel.ts";
import { buildCorpus } from "../../src/train/sft/corpus.ts";
import { openGrpo } from "../../src/train/grpo/grpo.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { createSingleReplica } from "../../src/train/replicas.ts";
import { openSft } from "../../src/train/sft/sft.ts";
import { checkMenus, createFitCheck } from "../../src/train/taskFit.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { programs } from "../compute/numbers.ts";
import { writeTinyModel } from "../model/huggingface/tinyModel.ts";
import { createBoxCatalog, createBoxTasks } from "./boxes.ts";

let catalog: Catalog;
let tasks: Task[];
let folder: string;
let model: Model;

beforeAll(async () => {
  await startBackend("wasm", { programs });
  catalog = createBoxCatalog();
  tasks = (await createBoxTasks(catalog)).slice(0, 2);
  folder = await writeTinyModel({ settings: { answers: 300 } });
  model = await loadModel(readModelFolder(folder));
});
afterAll(() => {
  model.dispose();
  rmSync(folder, { recursive: true });
});

const options = { startedAt: new Date("2026-03-02T09:00:00Z"), tasks: "", steps: 4 };
const openContext = () => ({
  group: createSingleReplica(undefined),
  model,
  chat: readModelFolder(folder).chat,
  optimizer: createAdamW(model),
});

test("attempts tasks on a server that it has never seen", async () => {
  const stored = readModelFolder(folder);
  const check = createFitCheck(stored, catalog);
  expect(tasks.map(check)).toEqual(["fits", "fits"]);
  const student = openStudent(model, stored.chat, { name: "tiny", temperature: 0, seed: 1 });
  const { metrics, rows } = await evaluate(tasks, student, {
    catalog,
    profiles: [provePlusProfile],
    concurrency: 2,
  });
  student.dispose();
  expect(metrics).toMatchObject({ attempts: 2, unscorable: 0 });
  expect(rows[0]!.breakdowns[provePlusProfile.name]!.total).toBeTypeOf("number");
});

test("learns from teachers' conversations, and is saved with what it saw", async () => {
  const context = openContext();
  const config = createRunConfigFrom(readStartModel(folder), {
    ...options,
    method: "sft",
    sft: { learningRate: 3e-3, warmUp: 1 },
  }) as SftConfig;
  expect(config).toMatchObject({ workers: 1, sft: { conversations: 4 } });
  const { corpus } = await buildCorpus(tasks, {
    catalog,
    chat: context.chat,
    settings: config.sft,
    seed: 1,
  });
  const sft = openSft(context, config, corpus);
  const losses: number[] = [];
  for (let step = 1; step <= 4; step++)
    losses.push(((await sft.step(step, step / 4))!.metrics as SftStep).loss);
  context.optimizer.dispose();
  expect(losses.at(-1)).toBeLessThan(losses[0]! - 0.3);

  const copy = mkdtempSync(join(tmpdir(), "prove-saved-"));
  // of several templates, transformers has one in a folder
  mkdirSync(join(folder, "additional_chat_templates"));
  renameSync(join(folder, "chat_template.jinja"), join(folder, templateFiles[0]!));
  const stored = readModelFolder(folder);
  const saw = { ...stored.config.saw, worlds: [7] };
  const weights = await copyWeights(model);
  await writeStoredModel(copy, { ...stored, config: { ...stored.config, saw } }, weights);
  const saved = readModelFolder(copy);
  expect(saved.config).toEqual({ ...stored.config, saw });
  expect(saved.chat.limits).toEqual(stored.chat.limits);
  const loaded = await loadModel(saved);
  for (const [name, { values }] of await copyWeights(loaded))
    expect(values).toEqual(weights.get(name)!.values);
  loaded.dispose();
  rmSync(copy, { recursive: true });
});

test("takes a step of GRPO", async () => {
  const context = openContext();
  const config = createRunConfigFrom(readStartModel(folder), {
    ...options,
    grpo: { prompts: 2, group: 2 },
  }) as GrpoConfig;
  const grpo = openGrpo(
    { ...context, catalog, tasks, reference: undefined, profile: provePlusProfile },
    config,
  );
  const { metrics, groups } = (await grpo.step(1, 0))!;
  grpo.dispose();
  context.optimizer.dispose();
  expect(metrics as GrpoStep).toMatchObject({ attempts: 4, faults: 0 });
  const sampled = groups.flatMap(it => it.trajectory.events).filter(it => it.kind === "assistant");
  expect(sampled.flatMap(it => it.tokens ?? []).length).toBeGreaterThan(4);
});

describe("a folder that cannot be used", () => {
  async function check(
    given: Parameters<typeof writeTinyModel>[0],
    message: RegExp,
    change: (folder: string) => void = () => {},
  ) {
    const other = await writeTinyModel(given);
    change(other);
    expect(() => {
      const stored = readModelFolder(other);
      checkMenus(stored, tasks, catalog);
    }).toThrow(message);
    rmSync(other, { recursive: true });
  }

  test("has another tokenizer than its weights", () =>
    check(
      { config: { vocab_size: 100 } },
      /does not match the weights: it has token ids up to \d+, and the model knows those up to 99/,
    ));
  test("has no tokenizer", () =>
    check({}, /tokenizer\.json/, it => rmSync(join(it, "tokenizer.json"))));
  test("has no chat template", () =>
    check({}, /has no chat template/, it => rmSync(join(it, "chat_template.jinja"))));
  test("has a template that throws", () =>
    check({}, /refuses the conversation: not me/, it =>
      writeFileSync(join(it, "chat_template.jinja"), "{{ raise_exception('not me') }}"),
    ));
  test("has a template without tools", () =>
    check({}, /does not show tools/, it => {
      const file = join(it, "chat_template.jinja");
      writeFileSync(file, readFileSync(file, "utf8").replaceAll("tools", "nothing"));
    }));
  test("reads too few tokens for the menu", () =>
    check(
      { longest: 256, settings: { answers: 64 } },
      /take [\d,]+ tokens.* reads 256 tokens, and 64 of them are for its answers/,
    ));
  test("reads too few tokens for its answers", () =>
    check({ longest: 256 }, /reads 256 tokens, and 512 of them are for its answers/));
  test("has settings of another version", () =>
    check({}, /prove\.json/, it => writeFileSync(join(it, "prove.json"), '{"format":"x"}')));
});
