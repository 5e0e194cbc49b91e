/**
 * Converts rows of published abstention datasets into tasks: When2Call (Ross et al. 2025) and
 * xLAM-irrelevance (MadeAgents), both CC-BY-4.0. Only rows whose correct answer is not a call
 * become tasks. The caller reads the rows from the user's own files.
 */
import { z } from "zod";
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import type { ToolDescription } from "../../environment/toolDescription.ts";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { isTooDeep } from "../../storage/jsonDepth.ts";
import { taskFormat, type Task, createTeacherHeader } from "../../trajectory/task.ts";

/** A row of either dataset. */
interface ImportedRow {
  readonly question: string;
  readonly reply: string;
  readonly tools: readonly ToolDescription[];
  /** The row is of a test set and must not be trained on. */
  readonly isTest: boolean;
}

export const importFormats = {
  when2call: limitDepth(parseWhen2CallRow),
  "xlam-irrelevance": limitDepth(parseXlamRow),
} as const;

export type ImportFormat = keyof typeof importFormats;

type ParseRow = (json: unknown) => ImportedRow | SkipReason;

function limitDepth(parse: ParseRow): ParseRow {
  return json => (isTooDeep(json, "document") ? "no row of this set" : parse(json));
}

/** Why a row does not become a task. `a call`: its correct answer is to call a tool. */
export type SkipReason = "a call" | "not one question" | "no row of this set";

const messageSchema = z.object({ role: z.string(), content: z.string() });
const toolsSchema = z.union([
  z.array(z.union([z.string(), z.record(z.string(), z.json())])),
  z.string(),
]);

const when2CallSchema = z.union([
  z.object({
    tools: toolsSchema,
    messages: z.array(messageSchema).min(1),
    chosen_response: messageSchema.optional(),
  }),
  z.object({
    tools: toolsSchema,
    question: z.string(),
    correct_answer: z.string(),
    answers: z.record(z.string(), z.string()),
  }),
]);

/**
 * Parses a row of When2Call. In its training sets the correct answer is a message, in its test sets
 * one of four choices.
 */
function parseWhen2CallRow(json: unknown): ImportedRow | SkipReason {
  const row = when2CallSchema.safeParse(json).data;
  const tools = row && parseTools(row.tools);
  if (!tools) return "no row of this set";
  if ("question" in row) {
    if (row.correct_answer === "tool_call") return "a call";
    return {
      question: row.question,
      reply: row.answers[row.correct_answer] ?? "",
      tools,
      isTest: true,
    };
  }
  const conversation = row.messages.filter(it => it.role !== "system");
  const answer = row.chosen_response ?? conversation.at(-1)!;
  const questions = conversation.filter(it => it !== answer);
  if (questions.length !== 1 || questions[0]!.role !== "user" || answer.role !== "assistant")
    return "not one question";
  if (/<toolcall/i.test(answer.content)) return "a call";
  return { question: questions[0]!.content, reply: answer.content, tools, isTest: false };
}

const xlamSchema = z.object({
  query: z.string(),
  tools: toolsSchema,
  answers: z.union([z.string(), z.array(z.json())]).optional(),
});

/** Parses a row of xLAM-irrelevance: a question, and tools of which none can answer it. */
function parseXlamRow(json: unknown): ImportedRow | SkipReason {
  const row = xlamSchema.safeParse(json).data;
  const tools = row && parseTools(row.tools);
  if (!tools) return "no row of this set";
  const answers =
    typeof row.answers === "string" ? row.answers.trim() : JSON.stringify(row.answers ?? []);
  if (answers !== "[]" && answers !== "") return "a call";
  return {
    question: row.query,
    reply: "None of the tools I have can do that.",
    tools,
    isTest: false,
  };
}

/** The catalog digest of a task without servers. */
const emptyCatalogDigest = computeDigest(deepFreeze([]));

interface ImportedTaskOptions {
  readonly format: ImportFormat;
  /** The line or element of the file, from 1. */
  readonly number: number;
  readonly split: Task["split"];
}

/**
 * Creates a task without goals, in which no tool should be called. Its trajectory is the row's
 * correct answer.
 */
