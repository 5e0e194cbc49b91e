/** The formats of `export`: the rows that a task becomes in each. */
import { listSingleTurns } from "../trajectory/oneTurn.ts";
import type { Task } from "../trajectory/task.ts";
import { createAtifTrajectory } from "./exportAtif.ts";
import { createTeacherChat, openAttempt, wholeTask } from "./exportChats.ts";
import type { ExportFormat } from "./exportFormat.ts";
import { hf } from "./exportHf.ts";
import { parseArguments } from "./exportMessages.ts";
import { verl } from "./exportVerl.ts";

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
