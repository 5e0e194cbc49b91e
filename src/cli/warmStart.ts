/**
 * `warm-start`: remakes the student that ships. Conversations for training are synthesized on the
 * live servers, a tokenizer is learned from them, and a random model reads them until the time is
 * up; weights in 16 bits and the curve are what remains.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../userError.ts";
import { startBackend } from "../compute/backend.ts";
import type { Catalog } from "../environment/catalog.ts";
import type { Architecture } from "../model/architecture.ts";
import { studentLimits } from "../model/chatFormat.ts";
import {
  createConfig,
  loadModel,
  readModelFolder,
  copyWeights,
  writeModelFolder,
} from "../model/modelFolder.ts";
import { formatResultRows, formatArgument } from "../model/valueText.ts";
import { trainTokenizer, type Tokenizer } from "../model/tokenizer.ts";
import { initializeModel } from "../model/transformer.ts";
import { defaultSftSettings, type SftSettings } from "../run/config.ts";
import { createRunConfig, readRunSettings } from "../run/createRunConfig.ts";
import {
  getCheckpointFolder,
  listCheckpoints,
  createRun,
  readMetrics,
  readRun,
} from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import type { CliCommand, CliContext } from "./command.ts";
import { followTraining } from "./follow.ts";
import { listFixtureFolders, findShippedModel } from "./train.ts";

/** The sizes of the student that ships: about a million numbers. */
export const smallStudent: Omit<Architecture, "vocabulary"> = {
  width: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headWidth: 32,
  hidden: 384,
  context: studentLimits.context,
  ropeBase: 10_000,
};

const vocabularySize = 1792;

/** Small steps and a loss on all that is read: what is copied later is noticed earlier. */
const warmStartSettings: SftSettings = {
  ...defaultSftSettings,
  conversations: 16,
  learningRate: 3e-3,
  warmUp: 200,
  decay: 0.5,
  given: 0.1,
};

