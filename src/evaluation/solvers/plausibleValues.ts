/** Makes up arguments that a tool's schema allows. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";
import type { SolverRun } from "./solverRun.ts";
import { listArguments, type Argument } from "./toolSchemas.ts";

/** A value for each required argument of a tool. */
export function fillArguments(run: SolverRun, tool: Tool): JsonObject {
  return Object.fromEntries(
    listArguments(tool).flatMap(it => {
      if (!it.isRequired) return [];
      const value = fillArgument(run, it);
      return [[it.key, it.isList ? [value] : value]];
    }),
  );
}

function fillArgument(
  { knowledge, task }: SolverRun,
  { server, entity, label, schema }: Argument,
): Json {
  if (entity !== undefined)
    return knowledge.listIds(server, entity).at(-1) ?? `${entity.slice(0, 3)}_101`;
  if (label !== undefined) return knowledge.listLabels(server, label).at(-1) ?? "Studio";
  return fillSchema(schema, task.now);
}

function fillSchema(schema: JsonSchema, now: string): Json {
  const choices = schema["enum"];
  if (Array.isArray(choices)) return choices[0] as Json;
  if (schema["const"] !== undefined) return schema["const"];
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return fillSchema(branches[0] as JsonSchema, now);
  switch (schema["type"]) {
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? Math.max(1, schema["minimum"]) : 1;
    case "boolean":
      return true;
    case "array":
      return [fillSchema((schema["items"] ?? {}) as JsonSchema, now)];
    case "object": {
      const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
      const required = (schema["required"] ?? []) as readonly string[];
      return Object.fromEntries(required.map(it => [it, fillSchema(properties[it] ?? {}, now)]));
    }
    default:
      return fillText(schema, now);
  }
}

function fillText(schema: JsonSchema, now: string): string {
  if (schema["format"] === "date") return now.slice(0, 10);
  if (schema["format"] === "date-time") return now;
  return "Notes";
}
