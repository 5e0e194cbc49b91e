/**
 * `train`: begins a run or goes on with one, and follows it. The training itself is a process of
 * its own.
 */
import { join, resolve } from "node:path";
import { UserError } from "../userError.ts";
import { readModelFolder } from "../model/modelFolder.ts";
import { attachTrainer } from "../run/attach.ts";
import { createRunConfig, readRunSettings } from "../run/createRunConfig.ts";
import { createRun, readMetrics, readRun } from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import type { CliCommand, CliContext, Values } from "./command.ts";
import { followTraining, formatStep } from "./follow.ts";

export const train: CliCommand = {
  usage:
    "train --tasks F --run DIR [--from MODEL] [--method grpo|sft] [--config F.json] [--split train] [--backend auto] [--steps N] [--seconds N] [--seed N] [--workers N] [--resume] [--json]",
  summary:
    "Train the student on tasks, by groups of attempts at live sessions (grpo) or from their teachers' conversations (sft). Writes a run folder.",
  options: {
    tasks: { type: "string" },
    run: { type: "string" },
    from: { type: "string" },
    method: { type: "string", default: "grpo" },
    config: { type: "string" },
    split: { type: "string", default: "train" },
    backend: { type: "string", default: "auto" },
    steps: { type: "string" },
    seconds: { type: "string" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
    resume: { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(terminal, _positionals, values) {
    const folder =
      values["run"] === undefined ? undefined : resolve(terminal.cwd, values["run"] as string);
    if (folder === undefined)
      throw new UserError("train needs a run folder", `usage: prove-rl ${train.usage}`);
    if (values["resume"]) readRun(folder);
    else begin(folder, terminal, values);
    const running = values["resume"] ? await attachTrainer(folder) : undefined;
    const attachment =
      running ??
      (await startTrainer({
        folder,
        program: join(terminal.dist, "trainer.js"),
        fixtures: listFixtureFolders(terminal),
      }));
    const { by, step, steps } = await followTraining(attachment, terminal);
    const last = steps.at(-1) ?? readMetrics(folder).lines.at(-1);
    if (values["json"]) terminal.print(JSON.stringify({ run: folder, by, step, last }));
    else {
      if (last) terminal.print(formatStep(last));
      terminal.print(
        `${by === "stop" ? "stopped" : "done"} after step ${step}: ${folder}${by === "stop" ? " (go on with --resume)" : ""}`,
      );
    }
    return 0;
  },
};

export const listFixtureFolders = ({
  prove,
  resources,
}: Pick<CliContext, "prove" | "resources">): readonly string[] => [
  join(prove, "fixtures"),
  join(resources, "servers"),
];

/** The student that ships: what a run begins from where nothing is said. */
export const findShippedModel = (resources: string): string => join(resources, "models", "small");

/**
 * The same student part of the way through its warm start: where the loop begins, because a
 * finished one has little left to show in minutes.
 */
export const findEarlyModel = (resources: string): string => join(resources, "models", "early");

function begin(folder: string, { cwd, resources }: CliContext, values: Values): void {
  const tasks = values["tasks"] as string | undefined;
  if (tasks === undefined)
    throw new UserError(
      "train needs a tasks file",
      "make one with prove-rl synthesize, or go on with a run by --resume",
    );
  const from =
    values["from"] === undefined
      ? findShippedModel(resources)
      : resolve(cwd, values["from"] as string);
  const number = (name: string) => (values[name] === undefined ? undefined : Number(values[name]));
  const config = createRunConfig({
    startedAt: new Date(),
    tasks: resolve(cwd, tasks),
    method: values["method"] as string,
    split: values["split"] as string,
    from: readModelFolder(from).config.name,
    seed: number("seed")!,
    backend: values["backend"] as string,
    workers: number("workers")!,
    steps: number("steps"),
    seconds: number("seconds"),
    ...(values["config"] === undefined
      ? {}
      : readRunSettings(resolve(cwd, values["config"] as string))),
  });
  createRun(folder, config, from);
}
