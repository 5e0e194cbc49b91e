/** The formats of exports: the rows that a task becomes in each. */
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { type JsonObject, isJsonObject, type Json } from "../../environment/json.ts";
import { formatChatMessage } from "../../policy/endpointFormat.ts";
import { createChatMessages } from "../../policy/chatMessages.ts";
import { createRules } from "../../policy/policy.ts";
import { TaskConversation } from "../../policy/taskConversation.ts";
import { createServedHeader, describeAttempt, formatTool } from "../../service/servedAttempt.ts";
import { type Task, listOfferedItems } from "../../trajectory/task.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import { listMenuTools } from "../../environment/menu.ts";
import { version } from "../../version.ts";
import type { ToolDescription } from "../../environment/toolDescription.ts";
import { addSignatures } from "../../model/huggingface/compactTools.ts";
import type { CallSyntax } from "../../policy/callText/callText.ts";
import type { ParquetColumns } from "../../storage/parquet.ts";
import { createOtlpTrace } from "./otlp.ts";
import { agentName } from "../../engine/verl.ts";
import { listSingleTurns } from "../../trajectory/oneTurn.ts";

/** The turn of a row that is for the whole task. */
const wholeTask = -1;

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
  return describeAttempt({ task, conversation }) as unknown as Chat;
}

/** The chat with its tools in the system message, where they are shown as signatures. */
function showTools({ messages, tools }: Chat, syntax: CallSyntax | undefined): Chat {
  const [system, ...others] = messages;
  if (syntax === undefined) return { messages, tools };
  const descriptions = tools.map(it => it["function"] as unknown as ToolDescription);
  const content = addSignatures(system!["content"] as string, descriptions, { syntax });
  return { messages: [{ ...system, content }, ...others], tools: [] };
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

interface ToolCall extends JsonObject {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: Json };
}

/** The calls of a message of the assistant. */
const listToolCalls = (message: JsonObject): readonly ToolCall[] =>
  (message["tool_calls"] ?? []) as unknown as readonly ToolCall[];

/** A message whose calls have their arguments as objects instead of JSON texts. */
function parseArguments(message: JsonObject): JsonObject {
  if (message["tool_calls"] === undefined) return message;
  const calls = listToolCalls(message).map(it => ({
    ...it,
    function: { ...it.function, arguments: toObject(it.function.arguments) },
  }));
  return { ...message, tool_calls: calls };
}

function toObject(text: Json): JsonObject {
  const value = JSON.parse(text as string) as Json;
  return isJsonObject(value) ? value : { unparsed: value };
}

const schemaVersion = "ATIF-v1.7";

const sources = { system: "system", user: "user", assistant: "agent" } as const;

/** The document of a task's teacher. */
function createAtifTrajectory(task: Task, catalog: Catalog): JsonObject {
  const { header, events } = task.trajectory;
  const messages = createChatMessages({ now: task.now, events, ...createRules(task) });
  const steps = createSteps(messages.map(it => parseArguments(formatChatMessage(it))));
  return {
    schema_version: schemaVersion,
    session_id: header.id,
    trajectory_id: header.id,
    agent: {
      name: "prove-rl",
      version,
      tool_definitions: listMenuTools(catalog.tools, listOfferedItems(task), task.tools).map(
        formatTool,
      ),
      extra: { teacher: task.provenance.teacher },
    },
    steps,
    final_metrics: { total_steps: steps.length },
    extra: {
      task_id: task.id,
      split: task.split,
      kind: task.kind,
      servers: task.servers.map(it => it.name),
      seed: task.seed,
    },
  };
}

/** The results of calls belong to the step of the agent that made them. */
function createSteps(messages: readonly JsonObject[]): JsonObject[] {
  const results = new Map(
    messages.filter(it => it["role"] === "tool").map(it => [it["tool_call_id"], it["content"]!]),
  );
  return messages
    .filter(it => it["role"] !== "tool")
    .map((message, i) => {
      const calls = listToolCalls(message);
      return {
        step_id: i + 1,
        source: sources[message["role"] as keyof typeof sources],
        message: message["content"]!,
        ...(calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(it => ({
                tool_call_id: it.id,
                function_name: it.function.name,
                arguments: it.function.arguments,
              })),
              observation: {
                results: calls.map(it => ({
                  source_call_id: it.id,
                  content: results.get(it.id)!,
                })),
              },
            }),
      };
    });
}

export interface ExportFormat {
  readonly name: string;
  /** What reads the rows, for the title of the dataset card. */
  readonly reader: string;
  /** What a row is, in full sentences, for the dataset card. */
  readonly description: string;
  readonly columns: Readonly<Record<string, string>>;
  /** The types of the columns, if the rows are written as Parquet instead of JSON Lines. */
  readonly parquet?: ParquetColumns;
  /**
   * `position` is the number of rows that the split has already. With `signatures`, for a model
   * that reads tools as signatures and writes calls in that syntax, they are in the prompts.
   */
  readonly createRows: (
    task: Task,
    catalog: Catalog,
    position: number,
    signatures?: CallSyntax,
  ) => readonly JsonObject[];
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
    "A row is one attempt at a whole task, for the agent loop of `prove_rl.verl`. The attempt runs in a session of `prove-rl serve`, which also says what the user says later and what the attempt earns.",
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
  createRows: (task, catalog, _position, signatures) =>
    listAttemptedTurns(task).map(turn => {
      const { messages, tools } = showTools(openAttempt(task, catalog, turn), signatures);
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
  createRows(task, catalog, _position, signatures) {
    const { messages, tools } = showTools(createTeacherChat(task, catalog), signatures);
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

const otlp: ExportFormat = {
  name: "otlp",
  reader: "OpenTelemetry",
  description:
    "A row is the conversation of a task's teacher as a trace, in the JSON encoding of OTLP, with the attributes of the GenAI conventions.",
  columns: {
    resourceSpans:
      "the spans: `invoke_agent` with the task and all tools that were on offer at any time; in it, `chat` for each message of the assistant, with the messages before, and `execute_tool` for each call",
  },
  createRows(task, catalog) {
    // only for its errors
    openAttempt(task, catalog);
    const { header, events } = task.trajectory;
    const messages = createChatMessages({ now: task.now, events, ...createRules(task) });
    const tools = listMenuTools(catalog.tools, listOfferedItems(task), task.tools);
    return [
      createOtlpTrace({
        id: header.id,
        task: task.id,
        model: task.provenance.teacher,
        now: task.now,
        messages: messages.map(it => parseArguments(formatChatMessage(it))),
        tools: tools.map(formatTool),
      }),
    ];
  },
};

export const exportFormats: readonly ExportFormat[] = [trl, verl, sft, openai, atif, hf, otlp];

/** Undefined stands for the whole task. */
const listAttemptedTurns = (task: Task): readonly (number | undefined)[] =>
  task.turns.length === 1 ? [undefined] : listSingleTurns(task);