export const warmStart: CliCommand = {
  usage:
    "warm-start --tasks F --run DIR [--out DIR] [--seconds 3600] [--seed 1] [--workers 2] [--config F.json]",
  summary:
    "Remake the student that ships, from random weights, by reading synthesized conversations. About an hour on two cores.",
  options: {
    tasks: { type: "string" },
    run: { type: "string" },
    out: { type: "string" },
    seconds: { type: "string", default: "3600" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
    config: { type: "string" },
  },
  async run(terminal, _positionals, values) {
    const { cwd, resources, catalog, dist, print } = terminal;
    if (values["tasks"] === undefined || values["run"] === undefined)
      throw new UserError(
        "warm-start needs a tasks file and a run folder",
        `usage: prove-rl ${warmStart.usage}`,
      );
    const [tasks, run] = [
      resolve(cwd, values["tasks"] as string),
      resolve(cwd, values["run"] as string),
    ];
    const out =
      values["out"] === undefined
        ? findShippedModel(resources)
        : resolve(cwd, values["out"] as string);
    const seed = Number(values["seed"]);
    const more =
      values["config"] === undefined
        ? {}
        : readRunSettings(resolve(cwd, values["config"] as string)).sft;
    const start = `${run}.start`;
    await writeRandom(start, { tasks, catalog, seed, programs: dist }, terminal);
    createRun(
      run,
      createRunConfig({
        startedAt: new Date(),
        tasks,
        method: "sft",
        seed,
        workers: Number(values["workers"]),
        seconds: Number(values["seconds"]),
        saveEvery: 250,
        profile: "paper",
        keepGroups: 0,
        sft: { ...warmStartSettings, ...more },
      }),
      start,
    );
    rmSync(start, { recursive: true });
    const attachment = await startTrainer({
      folder: run,
      program: join(dist, "trainer.js"),
      fixtures: listFixtureFolders(terminal),
    });
    const { step } = await followTraining(attachment, terminal);
    const early = listCheckpoints(run).findLast(it => it <= earlyShare * step) ?? 0;
    const earlyOut = join(dirname(out), "early");
    await ship(run, step, out, dist);
    await ship(run, early, earlyOut, dist);
    print(`${out} holds the student after ${step} steps, ${earlyOut} after ${early}`);
    return 0;
  },
};

/** A model folder with random weights and a tokenizer learned from the tasks' own conversations. */
async function writeRandom(
  folder: string,
  {
    tasks,
    catalog,
    seed,
    programs,
  }: { tasks: string; catalog: Catalog; seed: number; programs: string },
  { showProgress: progress }: Pick<CliContext, "showProgress">,
): Promise<void> {
  progress("learning the tokenizer");
  const tokenizer = await tokenizerFrom(tasks, catalog);
  await startBackend("auto", { programs });
  const model = initializeModel({ ...smallStudent, vocabulary: tokenizer.size }, seed);
  mkdirSync(folder, { recursive: true });
  await writeModelFolder(
    folder,
    {
      config: createConfig("small", model.architecture, tokenizer),
      tokenizer,
      weights: copyWeights(model),
    },
    "F32",
  );
  model.dispose();
}

/** A few thousand conversations show every habit of speech. */
const enough = 6_000;

async function tokenizerFrom(file: string, catalog: Catalog): Promise<Tokenizer> {
  const texts: string[] = [];
  let n = 0;
  for await (const task of readTasks(file)) {
    if (task.split !== "train") continue;
    texts.push(...textsOf(task, catalog));
    if (++n === enough) break;
  }
  const tools = [...catalog.tools.values()];
  const keys = new Set(
    tools.flatMap(it => Object.keys((it.inputSchema["properties"] ?? {}) as object)),
  );
  return trainTokenizer(
    texts,
    tools.map(it => it.name),
    [...keys],
    vocabularySize,
  );
}

/** What is said, given and answered in a task, each as the student will see it. */
function textsOf({ trajectory }: Task, catalog: Catalog): string[] {
  return trajectory.events.flatMap(it => {
    if (it.kind === "user" || it.kind === "assistant") return [` ${it.text}`];
    if (it.kind !== "call") return [];
    const tool = catalog.tools.get(it.name);
    const answer =
      it.outcome.kind === "ok"
        ? formatResultRows(it.outcome.value, tool?.outputSchema, false).join("; ")
        : `error ${it.outcome.message}`;
    return [
      ` ${answer}`,
      ...Object.values((it.arguments ?? {}) as Record<string, never>).map(
        value => ` ${formatArgument(value, undefined)}`,
      ),
    ];
  });
}

/**
 * The share of the steps after which a student still has something to learn from its own attempts.
 */
const earlyShare = 0.66;

/** Halves a checkpoint's weights to 16 bits and lays the curve of its training beside them. */
async function ship(run: string, step: number, out: string, programs: string): Promise<void> {
  const stored = readModelFolder(getCheckpointFolder(run, step));
  await startBackend("auto", { programs });
  const model = await loadModel(stored);
  mkdirSync(out, { recursive: true });
  await writeModelFolder(
    out,
    {
      config: { ...stored.config, name: basename(out) },
      tokenizer: stored.tokenizer,
      weights: copyWeights(model),
    },
    "F16",
  );
  model.dispose();
  // where the tasks lay on this machine is nobody's affair
  const config = readRun(run);
  writeFileSync(
    join(out, "training.json"),
    `${JSON.stringify({ ...config, tasks: basename(config.tasks) }, undefined, 2)}\n`,
  );
  writeFileSync(join(out, "curve.csv"), curveOf(run, step));
}

/** The loss over the run as a table, a row where the validation loss was measured. */
function curveOf(run: string, last: number): string {
  let seconds = 0;
  let losses: number[] = [];
  const rows = ["step,seconds,loss,validation,learning_rate"];
  for (const it of readMetrics(run).lines) {
    if (it.method !== "sft" || it.step > last) continue;
    seconds += it.seconds.total;
    losses.push(it.loss);
    if (it.validation === undefined) continue;
    const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
    rows.push(
      [
        it.step,
        seconds.toFixed(0),
        mean.toFixed(4),
        it.validation.toFixed(4),
        it.learningRate.toExponential(2),
      ].join(),
    );
    losses = [];
  }
  return `${rows.join("\n")}\n`;
}
