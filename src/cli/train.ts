/**
 * `train`: begins a run or goes on with one, and follows it. The training itself is a process of
 * its own.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../userError.ts";
import { readModelFolder } from "../model/modelFolder.ts";
import { attach } from "../run/attach.ts";
import {
  grpoDefaults,
  grpoSettings,
  runConfig,
  runFormat,
  sftDefaults,
  sftSettings,
  type RunConfig,
} from "../run/config.ts";
import { createRun, readMetrics, readRun } from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import { profiles } from "../reward/profiles.ts";
import { version } from "../version.ts";
import type { Command, Terminal, Values } from "./command.ts";
import { follow, stepLine } from "./follow.ts";

export const train: Command = {
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
    const running = values["resume"] ? await attach(folder) : undefined;
    const attachment =
      running ??
      (await startTrainer({
        folder,
        program: join(terminal.dist, "trainer.js"),
        fixtures: fixtureFolders(terminal),
      }));
    const { by, step, steps } = await follow(attachment, terminal);
    const last = steps.at(-1) ?? readMetrics(folder).lines.at(-1);
    if (values["json"]) terminal.print(JSON.stringify({ run: folder, by, step, last }));
    else {
      if (last) terminal.print(stepLine(last));
      terminal.print(
        `${by === "stop" ? "stopped" : "done"} after step ${step}: ${folder}${by === "stop" ? " (go on with --resume)" : ""}`,
      );
    }
    return 0;
  },
};

export const fixtureFolders = ({
  prove,
  resources,
}: Pick<Terminal, "prove" | "resources">): readonly string[] => [
  join(prove, "fixtures"),
  join(resources, "servers"),
];

/** The student that ships: what a run begins from where nothing is said. */
export const shippedModel = (resources: string): string => join(resources, "models", "small");

/**
 * The same student part of the way through its warm start: where the loop begins, because a
 * finished one has little left to show in minutes.
 */
export const earlyModel = (resources: string): string => join(resources, "models", "early");

function begin(folder: string, { cwd, resources }: Terminal, values: Values): void {
  const tasks = values["tasks"] as string | undefined;
  if (tasks === undefined)
    throw new UserError(
      "train needs a tasks file",
      "make one with prove-rl synthesize, or go on with a run by --resume",
    );
  const from =
    values["from"] === undefined ? shippedModel(resources) : resolve(cwd, values["from"] as string);
  const method = values["method"] as string;
  const { grpo, sft, ...more } =
    values["config"] === undefined
      ? ({} as Settings)
      : settingsIn(resolve(cwd, values["config"] as string));
  const number = (name: string) =>
    values[name] === undefined ? {} : { [name]: Number(values[name]) };
  const config = runConfig.safeParse({
    format: runFormat,
    version,
    began: new Date().toISOString(),
    tasks: resolve(cwd, tasks),
    split: values["split"],
    from: readModelFolder(from).config.name,
    backend: values["backend"],
    saveEvery: 50,
    keepGroups: 1,
    profile: "prove-plus",
    ...number("seed"),
    ...number("workers"),
    ...(values["steps"] === undefined && values["seconds"] === undefined
      ? { steps: 200 }
      : { ...number("steps"), ...number("seconds") }),
    ...more,
    method,
    ...(method === "sft"
      ? { sft: { ...sftDefaults, ...sft } }
      : { grpo: { ...grpoDefaults, ...grpo } }),
  });
  if (!config.success) {
    const issue = config.error.issues[0]!;
    throw new UserError(
      `the run's ${issue.path.join(".") || "settings"} cannot be used: ${issue.message}`,
      `usage: prove-rl ${train.usage}`,
    );
  }
  checkProfile(config.data);
  createRun(folder, config.data, from);
}

function checkProfile({ profile }: RunConfig): void {
  if (!profiles.some(it => it.name === profile))
    throw new UserError(
      `there is no reward profile ${profile}`,
      `choose one of ${profiles.map(it => it.name).join(", ")}`,
    );
}

const settings = z.strictObject({
  profile: z.string().optional(),
  saveEvery: z.int().min(1).optional(),
  keepGroups: z.int().min(0).optional(),
  grpo: grpoSettings.partial().optional(),
  sft: sftSettings.partial().optional(),
});

export type Settings = z.infer<typeof settings>;

/** What a settings file changes. Throws a `Mistake` that names the place that does not fit. */
export function settingsIn(file: string): Settings {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new UserError(
      `cannot read ${file} (${(cause as Error).message})`,
      "give a JSON file of settings",
      { cause },
    );
  }
  const parsed = settings.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new UserError(
    `${file} does not fit at /${issue.path.join("/")}: ${issue.message}`,
    "docs/training.md lists the settings",
  );
}
