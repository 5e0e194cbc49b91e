/** What the description of a server says about each of its tools. */
import { inferSchema, combineSchemas } from "../../environment/inferSchema.ts";
import type { JsonObject } from "../../environment/json.ts";
import { listRequired } from "../../environment/schemaKeywords.ts";
import type { JsonSchema } from "../../environment/server.ts";
import type { ConnectedTool } from "../toolList.ts";
import { addExamples } from "./exampleArguments.ts";
import type { ServerFile } from "./serverFile.ts";
import { readRecord } from "./textResult.ts";
import type { Trials } from "./trials.ts";

type ToolEntry = ServerFile["tools"][string];

export const createToolName = (server: string, tool: string): string =>
  `${server}_${tool
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")}`;

/** What the server itself says about a tool. */
export const createToolEntry = (it: ConnectedTool): ToolEntry => ({
  tool: it.name,
  effect: it.effect,
  summary: it.summary,
  ...(it.destructive && it.effect === "write" ? { destructive: true } : {}),
  ...(it.idempotent && it.effect === "write" ? { idempotent: true } : {}),
  inputSchema: it.inputSchema,
  outputSchema: it.outputSchema,
});

/** What calls have shown about a tool, too. */
export function describeTool(name: string, tool: ConnectedTool, trials: Trials): ToolEntry {
  const sample = trials.samples.get(name);
  const { effect, because } = chooseEffect(tool, sample?.writes);
  if (effect === "write" && tool.effect === "read")
    trials.remarks.push(`${name} is marked as read-only, but a call changed what was observed`);
  if (sample?.writes === false && effect === "write")
    trials.remarks.push(
      `${name} is marked as a write, but no call changed what was observed: no task can ask for it`,
    );
  if (!sample && !trials.isUnusable(name)) trials.remarks.push(`no call of ${name} succeeded`);
  const form = trials.getForm(name);
  const results = (trials.results.get(name) ?? []).map(it => readRecord(it, form));
  const isPublished = Object.keys(tool.outputSchema).length > 0 && form === undefined;
  return {
    ...createToolEntry(tool),
    effect,
    because,
    ...(form ? { text: form } : {}),
    inputSchema: addExamples(
      addRequired(tool.inputSchema, sample?.call.arguments ?? {}),
      trials.texts,
    ),
    outputSchema: isPublished ? tool.outputSchema : combineSchemas(results.map(inferSchema)),
  };
}

function chooseEffect(
  { effect, saysEffect }: ConnectedTool,
  writes: boolean | undefined,
): Pick<ToolEntry, "effect" | "because"> {
  if (writes) return { effect: "write", because: "a call changed what was observed" };
  if (saysEffect) return { effect, because: "the server says so" };
  return writes === undefined
    ? { effect: "write", because: "no call succeeded, and the server does not say" }
    : { effect: "read", because: "a call changed nothing that was observed" };
}

/** Adds the arguments without which no call succeeded to a schema that requires none. */
const addRequired = (schema: JsonSchema, sample: JsonObject): JsonSchema =>
  listRequired(schema).length > 0 || Object.keys(sample).length === 0
    ? schema
    : { ...schema, required: Object.keys(sample) };
