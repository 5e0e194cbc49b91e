/**
 * Creates the configuration of a run from the settings that are given and the defaults, some of
 * which depend on the model that it starts from.
 */
import { omitUndefined } from "../environment/json.ts";
import { profiles } from "../reward/profiles.ts";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import {
  completeGrpoSettings,
  defaultSftSettings,
  runConfig,
  runFormat,
  trainingDefaults,
  type GrpoSettings,
  type RunConfig,
  type TrainingSettings,
} from "./config.ts";
import type { StartModel } from "./startModel.ts";

/** The options of a new run. Those that are left out have their defaults. */
export interface RunOptions extends Omit<TrainingSettings, "model"> {
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
  const isLarge = model.kind === "hugging-face";
  const sft = isLarge ? { learningRate: isAdapted ? 1e-4 : 1e-5, conversations: 4 } : {};
  return createRunConfig({
    // every worker has a copy of the model
    ...(isLarge ? { workers: 1 } : {}),
    ...omitUndefined(options),
    ...chooseLora(model, options.lora),
    startedAt: options.startedAt,
    tasks: options.tasks,
    from: model.name,
    grpo: { ...chooseGrpoSettings(model, isAdapted), ...options.grpo },
    sft: { ...sft, ...options.sft },
  });
}

/** The configuration of a new run. Throws a `UserError` for a value that cannot be used. */
export function createRunConfig(options: RunOptions): RunConfig {
  const { startedAt, grpo = {}, sft, lora, ...given } = omitUndefined(options);
  const { steps, ...defaults } = trainingDefaults;
  const settings = { ...defaults, ...given };
  const { success, data, error } = runConfig.safeParse({
    format: runFormat,
    version,
    began: startedAt.toISOString(),
    ...(given.seconds === undefined ? { steps } : {}),
    ...settings,
    ...(lora ? { lora: { alpha: 2 * lora.rank, ...omitUndefined(lora) } } : {}),
    ...(settings.method === "sft"
      ? { sft: { ...defaultSftSettings, ...sft } }
      : { grpo: completeGrpoSettings(omitUndefined(grpo)) }),
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
 * A large model takes smaller steps on fewer attempts, without a KL term, which needs the model
 * twice unless only adapters are trained; adapters take larger steps than all weights. Of a small
 * student, a careless teacher leaves habits that show in most groups, and are unlearned by larger
 * steps than a student can take whose teacher made no errors. Still larger steps gain no more, and
 * make the student worse if advantages are shuffled. The rate falls, because large steps towards
 * the end cost success with greedy decoding.
 */
function chooseGrpoSettings(
  { kind, careless }: StartModel,
  isAdapted: boolean,
): Partial<GrpoSettings> {
  if (kind === "hugging-face") {
    const common = { prompts: 4, group: 8, minibatches: 1 };
    return isAdapted ? { ...common, learningRate: 1e-5 } : { ...common, learningRate: 1e-6, kl: 0 };
  }
  return careless > 0 ? { learningRate: 2e-4, decay: "linear" } : {};
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

function checkProfile(profile: string): void {
  if (!profiles.some(it => it.name === profile))
    throw new UserError(
      `there is no reward profile ${profile}`,
      `choose one of ${profiles.map(it => it.name).join(", ")}`,
    );
}
