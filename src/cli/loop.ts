/**
 * `loop`, the whole of it in one command: a data set is synthesized on the live servers, the
 * student that ships attempts it, learns from its own attempts, and is measured on tasks it has not
 * seen, beside a control that spent as long reading.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Evaluation } from "../evaluation/evaluate.ts";
import { UserError } from "../userError.ts";
import { readModelFolder, type StoredModel } from "../model/modelFolder.ts";
import { rollout } from "../policy/rollout.ts";
import { provePlusProfile } from "../reward/profiles.ts";
import { isScored, scoreAttempt } from "../reward/reward.ts";
import { defaultGrpoSettings, type GrpoSettings } from "../run/config.ts";
import { createRunConfig } from "../run/createRunConfig.ts";
import { createRun } from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import { synthesize } from "../synthesis/pipeline/synthesize.ts";
import { createAttemptFactory } from "../trajectory/attempt.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import type { Task } from "../trajectory/task.ts";
import { formatTaskLine } from "../trajectory/taskLine.ts";
import type { CliCommand, CliContext } from "./command.ts";
import { evaluatePolicy } from "./evaluate.ts";
import { followTraining } from "./follow.ts";
import { compareEvaluations, type MeasuredPolicy } from "./comparison.ts";
import { greedy, openStudentModel, readStudent } from "./policies.ts";
import { findEarlyModel, listFixtureFolders } from "./train.ts";

export const loop: CliCommand = {
  usage: "loop [--seconds 240] [--train 2000] [--heldout 1000] [--seed 1] [--model DIR] [--json]",
  summary:
    "The whole loop: synthesize tasks, train the student on its own attempts, measure it on unseen tasks before and after.",
  options: {
    seconds: { type: "string", default: "240" },
    train: { type: "string", default: "2000" },
    heldout: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    model: { type: "string" },
    json: { type: "boolean" },
  },
  async run(terminal, _positionals, values) {
    const { prove, resources, printNote: say, print, cwd } = terminal;
    const [seconds, trainCount, heldOutCount, seed] = ["seconds", "train", "heldout", "seed"].map(
      it => numberOf(it, values[it] as string),
    ) as [number, number, number, number];
    const from =
      values["model"] === undefined
        ? findEarlyModel(resources)
        : resolve(cwd, values["model"] as string);
    const start = readModelFolder(from);
    const name = freeName(prove);

    say(`1 of 4  tasks: ${trainCount} to train on, ${heldOutCount} held out`);
    const heldOut = await makeTasks(terminal, start, {
      split: "heldout-chain",
      count: heldOutCount,
      seed: seed + 1,
    });
    const tasks = await makeTasks(terminal, start, { split: "train", count: trainCount, seed });
    const file = join(prove, "tasks", `${name}.tasks.jsonl`);
    mkdirSync(join(prove, "tasks"), { recursive: true });
    writeFileAtomicallySync(
      file,
      [...tasks, ...heldOut].map(it => `${formatTaskLine(it)}\n`).join(""),
    );

    say(`2 of 4  before: ${start.config.name}, ${heldOut.length} held-out tasks`);
    const rows: MeasuredPolicy[] = [await measure("before", start, heldOut, terminal)];
    for (const [i, method] of (["grpo", "sft"] as const).entries()) {
      say(
        `${i + 3} of 4  ${method === "grpo" ? `GRPO, ${seconds} s` : `the control: as long reading the teachers' conversations`}`,
      );
      const folder = join(prove, "runs", `${name}-${method}`);
      const trained = await trainFor(
        {
          method,
          folder,
          file,
          from,
          seconds,
          seed,
          settings: values["model"] === undefined ? earlySettings : {},
        },
        terminal,
      );
      rows.push({
        ...(await measure(`after ${method.toUpperCase()}`, readStudent(folder), heldOut, terminal)),
        ...trained,
      });
    }
    if (values["json"])
      print(
        JSON.stringify({
          tasks: file,
          rows: rows.map(it => ({
            name: it.name,
            metrics: it.evaluation.metrics,
            zeroVariance: it.zeroVariance,
            steps: it.steps,
          })),
        }),
      );
    else
      for (const line of [
        ...compareEvaluations(rows),
        "",
        ...openingWords(relative(cwd, file), relative(cwd, join(prove, "runs", `${name}-grpo`))),
      ])
        print(line);
    return 0;
  },
};

function numberOf(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new UserError(
      `--${option} ${text} is not a whole number above zero`,
      "give a number such as 200",
    );
  return value;
}

/** `loop-1`, `loop-2` …: nothing of an earlier loop is written over. */
function freeName(prove: string): string {
  for (let n = 1; ; n++)
    if (
      ![`tasks/loop-${n}.tasks.jsonl`, `runs/loop-${n}-grpo`, `runs/loop-${n}-sft`].some(it =>
        existsSync(join(prove, it)),
      )
    )
      return `loop-${n}`;
}

