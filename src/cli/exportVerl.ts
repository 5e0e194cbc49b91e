/** The rows of `export --to verl`: the columns that verl's data sets have, in Parquet. */
import { agentName } from "../engine/verl.ts";
import { openAttempt, wholeTask } from "./exportChats.ts";
import type { ExportFormat } from "./exportFormat.ts";

export const verl: ExportFormat = {
  name: "verl",
  reader: "verl",
  description:
    "A row is one attempt at a whole task, for the agent loop of `prove_verl.py`. The attempt runs in a session of `prove-rl serve`, which also says what the user says later and what the attempt earns.",
  columns: {
    data_source: "`prove`",
    prompt: "chat messages up to the user's first turn",
    ability: "`tool_use`",
    reward_model: "`style` is `rule`; `ground_truth` is empty, because the service scores",
    agent_name: `\`${agentName}\`, the agent loop`,
    extra_info:
      "`index` in the file, `split`, `task_id`, `turn` (-1: the whole task), `seed`, `trajectory_id`",
  },
  parquet: {
    data_source: "string",
    prompt: { list: { struct: { role: "string", content: "string" } } },
    ability: "string",
    reward_model: { struct: { style: "string", ground_truth: "string" } },
    agent_name: "string",
    extra_info: {
      struct: {
        index: "int",
        split: "string",
        task_id: "string",
        turn: "int",
        seed: "int",
        trajectory_id: "string",
      },
    },
  },
  createRows: (task, catalog, position) => [
    {
      data_source: "prove",
      prompt: openAttempt(task, catalog).messages,
      ability: "tool_use",
      reward_model: { style: "rule", ground_truth: "" },
      agent_name: agentName,
      extra_info: {
        index: position,
        split: task.split,
        task_id: task.id,
        turn: wholeTask,
        seed: task.seed,
        trajectory_id: task.id,
      },
    },
  ],
};
