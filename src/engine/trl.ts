/**
 * The settings of a training with TRL: the paper's hyper-parameters, for a number of GPUs or for a
 * CPU. The folder that they are written to is made by the command `engine`.
 */

import { UserError } from "../userError.ts";
import {
  cardMemory,
  countTrainingBytes,
  defaultLearningRate,
  findLearningRate,
  learningRateNote,
  paper,
} from "./target.ts";
import type { EngineTarget, ModelSize, TrainedModel } from "./target.ts";

/** Attempts that are processed at a time on one GPU. */
const perDevice = 2;

/**
 * config.json, which train.py and launch.py read. `promptBytes` is the size of the longest prompt.
 * Throws a `UserError` if the model was made for shorter conversations.
 */
export function createTrlConfig(target: EngineTarget, promptBytes: number) {
  const { model, gpus, profile, loraRank, serve, stages } = target;
  const vllm =
    gpus === 0 ? undefined : createVllmSettings(target, estimatePromptTokens(promptBytes));
  return {
    model,
    profile,
    stages,
    /** How many held-out rows are attempted before and after each stage. */
    evaluated: gpus === 0 ? 8 : 256,
    lora:
      loraRank === undefined
        ? null
        : { r: loraRank, lora_alpha: 2 * loraRank, target_modules: "all-linear" },
    serve,
    ...(stages.includes("sft") ? { sft: createSftSettings(target, vllm) } : {}),
    grpo: vllm === undefined ? cpuSettings : { ...createGpuSettings(target), ...vllm },
  };
}

const common = {
  max_tool_calling_iterations: 12,
  mask_truncated_completions: true,
  logging_steps: 1,
  report_to: "none",
  chat_template_kwargs: { enable_thinking: false },
  // an evaluation is one attempt at each row
  num_generations_eval: 1,
};

/** Small enough to see that everything works. */
const cpuSettings = {
  ...common,
  use_cpu: true,
  bf16: false,
  learning_rate: defaultLearningRate,
  per_device_train_batch_size: 4,
  per_device_eval_batch_size: 4,
  num_generations: 4,
  max_completion_length: 1024,
  max_steps: 10,
  save_steps: 5,
};

const createGpuSettings = ({ gpus, model }: EngineTarget) => ({
  ...common,
  bf16: true,
  learning_rate: findLearningRate(model),
  beta: paper.klCoefficient,
  num_generations: paper.group,
  per_device_train_batch_size: perDevice,
  per_device_eval_batch_size: 16,
  gradient_accumulation_steps: Math.max(
    1,
    Math.round((paper.group * paper.prompts) / (perDevice * gpus)),
  ),
  max_steps: paper.steps,
  save_steps: 50,
});

/** The fewest bytes of a token in prompts, which are mostly JSON, by a small vocabulary. */
const bytesPerToken = 3;

/** What a chat template adds to a prompt, in tokens. */
const templateTokens = 256;

/** What vLLM needs besides weights, keys and values, in bytes. */
const vllmOverhead = 3e9;

/** Attempts of the greatest length whose keys and values have room. */
const wholeAttempts = 4;

/** The tokens of a prompt of so many bytes, by the largest estimate. */
export const estimatePromptTokens = (bytes: number): number =>
  bytes / bytesPerToken + templateTokens;

/** The lengths of attempts, and the share of a card that vLLM takes beside the training. */
function createVllmSettings({ model, size }: TrainedModel, promptTokens: number) {
  const prompt = roundUp(promptTokens, 64);
  const { positions = Infinity, weights } = size;
  const length = Math.min(roundUp(prompt + paper.responseLength, 1024), positions);
  if (length - prompt < 1024)
    throw new UserError(
      `${model} was made for ${positions} tokens, and the longest prompt of the tasks takes about ${prompt}`,
      "choose a model for longer conversations, or make tasks with fewer tools (prove-rl synthesize --menu chain)",
    );
  const share = (weights + countCacheBytes(size, length) + vllmOverhead) / cardMemory;
  return {
    max_completion_length: Math.min(paper.responseLength, length - prompt),
    use_vllm: true,
    vllm_mode: "colocate",
    vllm_max_model_length: length,
    vllm_gpu_memory_utilization: Math.min(0.9, Math.max(0.3, roundUp(share * 100, 5) / 100)),
  };
}

/** Keys and values of the attempts of this length that have room. */
const countCacheBytes = ({ token }: ModelSize, length: number): number =>
  wholeAttempts * length * token;

