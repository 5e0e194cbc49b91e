/**
 * Rows of others' abstention sets as tasks: When2Call (Ross et al. 2025) and xLAM-irrelevance
 * (MadeAgents), both CC-BY-4.0, from files that the person has. Only rows whose right answer is no
 * call become tasks. Knows rows, not where they were read.
 */
import { z } from "zod";
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import type { ListedTool } from "../../environment/menu.ts";
import type { JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { taskFormat, type Task } from "../../trajectory/task.ts";
import { createTeacherHeader } from "../../trajectory/taskLine.ts";

/** What a row says, whichever set it is of. */
export interface ImportedRow {
  readonly asked: string;
  readonly reply: string;
  readonly tools: readonly ListedTool[];
  /** Of a test set: never to be trained on. */
  readonly isTest: boolean;
}

export const importFormats = {
  when2call: parseWhen2CallRow,
  "xlam-irrelevance": parseXlamRow,
} as const;

export type ImportFormat = keyof typeof importFormats;

/** Why a row became no task. `a call`: its right answer is to call a tool. */
export type SkipReason = "a call" | "not one question" | "no row of this set";

const message = z.object({ role: z.string(), content: z.string() });
const tools = z.union([z.array(z.union([z.string(), z.record(z.string(), z.json())])), z.string()]);

const when2Call = z.union([
  z.object({ tools, messages: z.array(message).min(1), chosen_response: message.optional() }),
  z.object({
    tools,
    question: z.string(),
    correct_answer: z.string(),
    answers: z.record(z.string(), z.string()),
  }),
]);

/**
 * A row of When2Call: of its training sets, where the answer is a message, or of its test sets,
 * where it is one of four.
 */
export function parseWhen2CallRow(json: unknown): ImportedRow | SkipReason {
  const row = when2Call.safeParse(json).data;
  if (!row) return "no row of this set";
  const listed = toolsIn(row.tools);
  if (!listed) return "no row of this set";
  if ("question" in row) {
    if (row.correct_answer === "tool_call") return "a call";
    return {
      asked: row.question,
      reply: row.answers[row.correct_answer] ?? "",
      tools: listed,
      isTest: true,
    };
  }
  const conversation = row.messages.filter(it => it.role !== "system");
  const said = row.chosen_response ?? conversation.at(-1)!;
  const asked = conversation.filter(it => it !== said);
  if (asked.length !== 1 || asked[0]!.role !== "user" || said.role !== "assistant")
    return "not one question";
  if (/<toolcall/i.test(said.content)) return "a call";
  return { asked: asked[0]!.content, reply: said.content, tools: listed, isTest: false };
}

const xlam = z.object({
  query: z.string(),
  tools,
  answers: z.union([z.string(), z.array(z.json())]).optional(),
});

/** A row of xLAM-irrelevance: a question and tools of which none can answer it. */
export function parseXlamRow(json: unknown): ImportedRow | SkipReason {
  const row = xlam.safeParse(json).data;
  const listed = row && toolsIn(row.tools);
  if (!listed) return "no row of this set";
  const answers =
    typeof row.answers === "string" ? row.answers.trim() : JSON.stringify(row.answers ?? []);
  if (answers !== "[]" && answers !== "") return "a call";
  return {
    asked: row.query,
    reply: "None of the tools I have can do that.",
    tools: listed,
    isTest: false,
  };
}

/** What a task pins that is on no server. */
const noDefinitions = computeDigest(deepFreeze([]));

export interface ImportedTaskOptions {
  readonly format: ImportFormat;
  /** Line or element in its file, from 1. */
  readonly number: number;
  readonly split: Task["split"];
}

/**
 * A task without goals: the right thing is to call nothing. Its trajectory is what the set gives as
 * the right answer.
 */
export function createImportedTask(
  { asked, reply, tools: listed }: ImportedRow,
  { format, number, split }: ImportedTaskOptions,
): Task {
  const task = {
    format: taskFormat,
    id: `${format}-${number}`,
    servers: [],
    catalog: noDefinitions,
    seed: 0,
    split,
    kind: "abstain",
    persona: "",
    // nobody says when it was asked
    now: "2026-03-09T09:00",
    menu: listed.map(({ name }) => ({ name })),
    tools: listed.map(it => ({ ...it })),
    hidden: [],
    turns: [{ user: asked, goals: [], reply }],
    goals: [],
    knobs: { imported: format },
    info: "complete",
    chain: [],
    budget: { calls: 0, assistantMessages: 2 },
    provenance: { teacher: format, graph: "", log: [] },
  } satisfies Omit<Task, "trajectory">;
  const said = reply.trim() === "" ? [] : [{ kind: "assistant" as const, message: 0, text: reply }];
  return {
    ...task,
    trajectory: {
      header: createTeacherHeader(task),
      events: [{ kind: "user", text: asked }, ...said, { kind: "ended", by: "policy" }],
    },
  };
}

/**
 * Both sets write tools as JSON in strings, and their arguments as JSON Schema or as a plain table.
 * Undefined where it is neither.
 */
function toolsIn(given: z.infer<typeof tools>): ListedTool[] | undefined {
  const list =
    typeof given === "string"
      ? parsed(given)
      : given.map(it => (typeof it === "string" ? parsed(it) : it));
  if (!Array.isArray(list)) return undefined;
  const names = new Set<string>();
  const listed: ListedTool[] = [];
  for (const it of list as unknown[]) {
    const tool = published.safeParse(isFunction(it) ? it.function : it).data;
    if (!tool) return undefined;
    const name = unused(tool.name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 60), names);
    listed.push({ name, description: tool.description, parameters: schemaOf(tool.parameters) });
  }
  return listed;
}

