/**
 * Creates the configuration of a run from the defaults and the options of a command, a settings
 * file or the editor.
 */
import { z } from "zod";
import { profiles } from "../reward/profiles.ts";
import { readJsonFile } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import {
  defaultGrpoSettings,
  grpoSettings,
  runConfig,
  runFormat,
  defaultSftSettings,
  sftSettings,
  type GrpoSettings,
  type RunConfig,
} from "./config.ts";
import { getObjective } from "./objectives.ts";

const runSettings = z.strictObject({
  profile: z.string().optional(),
  saveEvery: z.int().min(1).optional(),
  keepGroups: z.int().min(0).optional(),
  grpo: grpoSettings.partial().optional(),
  sft: sftSettings.partial().optional(),
});

/** What a settings file can change. */
export type RunSettings = z.infer<typeof runSettings>;

/** Reads a settings file. Throws a `UserError` that names the first invalid value. */
export const readRunSettings = (file: string): RunSettings =>
  readJsonFile(runSettings, file, {
    noun: "a file of training settings",
    remedy: "docs/training.md lists the settings",
  });

/** The options of a new run. Those that are left out have their defaults. */
export interface RunOptions extends RunSettings {
  readonly startedAt: Date;
  /** The tasks file, an absolute path. */
  readonly tasks: string;
  readonly method?: string;
  readonly split?: string;
  /** Leaves out the tasks that do not fit the model it starts from. */
  readonly onlyFitting?: boolean;
  /** The name of the model it starts from; left out for random weights. */
  readonly from?: string;
  readonly seed?: number;
  readonly backend?: string;
  readonly workers?: number;
  /** Without `steps` and `seconds`, a run has 200 steps. */
  readonly steps?: number | undefined;
  readonly seconds?: number | undefined;
}

/** The configuration of a new run. Throws a `UserError` for a value that cannot be used. */
export function createRunConfig(options: RunOptions): RunConfig {
  const { startedAt, method = "grpo", steps, seconds, grpo, sft, ...otherOptions } = options;
  const { success, data, error } = runConfig.safeParse({
    format: runFormat,
    version,
    began: startedAt.toISOString(),
    split: "train",
    seed: 1,
    backend: "auto",
    workers: 2,
    saveEvery: 50,
    keepGroups: 1,
    profile: "prove-plus",
    ...(steps === undefined && seconds === undefined ? { steps: 200 } : {}),
    ...(steps === undefined ? {} : { steps }),
    ...(seconds === undefined ? {} : { seconds }),
    ...otherOptions,
    method,
    ...(method === "sft"
      ? { sft: { ...defaultSftSettings, ...sft } }
      : { grpo: resolveGrpoSettings(grpo) }),
  });
  if (!success) {
    const issue = error.issues[0]!;
    throw new UserError(
      `the run's ${issue.path.join(".") || "settings"} cannot be used: ${issue.message}`,
      "docs/training.md lists the settings",
    );
  }
  checkProfile(data.profile);
  return data;
}

/** The defaults, replaced by the objective's settings, replaced by explicit ones. */
const resolveGrpoSettings = (settings: RunSettings["grpo"] = {}): GrpoSettings => ({
  ...defaultGrpoSettings,
  ...getObjective(settings.objective ?? "prove"),
  ...(settings as Partial<GrpoSettings>),
});

function checkProfile(profile: string): void {
  if (!profiles.some(it => it.name === profile))
    throw new UserError(
      `there is no reward profile ${profile}`,
      `choose one of ${profiles.map(it => it.name).join(", ")}`,
    );
}