/** Tasks of one split on the servers that the student knows, made on live sessions. */
async function makeTasks(
  { catalog, resources, signal, showProgress: progress }: CliContext,
  { config }: StoredModel,
  { split, count, seed }: { split: "train" | "heldout-chain"; count: number; seed: number },
): Promise<Task[]> {
  const tasks: Task[] = [];
  const servers = [...catalog.servers.keys()].filter(it => Object.hasOwn(config.saw.servers, it));
  for await (const it of synthesize({
    catalog,
    resources,
    seed,
    servers,
    menu: "chain",
    preset: "student",
    split,
    signal,
  })) {
    if (it.kind === "rejected") continue;
    tasks.push(it.task);
    progress(`${split}: ${tasks.length}/${count} tasks`);
    if (tasks.length === count) return tasks;
  }
  throw new UserError(
    `the servers gave ${tasks.length} tasks of the split ${split}, ${count} were wanted`,
    "ask for fewer",
  );
}

interface Training {
  readonly method: "grpo" | "sft";
  readonly folder: string;
  readonly file: string;
  /** The model folder to begin from. */
  readonly from: string;
  readonly seconds: number;
  readonly seed: number;
  /** What an early student is trained with otherwise. */
  readonly settings: Partial<GrpoSettings>;
}

/**
 * A student that is still learning bears larger steps than a finished one, which they wear down.
 */
const earlySettings: Partial<GrpoSettings> = { prompts: 16, learningRate: 3e-4 };

async function trainFor(
  wanted: Training,
  terminal: CliContext,
): Promise<Pick<MeasuredPolicy, "steps">> {
  const { method, folder, file, from, seconds, seed, settings } = wanted;
  const config = createRunConfig({
    startedAt: new Date(),
    tasks: file,
    from: readModelFolder(from).config.name,
    seed,
    seconds,
    keepGroups: 10,
    method,
    grpo: settings,
  });
  createRun(folder, config, from);
  const attachment = await startTrainer({
    folder,
    program: join(terminal.dist, "trainer.js"),
    fixtures: listFixtureFolders(terminal),
  });
  const { steps } = await followTraining(attachment, terminal, `${method} `);
  terminal.signal.throwIfAborted();
  return { steps: steps.length };
}

/**
 * Greedy attempts at every task, and sampled groups at some for the share of those that would give
 * no gradient.
 */
async function measure(
  name: string,
  stored: StoredModel,
  tasks: readonly Task[],
  terminal: CliContext,
): Promise<MeasuredPolicy> {
  const opened = await openStudentModel(stored, tasks, terminal, greedy);
  const evaluation: Evaluation = await evaluatePolicy(opened, tasks, terminal, `${name}: `);
  opened.dispose();
  return {
    name,
    evaluation,
    zeroVariance: await zeroVariance(stored, tasks.slice(0, 40), terminal),
  };
}

/** The share of groups whose attempts, sampled as in training, all earn the same. */
async function zeroVariance(
  stored: StoredModel,
  tasks: readonly Task[],
  terminal: CliContext,
): Promise<number> {
  const { catalog, signal } = terminal;
  const opened = await openStudentModel(stored, tasks, terminal, { temperature: 1, seed: 7 });
  const createAttempt = createAttemptFactory(catalog);
  const groups = await Promise.all(
    tasks.map(async task => {
      const attempts = await Promise.all(
        Array.from({ length: defaultGrpoSettings.group }, (_, i) =>
          rollout(task, opened.policy, catalog, { id: `${task.id}/${i}`, signal }),
        ),
      );
      return attempts
        .map(it =>
          scoreAttempt(createAttempt(task, it.trajectory, it.finalState), provePlusProfile),
        )
        .filter(isScored)
        .map(it => it.total);
    }),
  );
  opened.dispose();
  return (
    groups.filter(group => Math.max(...group) - Math.min(...group) < 1e-6).length / groups.length
  );
}

const openingWords = (tasks: string, run: string): string[] => [
  `tasks   ${tasks}`,
  `run     ${run}`,
  "To see them in the editor: npm run open, then the PROVE view: Runs shows the curves and the attempts, Tasks the conversations.",
];