const published = z.object({
  name: z.string().min(1),
  description: z.string().default(""),
  parameters: z.record(z.string(), z.json()).default({}),
});

const isFunction = (it: unknown): it is { function: unknown } =>
  it !== null && typeof it === "object" && "function" in it;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unused(name: string, names: Set<string>): string {
  let free = name;
  for (let n = 2; names.has(free); n++) free = `${name}_${n}`;
  names.add(free);
  return free;
}

function schemaOf(parameters: JsonObject): JsonSchema {
  if (isObject(parameters["properties"])) return corrected(parameters);
  // a table of arguments, each with its Python type; what has a default, or is said to be optional,
  // need not be given
  const entries = Object.entries(parameters).filter((it): it is [string, JsonObject] =>
    isObject(it[1]),
  );
  const required = entries
    .filter(([, it]) => !Object.hasOwn(it, "default") && !/optional/i.test(typeOf(it)))
    .map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([key, it]) => [key, { ...it, ...typed(typeOf(it)) }]),
    ),
    required,
  };
}

const typeOf = ({ type }: JsonObject): string => (typeof type === "string" ? type : "any");

/** JSON Schema but for its names of types: Python's are put right, at every depth. */
function corrected(schema: JsonObject): JsonObject {
  const { type, ...rest } = schema;
  const inner = Object.fromEntries(
    Object.entries(rest).map(([key, it]) => [
      key,
      key === "properties" && isObject(it)
        ? Object.fromEntries(
            Object.entries(it).map(([name, of]) => [name, isObject(of) ? corrected(of) : of]),
          )
        : key === "items" && isObject(it)
          ? corrected(it)
          : it,
    ]),
  );
  return {
    ...(typeof type === "string" ? typed(type) : type === undefined ? {} : { type }),
    ...inner,
  };
}

const types: Readonly<Record<string, string>> = {
  str: "string",
  string: "string",
  int: "integer",
  integer: "integer",
  float: "number",
  number: "number",
  double: "number",
  bool: "boolean",
  boolean: "boolean",
  list: "array",
  array: "array",
  tuple: "array",
  set: "array",
  dict: "object",
  object: "object",
};

/**
 * `List[str], optional` is an array of strings; what has no type in JSON, such as `any`, has none
 * here.
 */
function typed(python: string): JsonObject {
  const [, outer = "", inner] =
    /^([a-z]+)(?:\[(.*)\])?/i.exec(python.replaceAll(/\s|,?\s*optional.*$/gi, "")) ?? [];
  const type = types[outer.toLowerCase()];
  if (type === undefined) return {};
  return type === "array" && inner !== undefined ? { type, items: typed(inner) } : { type };
}

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
