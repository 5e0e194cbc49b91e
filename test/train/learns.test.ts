/**
 * Training of a tiny student on one server: supervised training lowers its loss, and GRPO then
 * raises its reward, but not with shuffled advantages.
 */
import { queryObjects } from "node:v8";
import { beforeAll, describe, expect, test, onTestFinished, vi } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { CallMemo } from "../../src/environment/session.ts";
import type { Catalog } from "../../src/environment/catalog.ts";
import { createCompactFormat } from "../../src/model/student/compactChat.ts";
import type { ChatFormat } from "../../src/model/chatFormat.ts";
import { copyWeights } from "../../src/model/modelFolder.ts";
import {
  initializeModel,
  createModel,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { provePlusProfile } from "../../src/reward/profiles.ts";
import {
  defaultGrpoSettings,
  defaultSftSettings,
  type GrpoConfig,
  type RunConfig,
  type SftConfig,
} from "../../src/run/config.ts";
import type { GrpoStep, SftStep } from "../../src/run/metrics.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { buildCorpus } from "../../src/train/sft/corpus.ts";
import { openGrpo, type GrpoContext } from "../../src/train/grpo/grpo.ts";
import { createAdamW, type Optimizer } from "../../src/train/optimizer.ts";
import { createSingleReplica } from "../../src/train/replicas.ts";
import { openSft } from "../../src/train/sft/sft.ts";
import type { MethodContext, TrainingMethod } from "../../src/train/trainingMethod.ts";
import { programs } from "../compute/numbers.ts";
import {
  boxes,
  createBoxCatalog,
  getBoxArchitecture,
  createBoxTasks,
  createBoxTokenizer,
} from "./boxes.ts";

const common = {
  format: "prove/run@1",
  version: "0",
  began: "2026-03-02T09:00:00Z",
  tasks: "",
  split: "train",
  seed: 3,
  backend: "wasm",
  workers: 1,
  saveEvery: 1000,
  profile: "prove-plus",
  keepGroups: 0,
} satisfies Partial<RunConfig>;

let catalog: Catalog;
let tasks: Task[];
let chat: ChatFormat;
let startModel: Model;
const losses: number[] = [];

beforeAll(async () => {
  await startBackend("wasm", { programs });
  catalog = createBoxCatalog();
  tasks = await createBoxTasks(catalog);
  const tokenizer = createBoxTokenizer(tasks);
  chat = createCompactFormat(tokenizer);
  startModel = initializeModel(getBoxArchitecture(tokenizer.size), 5);
  const config: SftConfig = {
    ...common,
    method: "sft",
    steps: 60,
    sft: { ...defaultSftSettings, conversations: 8, learningRate: 3e-3, warmUp: 10 },
  };
  const { corpus } = await buildCorpus(tasks, {
    catalog,
    chat,
    settings: config.sft,
    seed: 1,
  });
  const optimizer = createAdamW(startModel);
  const sft = openSft(
    { group: createSingleReplica(undefined), model: startModel, chat, optimizer },
    config,
    corpus,
  );
  for (let step = 1; step <= 60; step++)
    losses.push(((await sft.step(step, step / 60))!.metrics as SftStep).loss);
  optimizer.dispose();
});

/** The mean reward of each step of a short GRPO run after supervised training. */
async function trainGrpo(advantages: GrpoConfig["grpo"]["advantages"]): Promise<number[]> {
  const weights = await copyWeights(startModel);
  const model = createModel(startModel.architecture, name => weights.get(name)!.values.slice());
  const config: GrpoConfig = {
    ...common,
    method: "grpo",
    steps: 30,
    grpo: { ...defaultGrpoSettings, prompts: 8, group: 8, learningRate: 5e-4, advantages },
  };
  const optimizer = createAdamW(model);
  const grpo = openGrpo(
    {
      group: createSingleReplica(undefined),
      model,
      chat,
      optimizer,
      catalog,
      tasks,
      reference: startModel,
      profile: provePlusProfile,
    },
    config,
  );
  const means: number[] = [];
  for (let step = 1; step <= 30; step++)
    means.push(((await grpo.step(step, step / 30))!.metrics as GrpoStep).reward.mean);
  grpo.dispose();
  optimizer.dispose();
  model.dispose();
  return means;
}

/** The boxes, with a `find` that crashes in the calls with these numbers. */
function createCrashingBoxes(crashes: (call: number) => boolean): typeof boxes {
  let calls = 0;
  const find = boxes.tools.get("box_find")!;
  const crashing: typeof find = {
    ...find,
    run(...args: Parameters<typeof find.run>) {
      if (crashes(calls++)) throw new Error("out of boxes");
      return find.run(...args);
    },
  };
  return { ...boxes, tools: new Map([...boxes.tools, ["box_find", crashing]]) };
}

const mean = (values: readonly number[]) => values.reduce((sum, it) => sum + it, 0) / values.length;
const rise = (values: readonly number[]) => mean(values.slice(-6)) - mean(values.slice(0, 6));

describe("a tiny student", () => {
  test("learns from the conversations of its teacher", () => {
    expect(losses[0]!).toBeGreaterThan(5);
    expect(mean(losses.slice(-5))).toBeLessThan(1);
  });

  test("gets a higher reward after thirty steps of GRPO", async () => {
    const means = await trainGrpo("group");
    expect(rise(means)).toBeGreaterThan(0.15);
  });

  /** Steps of four groups of eight, at a rate at which nothing moves. */
  function openSteps(
    crashes: (call: number) => boolean,
    context: Partial<GrpoContext> = {},
    settings: Partial<GrpoConfig["grpo"]> = { kl: 0 },
  ) {
    const optimizer = createAdamW(startModel);
    const grpo = openGrpo(
      {
        group: createSingleReplica(undefined),
        model: startModel,
        chat,
        optimizer,
        catalog: createBoxCatalog(createCrashingBoxes(crashes)),
        tasks,
        reference: undefined,
        profile: provePlusProfile,
        ...context,
      },
      {
        ...common,
        method: "grpo",
        grpo: { ...defaultGrpoSettings, prompts: 4, group: 8, learningRate: 1e-12, ...settings },
      },
    );
    onTestFinished(() => (grpo.dispose(), optimizer.dispose()));
    return async (step: number) => (await grpo.step(step, 0))!;
  }

  describe("that is interrupted after the weights have changed", () => {
    /** Takes a step, and another one that is interrupted after an optimizer step. */
    async function checkAbandoned(
      open: (context: MethodContext) => TrainingMethod,
      progress: number,
    ): Promise<void> {
      const weights = await copyWeights(startModel);
      const model = createModel(startModel.architecture, name => weights.get(name)!.values.slice());
      const optimizer = createAdamW(model);
      let changed = 0;
      const counting: Optimizer = {
        ...optimizer,
        step: (...given) => (changed++, optimizer.step(...given)),
      };
      const group = { ...createSingleReplica(undefined), isInterrupted: () => changed > before };
      const method = open({ group, model, chat, optimizer: counting });
      let before = Infinity;
      expect(await method.step(1, 0)).toBeDefined();
      const [expected, state] = [await copyWeights(model), await optimizer.state()];
      before = changed;
      expect(await method.step(2, progress)).toBeUndefined();
      expect(changed).toBe(before + 1);
      expect(await copyWeights(model)).toEqual(expected);
      expect(await optimizer.state()).toEqual(state);
      method.dispose();
      optimizer.dispose();
      model.dispose();
    }

    test("in GRPO, is as it was before the step", () =>
      checkAbandoned(
        context =>
          openGrpo(
            { ...context, catalog, tasks, reference: undefined, profile: provePlusProfile },
            {
              ...common,
              method: "grpo",
              grpo: { ...defaultGrpoSettings, prompts: 4, group: 8, minibatches: 3, kl: 0 },
            },
          ),
        0,
      ));

    test("in supervised training, is as it was before the step", async () => {
      const settings = { ...defaultSftSettings, conversations: 4 };
      const built = await buildCorpus(tasks, { catalog, chat, settings, seed: 1 });
      const corpus = { ...built.corpus, trainingCount: built.corpus.trainingCount - 2 };
      const config: SftConfig = { ...common, method: "sft", sft: settings };
      // validates, because it is the last step
      await checkAbandoned(context => openSft(context, config, corpus), 1);
    });
  });

  test("remembers nothing about the tasks of a step after it", async () => {
    const countMemos = () => queryObjects(CallMemo, { format: "count" });
    const takeStep = openSteps(() => false);
    const before = countMemos();
    await takeStep(1);
    await takeStep(2);
    // on a busy machine, a step's last callbacks may still hold its tasks
    await expect.poll(countMemos).toBe(before);
  });

  test("learns from the other attempts of a group in which some crash", async () => {
    // not later, when the goals are executed to score attempts
    const { metrics, groups } = await openSteps(call => call < 16 && call % 8 < 3)(1);
    const { attempts, faults, gradientNorm } = metrics as GrpoStep;
    expect(attempts + faults).toBe(32);
    expect(faults).toBe(6);
    expect(attempts).toBe(groups.length);
    expect(gradientNorm).toBeGreaterThan(0);
    for (const task of new Set(groups.map(it => it.task))) {
      const group = groups.filter(it => it.task === task);
      expect(group.map(it => it.attempt)).toEqual(group.map((_, i) => i));
      expect(group.reduce((sum, it) => sum + it.advantage, 0)).toBeCloseTo(0, 6);
    }
  });

  test("learns from the other groups if the goals of one crash", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => log.mockRestore());
    // the attempts of a group are scored one after the other, and the goals are executed first
    let crashed = false;
    const takeStep = openSteps(call => {
      const isGoal = new Error().stack!.includes("runGoals");
      return call >= 8 && isGoal && !crashed && (crashed = true);
    });
    const { metrics, groups } = await takeStep(1);
    const { attempts, faults } = metrics as GrpoStep;
    expect([attempts, faults]).toEqual([24, 8]);
    expect(new Set(groups.map(it => it.task)).size).toBe(3);
    expect(log.mock.calls).toEqual([
      [expect.stringMatching(/^task .*: goal 1, box_find, is broken \(.*out of boxes\)$/)],
    ]);
  });

  test("ends if all of its calls crash", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => log.mockRestore());
    await expect(openSteps(() => true)(1)).rejects.toThrow(
      /^all attempts of step 1 ended by a fault; the last one: .*out of boxes/,
    );
  });

  test("takes steps with shuffled advantages if a task is too long to attempt", async () => {
    const long = structuredClone(tasks[0]!);
    const word = `${long.turns[0]!.user} `;
    for (const event of long.trajectory.events.filter(it => it.kind === "user"))
      event.text = word.repeat(200);
    long.turns[0]!.user = word.repeat(200);
    const takeStep = openSteps(
      () => false,
      { tasks: [long, ...tasks.slice(1, 4)], reference: startModel },
      { advantages: "shuffled" },
    );
    // the KL term is measured on one of the four groups of a step, at some time on the long one
    const steps: GrpoStep[] = [];
    for (let step = 1; step <= 12; step++) steps.push((await takeStep(step)).metrics as GrpoStep);
    expect(steps.some(it => it.kl === undefined)).toBe(true);
    expect(steps.some(it => it.kl !== undefined)).toBe(true);
    for (const { zeroVariance, cut } of steps) {
      expect(cut).toBeGreaterThanOrEqual(0.25);
      // its attempts earn the same, also where their advantages are those of others
      expect(zeroVariance).toBeGreaterThanOrEqual(0.25);
    }
  });

  test("does not get it with shuffled advantages", async () => {
    expect(rise(await trainGrpo("shuffled"))).toBeLessThan(0.1);
  });
});
