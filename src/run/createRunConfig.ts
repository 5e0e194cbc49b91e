/**
 * Creates the configuration of a run from the defaults and the options of a command, a training
 * file or the editor.
 */
import { omitUndefined } from "../environment/json.ts";
import { defaultProfile, profiles } from "../reward/profiles.ts";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import {
  defaultGrpoSettings,
  runConfig,
  runFormat,
  defaultSftSettings,
  type GrpoSettings,
  type RunConfig,
} from "./config.ts";
import { getObjective } from "./objectives.ts";
import {
  chooseGrpoSettings,
  chooseSftSettings,
  chooseWorkers,
  type StartModel,
} from "./startModel.ts";
import type { TrainingFile } from "./trainingFile.ts";

/** The options of a new run. Those that are left out have their defaults. */
export interface RunOptions extends Omit<TrainingFile, "$schema" | "model"> {
  readonly startedAt: Date;
  /** The tasks file, an absolute path. */
  readonly tasks: string;
  /** The name of the model it starts from; left out for random weights. */
  readonly from?: string;
  /** The engine that trains, if it is not PROVE's own trainer. */
  readonly engine?: RunConfig["engine"];
}

/**
 * The configuration of a new run that starts from a model, which decides some of the defaults.
 * Throws a `UserError` for a value that cannot be used.
 */
export function createRunConfigFrom(
  model: StartModel,
  options: Omit<RunOptions, "from">,
): RunConfig {
  const isAdapted = options.lora !== undefined || model.adapters !== undefined;
  return createRunConfig({
    ...chooseWorkers(model),
    ...omitUndefined(options),
    ...chooseLora(model, options.lora),
    startedAt: options.startedAt,
    tasks: options.tasks,
    from: model.name,
    grpo: { ...chooseGrpoSettings({ ...model, isAdapted }), ...options.grpo },
    sft: { ...chooseSftSettings({ ...model, isAdapted }), ...options.sft },
  });
}

/** The configuration of a new run. Throws a `UserError` for a value that cannot be used. */
export function createRunConfig(options: RunOptions): RunConfig {
  const { startedAt, method = "grpo", steps, seconds, grpo, sft, lora, ...otherOptions } = options;
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
    profile: defaultProfile.name,
    ...(steps === undefined && seconds === undefined ? { steps: 200 } : {}),
    ...(steps === undefined ? {} : { steps }),
    ...(seconds === undefined ? {} : { seconds }),
    ...omitUndefined(otherOptions),
    method,
    ...(lora ? { lora: { alpha: 2 * lora.rank, ...omitUndefined(lora) } } : {}),
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

/**
 * The adapters of a run: those that are asked for, or those of the model that it starts from.
 * Throws a `UserError` if they differ.
 */
function chooseLora(
  { adapters, folder }: StartModel,
  asked: RunOptions["lora"],
): Pick<RunOptions, "lora"> {
  if (!adapters) return asked ? { lora: asked } : {};
  const { rank, alpha = adapters.alpha, targets = adapters.targets } = asked ?? adapters;
  const isSame =
    rank === adapters.rank &&
    alpha === adapters.alpha &&
    sort(targets).join() === sort(adapters.targets).join();
  if (isSame) return { lora: adapters };
  throw new UserError(
    `the adapters in ${folder} have rank ${adapters.rank}, alpha ${adapters.alpha} and the targets ${formatTargets(adapters)}, and others are asked for`,
    `leave out the settings to go on with them, or merge them with prove-rl model ${folder} --merge FOLDER and train new ones`,
  );
}

const sort = (targets: readonly string[] = []) => targets.toSorted();

const formatTargets = ({ targets }: NonNullable<StartModel["adapters"]>): string =>
  targets?.join(", ") ?? "all linear layers";

/** The defaults, replaced by the objective's settings, replaced by explicit ones. */
const resolveGrpoSettings = (settings: RunOptions["grpo"] = {}): GrpoSettings => ({
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