export function createImportedTask(
  { question, reply, tools }: ImportedRow,
  { format, number, split }: ImportedTaskOptions,
): Task {
  const task = {
    format: taskFormat,
    id: `${format}-${number}`,
    servers: [],
    catalog: emptyCatalogDigest,
    seed: 0,
    split,
    kind: "abstain",
    persona: "",
    // the datasets have no times
    now: "2026-03-09T09:00",
    menu: tools.map(({ name }) => ({ name })),
    tools: tools.map(it => ({ ...it })),
    hidden: [],
    turns: [{ user: question, goals: [], reply }],
    goals: [],
    knobs: { imported: format },
    info: "complete",
    chain: [],
    budget: { calls: 0, assistantMessages: 2 },
    provenance: { teacher: format, graph: "", log: [] },
  } satisfies Omit<Task, "trajectory">;
  const answer =
    reply.trim() === "" ? [] : [{ kind: "assistant" as const, message: 0, text: reply }];
  return {
    ...task,
    trajectory: {
      header: createTeacherHeader(task),
      events: [{ kind: "user", text: question }, ...answer, { kind: "ended", by: "policy" }],
    },
  };
}

/**
 * Parses the tools of a row, which are JSON in strings, with parameters as JSON Schema or as a
 * table. Returns undefined for any other form.
 */
function parseTools(published: z.infer<typeof toolsSchema>): ToolDescription[] | undefined {
  const list =
    typeof published === "string"
      ? parseJsonText(published)
      : published.map(it => (typeof it === "string" ? parseJsonText(it) : it));
  if (!Array.isArray(list)) return undefined;
  const names = new Set<string>();
  const tools: ToolDescription[] = [];
  for (const it of list as unknown[]) {
    const tool = publishedToolSchema.safeParse(hasFunction(it) ? it.function : it).data;
    if (!tool) return undefined;
    const name = makeUnique(tool.name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 60), names);
    names.add(name);
    tools.push({ name, description: tool.description, parameters: toJsonSchema(tool.parameters) });
  }
  return tools;
}

const publishedToolSchema = z.object({
  name: z.string().min(1),
  description: z.string().default(""),
  parameters: z.record(z.string(), z.json()).default({}),
});

const hasFunction = (value: unknown): value is { function: unknown } =>
  value !== null && typeof value === "object" && "function" in value;

function parseJsonText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value, "document") ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Appends a number to a name that exists already. */
function makeUnique(name: string, names: ReadonlySet<string>): string {
  let unique = name;
  for (let n = 2; names.has(unique); n++) unique = `${name}_${n}`;
  return unique;
}

function toJsonSchema(parameters: JsonObject): JsonSchema {
  if (isJsonObject(parameters["properties"])) return replacePythonTypes(parameters);
  // a table of arguments with their Python types; an argument is required unless it has a default
  // or its type says that it is optional
  const entries = Object.entries(parameters).filter((it): it is [string, JsonObject] =>
    isJsonObject(it[1]),
  );
  const required = entries
    .filter(([, it]) => !Object.hasOwn(it, "default") && !/optional/i.test(getTypeName(it)))
    .map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([key, it]) => [key, { ...it, ...parsePythonType(getTypeName(it)) }]),
    ),
    required,
  };
}

const getTypeName = ({ type }: JsonObject): string => (typeof type === "string" ? type : "any");

/** Replaces Python type names in a JSON Schema by those of JSON Schema, at every depth. */
function replacePythonTypes({ type, ...keywords }: JsonObject): JsonObject {
  const replaced = Object.fromEntries(
    Object.entries(keywords).map(([key, value]) => [key, replaceInKeyword(key, value)]),
  );
  return {
    ...(typeof type === "string" ? parsePythonType(type) : type === undefined ? {} : { type }),
    ...replaced,
  };
}

function replaceInKeyword(key: string, value: Json): Json {
  if (!isJsonObject(value)) return value;
  if (key === "items") return replacePythonTypes(value);
  if (key !== "properties") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [
      name,
      isJsonObject(it) ? replacePythonTypes(it) : it,
    ]),
  );
}

const jsonTypes: Readonly<Record<string, string>> = {
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

/** The elements of a type are read by the same function. */
const maxTypeLength = 1_000;

/**
 * Parses a Python type: `List[str], optional` becomes an array of strings. A type that JSON does
 * not have, such as `any`, becomes a schema without a type.
 */
function parsePythonType(text: string): JsonObject {
  if (text.length > maxTypeLength) return {};
  const [, outer = "", inner] =
    /^([a-z]+)(?:\[(.*)\])?/i.exec(text.replaceAll(/\s/g, "").replace(/,?optional.*$/i, "")) ?? [];
  const type = jsonTypes[outer.toLowerCase()];
  if (type === undefined) return {};
  return type === "array" && inner !== undefined
    ? { type, items: parsePythonType(inner) }
    : { type };
}
