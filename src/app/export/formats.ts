/** The formats of exports: the rows that a task becomes in each. */
import type { Catalog } from "../../environment/catalog.ts";
import type { JsonObject } from "../../environment/json.ts";
import type { ParquetColumns } from "../../storage/parquet.ts";
import type { Task } from "../../trajectory/task.ts";
import { createTeacherChat, openAttempt, wholeTask, parseArguments } from "./chats.ts";
import { agentName } from "../../engine/verl.ts";
import { listSingleTurns } from "../../trajectory/oneTurn.ts";
import { createAtifTrajectory } from "./atif.ts";

export interface ExportFormat {
  readonly name: string;
  /** What reads the rows, for the title of the dataset card. */
  readonly reader: string;
  /** What a row is, in full sentences, for the dataset card. */
  readonly description: string;
  readonly columns: Readonly<Record<string, string>>;
  /** The types of the columns, if the rows are written as Parquet instead of JSON Lines. */
  readonly parquet?: ParquetColumns;
  /** `position` is the number of rows that the split has already. */
  readonly createRows: (task: Task, catalog: Catalog, position: number) => readonly JsonObject[];
}

const call = {
  id: "string",
  type: "string",
  function: { struct: { name: "string", arguments: "string" } },
} as const;

const hf: ExportFormat = {
  name: "hf",
  reader: "the Hugging Face Hub",
  description:
    "A row is the conversation of a task's teacher, with the properties of the task. Where the user brings tools later, it ends before, because a row has one list of tools.",
  columns: {
    task_id: "the task",
    kind: "what the task is about: `normal`, `clarify`, `abstain` or `irrelevant`",
    servers: "the servers whose tools are on offer",
    chain: "the tools from which the task was made, in their order",
    turns: "how often the user speaks without being asked",
    seed: "the task's seed",
    teacher: "who wrote the conversation",
    messages: "chat messages with `tool_calls`, whose arguments are JSON texts",
    tools: "the tools on offer, a JSON text with a list of OpenAI function definitions",
  },
  parquet: {
    task_id: "string",
    kind: "string",
    servers: { list: "string" },
    chain: { list: "string" },
    turns: "int",
    seed: "int",
    teacher: "string",
    messages: {
      list: {
        struct: {
          role: "string",
          content: "string",
          tool_calls: { list: { struct: call } },
          tool_call_id: "string",
        },
      },
    },
    tools: "string",
  },
  createRows(task, catalog) {
    const { messages, tools } = createTeacherChat(task, catalog);
    return [
      {
        task_id: task.id,
        kind: task.kind,
        servers: task.servers.map(it => it.name),
        chain: task.chain,
        turns: task.turns.length,
        seed: task.seed,
        teacher: task.provenance.teacher,
        messages,
        tools: JSON.stringify(tools),
      },
    ];
  },
};

const verl: ExportFormat = {
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

const trl: ExportFormat = {
  name: "trl",
  reader: "TRL",
  description:
    "A row is one attempt for `GRPOTrainer`: a task with one turn, or one turn of a longer task after the teacher's turns before it. The attempt runs in a session of `prove-rl serve`, opened with `PUT /v1/sessions/{id}` and the row's `task_id` and `turn`.",
  columns: {
    prompt: "chat messages up to the user's turn; the arguments of earlier calls are JSON texts",
    task_id: "the task, as the service knows it",
    turn: `the turn to open the session with, from 0; ${wholeTask} for the whole task: open it without one`,
    seed: "the task's seed",
    menu: "the tools on offer, a JSON text with a list of OpenAI function definitions",
    trajectory_id: "an id for the attempt",
  },
  createRows: (task, catalog) =>
    listAttemptedTurns(task).map(turn => {
      const { messages, tools } = openAttempt(task, catalog, turn);
      return {
        prompt: messages,
        task_id: task.id,
        turn: turn ?? wholeTask,
        seed: task.seed,
        menu: JSON.stringify(tools),
        trajectory_id: turn === undefined ? task.id : `${task.id}/turn-${turn}`,
      };
    }),
};

const sft: ExportFormat = {
  name: "sft",
  reader: "supervised fine-tuning",
  description:
    "A row is the conversation of a task's teacher. Where the user brings tools later, it ends before, because a row has one list of tools.",
  columns: {
    messages: "chat messages with `tool_calls`, whose arguments are objects",
    tools: "the tools on offer, OpenAI function definitions",
    task_id: "the task",
  },
  createRows(task, catalog) {
    const { messages, tools } = createTeacherChat(task, catalog);
    return [{ messages: messages.map(parseArguments), tools, task_id: task.id }];
  },
};

const openai: ExportFormat = {
  name: "openai",
  reader: "OpenAI fine-tuning",
  description:
    "A row is the conversation of a task's teacher, in the chat format of OpenAI's fine-tuning. Where the user brings tools later, it ends before, because a row has one list of tools.",
  columns: {
    messages: "chat messages with `tool_calls`, whose arguments are JSON texts",
    tools: "the tools on offer; absent if there are none",
    parallel_tool_calls: "true: a message may have several calls; absent without tools",
  },
  createRows(task, catalog) {
    const { messages, tools } = createTeacherChat(task, catalog);
    return [{ messages, ...(tools.length === 0 ? {} : { tools, parallel_tool_calls: true }) }];
  },
};

const atif: ExportFormat = {
  name: "atif",
  reader: "Harbor",
  description:
    "A row is the conversation of a task's teacher, as one document of the Agent Trajectory Interchange Format.",
  columns: {
    steps: "the system message, the user's and the agent's; calls with the results that it saw",
    "agent.tool_definitions": "all tools that were on offer at any time",
    extra: "the task, its split, kind, servers and seed",
  },
  createRows(task, catalog) {
    // only for its errors
    openAttempt(task, catalog);
    return [createAtifTrajectory(task, catalog)];
  },
};

export const exportFormats: readonly ExportFormat[] = [trl, verl, sft, openai, atif, hf];

/** Undefined stands for the whole task. */
const listAttemptedTurns = (task: Task): readonly (number | undefined)[] =>
  task.turns.length === 1 ? [undefined] : listSingleTurns(task);
