/**
 * The settings of a training with verl: the paper's hyper-parameters for the GPUs of one machine.
 * The folder that they are written to is made by the command `engine`.
 */
import {
  formatRayCommand,
  findLearningRate,
  learningRateNote,
  paper,
  type EngineTarget,
} from "./target.ts";

const saveEvery = 50;

/** config.json, which launch.py reads. `rows` is the number of rows to train on. */
export const createVerlConfig = (target: EngineTarget, rows: number) => ({
  model: target.model,
  profile: target.profile,
  serve: target.serve,
  verl: createOverrides(target, rows),
});

/** Prompts of a step: the paper's, or all rows of a small data set, because verl drops the rest. */
const countPrompts = (rows: number): number => Math.min(paper.prompts, rows);

/**
 * The settings that differ from verl's own, by their names in verl's configuration. Those that
 * depend on the folder are added by launch.py.
 */
function createOverrides({ model, gpus, loraRank }: EngineTarget, rows: number) {
  const prompts = countPrompts(rows);
  const rollout = "actor_rollout_ref.rollout";
  return {
    "algorithm.adv_estimator": "grpo",
    "algorithm.use_kl_in_reward": false,
    "data.train_batch_size": prompts,
    "data.max_prompt_length": paper.promptLength,
    "data.max_response_length": paper.responseLength,
    "data.filter_overlong_prompts": false,
    "+data.apply_chat_template_kwargs.enable_thinking": false,
    "actor_rollout_ref.model.use_remove_padding": true,
    "actor_rollout_ref.model.enable_gradient_checkpointing": true,
    "actor_rollout_ref.actor.optim.lr": findLearningRate(model),
    "actor_rollout_ref.actor.ppo_mini_batch_size": prompts,
    "actor_rollout_ref.actor.use_dynamic_bsz": true,
    // one attempt of the greatest length
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": paper.promptLength + paper.responseLength,
    "actor_rollout_ref.actor.use_kl_loss": true,
    "actor_rollout_ref.actor.kl_loss_coef": paper.klCoefficient,
    "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
    "actor_rollout_ref.actor.entropy_coeff": 0,
    "actor_rollout_ref.actor.entropy_from_logits_with_chunking": true,
    "actor_rollout_ref.ref.fsdp_config.param_offload": true,
    "actor_rollout_ref.ref.entropy_from_logits_with_chunking": true,
    [`${rollout}.name`]: "vllm",
    [`${rollout}.n`]: paper.group,
    [`${rollout}.tensor_model_parallel_size`]: Math.min(paper.tensorParallel, gpus),
    [`${rollout}.gpu_memory_utilization`]: 0.6,
    [`${rollout}.multi_turn.enable`]: true,
    [`${rollout}.multi_turn.format`]: "hermes",
    [`${rollout}.multi_turn.max_user_turns`]: paper.userTurns,
    [`${rollout}.multi_turn.max_assistant_turns`]: paper.assistantTurns,
    [`${rollout}.agent.default_agent_loop`]: agentName,
    ...(loraRank === undefined
      ? {}
      : {
          "actor_rollout_ref.model.lora_rank": loraRank,
          "actor_rollout_ref.model.lora_alpha": 2 * loraRank,
          "actor_rollout_ref.model.target_modules": "all-linear",
          // the weights that the adapters belong to are read from the model's files
          [`${rollout}.load_format`]: "safetensors",
        }),
    "trainer.project_name": "prove",
    "trainer.experiment_name": "verl",
    "trainer.logger": ["console", "file"],
    "trainer.n_gpus_per_node": gpus,
    "trainer.nnodes": 1,
    "trainer.total_training_steps": paper.steps,
    // as many as the steps need
    "trainer.total_epochs": Math.ceil((paper.steps * prompts) / rows) + 1,
    "trainer.save_freq": saveEvery,
    "trainer.test_freq": -1,
    "trainer.val_before_train": false,
  };
}

/** What run.json says of the training, in the terms of PROVE's own runs. */
export const createVerlRun = ({ model, profile, gpus }: EngineTarget, rows: number) => ({
  engine: "verl" as const,
  from: model,
  profile,
  steps: paper.steps,
  saveEvery,
  workers: gpus,
  grpo: {
    group: paper.group,
    prompts: countPrompts(rows),
    learningRate: findLearningRate(model),
  },
});

/** The file that tells verl where the agent loop is. */
export const createAgentLoops = ({ profile }: EngineTarget): string =>
  [
    `- name: ${agentName}`,
    "  _target_: prove_rl.verl.ProveAgentLoop",
    `  profile: ${profile}`,
    "",
  ].join("\n");

/** What pip installs: the version with which `prove_rl.verl` was tested, and what verl pins for it. */
export const verlRequirements = "verl[vllm]==0.9.1\n";

export function createVerlReadme({ model, gpus, loraRank }: EngineTarget, tasks: string): string {
  const what = loraRank === undefined ? "all weights" : `LoRA adapters of rank ${loraRank}`;
  return `# GRPO of ${model} with verl

Trains ${what} on ${gpus} ${gpus === 1 ? "GPU" : "GPUs"}, on the tasks of \`${tasks}\`, in sessions of \`prove-rl serve\`.

\`\`\`sh
python -m venv venv && . venv/bin/activate
pip install -r requirements.txt
pip install flash-attn==2.8.3 --no-build-isolation
python launch.py
\`\`\`

\`launch.py\` starts the service with the command in \`config.json\`, or, where that program does not exist, with the \`prove-rl\` of PROVE's Python package or on the PATH, and then \`verl.trainer.main_ppo\`, which starts Ray. It passes its own arguments to verl, after those of \`config.json\`: \`python launch.py trainer.total_training_steps=10\`. \`python launch.py --print\` only prints verl's command. An interrupted training goes on from its last checkpoint when you start it again.

On a Ray cluster, put this folder where all nodes have it under the same path, start the service on a machine that all nodes reach (\`prove-rl serve --host ADDRESS --token-file FILE --tasks ${tasks}\`), set \`PROVE_TOKEN\` on the nodes, and submit

\`\`\`sh
${formatRayCommand("/this/folder")}
\`\`\`

| file                | holds                                                                              |
| ------------------- | ---------------------------------------------------------------------------------- |
| \`config.json\`       | the model, the reward profile, the service's command, and settings of verl         |
| \`agent_loops.yaml\`  | the agent loop, \`prove_rl.verl\`                                                    |
| \`data\`              | prompts by split, with a dataset card; \`train.parquet\` is trained on                |
| \`run.json\`          | lists the folder among PROVE's runs, if it is in \`prove/runs\` of a workspace        |
| \`groups/<n>.jsonl\` | written by the training: the attempts of step n with breakdowns and advantages, which PROVE opens |
| \`metrics.jsonl\`, \`verl.jsonl\` | written by the training: the metrics of each step as PROVE shows them, and as verl logs them |
| \`checkpoints\`       | written by the training                                                            |

The settings are those of the PROVE paper: 16 attempts at each of 16 tasks per step, 350 steps, a KL coefficient of 0.01, prompts of at most 12,384 and responses of at most 16,384 tokens, at most 5 messages of the user and 10 of the model, tensor parallelism of 2. ${learningRateNote} The other settings are verl's, except those that save memory. PROVE's own tests check the settings against verl 0.9.1 and run its agent loop on a CPU. They do not run a training: these settings were not run on GPUs.
`;
}

export const agentName = "prove_agent";
