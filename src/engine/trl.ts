/**
 * The settings of a training with TRL: the paper's hyper-parameters, for a number of GPUs or for a
 * CPU. The folder that they are written to is made by the command `engine`.
 */

import { defaultLearningRate, findLearningRate, learningRateNote, paper } from "./target.ts";
import type { EngineTarget } from "./target.ts";

/** Attempts that are processed at a time on one GPU. */
const perDevice = 2;

/** config.json, which train.py and launch.py read. */
export function createTrlConfig({ model, gpus, profile, loraRank, serve }: EngineTarget) {
  return {
    model,
    profile,
    lora:
      loraRank === undefined
        ? null
        : { r: loraRank, lora_alpha: 2 * loraRank, target_modules: "all-linear" },
    serve,
    grpo: gpus === 0 ? cpuSettings : createGpuSettings(gpus, model),
  };
}

const common = {
  max_tool_calling_iterations: 12,
  mask_truncated_completions: true,
  logging_steps: 1,
  report_to: "none",
  chat_template_kwargs: { enable_thinking: false },
};

/** Small enough to see that everything works. */
const cpuSettings = {
  ...common,
  use_cpu: true,
  bf16: false,
  learning_rate: defaultLearningRate,
  per_device_train_batch_size: 4,
  num_generations: 4,
  max_completion_length: 1024,
  max_steps: 10,
  save_steps: 5,
};

const createGpuSettings = (gpus: number, model: string) => ({
  ...common,
  bf16: true,
  learning_rate: findLearningRate(model),
  beta: paper.klCoefficient,
  num_generations: paper.group,
  per_device_train_batch_size: perDevice,
  gradient_accumulation_steps: Math.max(
    1,
    Math.round((paper.group * paper.prompts) / (perDevice * gpus)),
  ),
  max_completion_length: paper.responseLength,
  max_steps: paper.steps,
  save_steps: 50,
  use_vllm: true,
  vllm_mode: "colocate",
});

/** What run.json says of the training, in the terms of PROVE's own runs. */
export function createTrlRun(target: EngineTarget) {
  const { grpo } = createTrlConfig(target);
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

/** What pip installs, in the versions with which prove_trl.py was tested. */
export const createTrlRequirements = (gpus: number): string =>
  [
    gpus === 0 ? "trl==1.9.0" : "trl[vllm]==1.9.0",
    "accelerate==1.15.0",
    "datasets==5.2.0",
    "jmespath==1.1.0",
    "peft==0.21.2",
    "transformers==5.23.0",
    ...(gpus === 0 ? [] : ["deepspeed==0.19.8"]),
    "",
  ].join("\n");

export function createTrlReadme({ model, gpus, loraRank }: EngineTarget, tasks: string): string {
  const what = loraRank === undefined ? "all weights" : `LoRA adapters of rank ${loraRank}`;
  const where = gpus === 0 ? "the CPU" : `${gpus} ${gpus === 1 ? "GPU" : "GPUs"}`;
  return `# GRPO of ${model} with TRL

Trains ${what} on ${where}, on the tasks of \`${tasks}\`, in sessions of \`prove-rl serve\`.

\`\`\`sh
python -m venv venv && . venv/bin/activate
pip install -r requirements.txt
python launch.py
\`\`\`

\`launch.py\` starts the service with the command in \`config.json\` and then \`accelerate launch\`, to which it passes its own arguments. With \`PROVE_URL\` it uses a service that runs already, for example on another machine; a token is read from \`PROVE_TOKEN\`. An interrupted training goes on from its last checkpoint when you start it again.

| file                | holds                                                                              |
| ------------------- | ---------------------------------------------------------------------------------- |
| \`config.json\`       | the model, the reward profile, LoRA, the service's command, settings of \`GRPOConfig\` |
| \`accelerate.yaml\`   | processes and, with GPUs, DeepSpeed ZeRO-3                                          |
| \`data\`              | prompts by split, with a dataset card; \`train.jsonl\` is trained on                  |
| \`run.json\`          | lists the folder among PROVE's runs, if it is in \`prove/runs\` of a workspace        |
| \`groups/<n>.jsonl\` | written by the training: the attempts of step n with breakdowns and advantages, which PROVE opens |
| \`checkpoints\`, \`model\` | written by the training                                                        |

${gpus === 0 ? "The settings are small, to see that everything works; they do not teach a model anything." : `The settings are those of the PROVE paper: 16 attempts at each of 16 tasks per step, 350 steps, a KL coefficient of 0.01. ${learningRateNote} These settings were not run on GPUs by PROVE's own tests.`}
`;
}