/** Conversations of a step of supervised fine-tuning. */
const conversations = 32;

/** Settings of `SFTConfig`. The learning rates are those of PROVE's own trainer for real models. */
function createSftSettings(
  { gpus, loraRank }: EngineTarget,
  vllm: ReturnType<typeof createVllmSettings> | undefined,
) {
  const common = {
    learning_rate: loraRank === undefined ? 1e-5 : 1e-4,
    logging_steps: 1,
    report_to: "none",
  };
  return vllm === undefined
    ? {
        ...common,
        use_cpu: true,
        bf16: false,
        per_device_train_batch_size: 2,
        max_length: 16_384,
        max_steps: 10,
        save_steps: 5,
      }
    : {
        ...common,
        bf16: true,
        per_device_train_batch_size: 1,
        gradient_accumulation_steps: Math.max(1, Math.round(conversations / gpus)),
        // those of attempts are no shorter
        max_length: vllm.vllm_max_model_length,
        num_train_epochs: 1,
        save_steps: 50,
      };
}

/**
 * What each GPU needs by the formula of docs/engines.md, and whether it fits; undefined for a CPU.
 * Activations come on top. Throws a `UserError` as `createTrlConfig` does.
 */
export function describeTrlMemory(
  target: TrainedModel,
  promptTokens: number,
): { readonly text: string; readonly remedy?: string } | undefined {
  const { model, gpus, size, loraRank } = target;
  if (gpus === 0) return undefined;
  const training = countTrainingBytes(target);
  const settings = createVllmSettings(target, promptTokens);
  const length = settings.vllm_max_model_length;
  const share = settings.vllm_gpu_memory_utilization;
  const format = (bytes: number) => `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`;
  const cards = gpus === 1 ? "the GPU" : `each of ${gpus} GPUs`;
  const parts = loraRank === undefined ? "weights, gradients and optimizer" : "weights";
  const cache = `${wholeAttempts} attempts of ${length.toLocaleString("en")} tokens`;
  return {
    text: `${cards} needs about ${format(training)} for ${parts} and ${format(share * cardMemory)} for vLLM (${share} of the card: ${format(size.weights)} of weights, ${format(countCacheBytes(size, length))} for keys and values of ${cache}), of ${format(cardMemory)}, besides activations`,
    ...(training + share * cardMemory < 0.95 * cardMemory
      ? {}
      : {
          remedy: `a training of ${model} does not fit: ${loraRank === undefined ? "train adapters (--lora 16), " : ""}give more GPUs or a smaller model`,
        }),
  };
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step;

/** What run.json says of the training, in the terms of PROVE's own runs. */
export function createTrlRun(target: EngineTarget) {
  const grpo = target.gpus === 0 ? cpuSettings : createGpuSettings(target);
  const attempts =
    grpo.per_device_train_batch_size *
    ("gradient_accumulation_steps" in grpo ? grpo.gradient_accumulation_steps * target.gpus : 1);
  return {
    engine: "trl" as const,
    from: target.model,
    profile: target.profile,
    steps: grpo.max_steps,
    saveEvery: grpo.save_steps,
    workers: Math.max(1, target.gpus),
    grpo: {
      group: grpo.num_generations,
      prompts: Math.max(1, Math.round(attempts / grpo.num_generations)),
      learningRate: grpo.learning_rate,
    },
  };
}

/** The configuration file of `accelerate launch`. */
export const createAccelerateConfig = (gpus: number): string =>
  gpus === 0
    ? [
        "compute_environment: LOCAL_MACHINE",
        "distributed_type: 'NO'",
        "use_cpu: true",
        "num_machines: 1",
        "num_processes: 1",
        "",
      ].join("\n")
    : [
        "compute_environment: LOCAL_MACHINE",
        "distributed_type: DEEPSPEED",
        "deepspeed_config:",
        "  zero_stage: 3",
        "  zero3_init_flag: true",
        "  zero3_save_16bit_model: true",
        "  offload_optimizer_device: none",
        "  offload_param_device: none",
        "  gradient_accumulation_steps: auto",
        "mixed_precision: bf16",
        "num_machines: 1",
        `num_processes: ${gpus}`,
        "",
      ].join("\n");

/**
 * What pip installs, in the versions with which `prove_rl.trl` was tested. Those of torch and
 * transformers are the ones that this version of vLLM needs, and vLLM is the newest that this
 * version of TRL supports.
 */
export const createTrlRequirements = (gpus: number): string =>
  [
    gpus === 0 ? "trl==1.16.0" : "trl[vllm]==1.16.0",
    "accelerate==1.15.0",
    "datasets==5.2.0",
    "peft==0.21.2",
    // TRL's client of vLLM imports it
    "requests==2.34.2",
    "torch==2.13.0",
    "transformers==5.17.0",
    ...(gpus === 0 ? [] : ["deepspeed==0.19.8", "vllm==0.31.0"]),
    "",
  ].join("\n");

export function createTrlReadme(target: EngineTarget, tasks: string): string {
  const { model, gpus, loraRank, stages } = target;
  const isWarm = stages.includes("sft");
  const what = loraRank === undefined ? "all weights" : `LoRA adapters of rank ${loraRank}`;
  const where = gpus === 0 ? "the CPU" : `${gpus} ${gpus === 1 ? "GPU" : "GPUs"}`;
  return `# ${isWarm ? "SFT and GRPO" : "GRPO"} of ${model} with TRL

Trains ${what} on ${where}, on the tasks of \`${tasks}\`, in sessions of \`prove-rl serve\`.

\`\`\`sh
python -m venv venv && . venv/bin/activate
pip install -r requirements.txt
python launch.py
\`\`\`
${gpus === 0 ? "\nOn Linux, pip installs PyTorch with CUDA, which is several GB. To avoid that, install its build for CPUs first, with the command that PyTorch's website gives.\n" : ""}
TRL needs Python 3.11 or later. The commands may be run in another folder, too, with the paths of the files. \`launch.py\` starts the service with the command in \`config.json\`, or, where that program does not exist, with the \`prove-rl\` of PROVE's Python package or on the PATH, and then \`accelerate launch\`, to which it passes its own arguments. With \`PROVE_URL\` it uses a service that runs already, for example on another machine; a token is read from \`PROVE_TOKEN\`. An interrupted training goes on from its last checkpoint when you start it again.

${isWarm ? "First, the model learns from the conversations of the tasks' teacher, with TRL's `SFTTrainer` and only from what the assistant writes; the result is `sft/model`. GRPO goes on from it. Where you start `train.py` yourself, PROVE_STAGE names the stage: `before` for the first evaluation, `sft`, `merge` for its adapters, and `grpo`. " : ""}Before and after ${isWarm ? "each stage" : "the training"}, the model attempts ${gpus === 0 ? 8 : 256} of the held-out rows (\`evaluated\` in \`config.json\`) once each, and at the end a table compares the results. What goes wrong is printed as \`alarm at step …\`: groups whose attempts all earn the same, attempts that limits truncate, calls of tools that are not offered, and others, as in PROVE's own trainings.

| file                | holds                                                                              |
| ------------------- | ---------------------------------------------------------------------------------- |
| \`config.json\`       | the model, the reward profile, LoRA, the service's command, settings of \`GRPOConfig\`${isWarm ? " and `SFTConfig`" : ""} |
| \`accelerate.yaml\`   | processes and, with GPUs, DeepSpeed ZeRO-3                                          |
| \`data\`              | prompts by split, with a dataset card; \`train.jsonl\` is trained on${isWarm ? ", and the conversations in `sft/train.jsonl`" : ""} |
| \`run.json\`          | lists the folder among PROVE's runs, if it is in \`prove/runs\` of a workspace        |
| \`chat_template.jinja\` | the chat template to use instead of the model's, if there is one                    |
| \`prove_rl\`          | the Python package that the programs use                                            |
| \`groups/<n>.jsonl\` | written by the training: the attempts of step n with breakdowns and advantages, which PROVE opens |
| \`checkpoints\`, \`model\`${isWarm ? ", `sft`" : ""}, \`evaluations.json\` | written by the training                        |

${
  gpus === 0
    ? "The settings are small, to see that everything works; they do not teach a model anything."
    : `The settings are those of the PROVE paper: 16 attempts at each of 16 tasks per step, 350 steps, a KL coefficient of 0.01. ${learningRateNote} These settings were not run on GPUs by PROVE's own tests.

\`vllm_max_model_length\` is the length of the longest prompt, estimated from its size, and of an attempt after it. \`vllm_gpu_memory_utilization\` is the share of a card that vLLM takes for the whole training: the weights of the model, the keys and values of four attempts of that length, and 3 GB, on cards of 80 GB. On other cards, multiply it by 80 and divide it by their GB. Where it does not fit beside the training, lower \`max_completion_length\` and \`vllm_max_model_length\` together, or train adapters (\`--lora\`).`
}
`;
}
