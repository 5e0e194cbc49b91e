/** The formats of `export`: the rows that a task becomes in each. */
import type { Catalog } from "../environment/catalog.ts";
import { openSessionByName } from "../environment/catalog.ts";
import type { JsonObject } from "../environment/json.ts";
import { formatChatMessage } from "../policy/endpointFormat.ts";
import { createChatMessages } from "../policy/endpointPolicy.ts";
import { createRules } from "../policy/policy.ts";
import { TaskConversation } from "../policy/taskConversation.ts";
import { createServedHeader, describeAttempt } from "../service/servedAttempt.ts";
import { listSingleTurns } from "../trajectory/oneTurn.ts";
import type { Task } from "../trajectory/task.ts";
import type { Event } from "../trajectory/trajectory.ts";
import { createAtifTrajectory } from "./exportAtif.ts";
import { parseArguments } from "./exportMessages.ts";

export interface ExportFormat {
  readonly name: string;
  /** What reads the rows, for the title of the dataset card. */
  readonly reader: string;
  /** What a row is, in full sentences, for the dataset card. */
  readonly description: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly createRows: (task: Task, catalog: Catalog) => readonly JsonObject[];
}

/** The turn of a row that is for the whole task. */
export const wholeTask = -1;

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

export const exportFormats: readonly ExportFormat[] = [trl, sft, openai, atif];

/** Undefined stands for the whole task. */
const listAttemptedTurns = (task: Task): readonly (number | undefined)[] =>
  task.turns.length === 1 ? [undefined] : listSingleTurns(task);

interface Chat {
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
}

/**
 * The start of an attempt as the service describes it. Throws a `UserError` if the task cannot be
 * opened, or the teacher's calls before the turn no longer return what they did.
 */
function openAttempt(task: Task, catalog: Catalog, turn?: number): Chat {
  const header = createServedHeader(task, catalog, { turn });
  const conversation = new TaskConversation(task, header, openSessionByName(catalog, header));
  return describeAttempt({ task, conversation, maxMessages: undefined }) as unknown as Chat;
}

/** The teacher's conversation, as far as the tools of the start are all that are on offer. */
function createTeacherChat(task: Task, catalog: Catalog): Chat {
  const { tools } = openAttempt(task, catalog);
  const { events } = task.trajectory;
  const added = events.findIndex(it => it.kind === "user" && it.adds !== undefined);
  const shown: readonly Event[] = added < 0 ? events : events.slice(0, added);
  const conversation = { now: task.now, events: shown, ...createRules(task) };
  return { messages: createChatMessages(conversation).map(formatChatMessage), tools };
}
