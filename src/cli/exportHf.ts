/** The rows of `export --to hf`: teachers' conversations in Parquet, for the Hugging Face Hub. */
import { createTeacherChat } from "./exportChats.ts";
import type { ExportFormat } from "./exportFormat.ts";

const call = {
  id: "string",
  type: "string",
  function: { struct: { name: "string", arguments: "string" } },
} as const;

export const hf: ExportFormat = {
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
