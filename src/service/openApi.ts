/** Generates the OpenAPI document from the routes and the schemas that validate their requests. */
import { z } from "zod";
import type { JsonObject } from "../environment/json.ts";
import { version } from "../version.ts";
import type { Route } from "./route.ts";
import { errorResponse } from "./schemas.ts";

type RouteDescription = Omit<Route, "answer">;

/** Creates the document, in version 3.1 of OpenAPI. */
export function createOpenApi(routes: readonly RouteDescription[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = createOperation(route);
  return {
    openapi: "3.1.0",
    info: {
      title: "PROVE",
      version,
      description:
        "Sessions on stateful tool servers, attempts at tasks with a scripted user, and their rewards.",
    },
    paths,
    components: {
      schemas: { Error: toJsonSchema(errorResponse, "output") },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
    security: [{}, { token: [] }],
  };
}

function createOperation({ path, summary, query, body, response }: RouteDescription): JsonObject {
  const parameters = [
    ...(path.includes("{id}") ? [createParameter("path", "id", z.string(), true)] : []),
    ...Object.entries(query?.shape ?? {}).map(([name, it]) =>
      createParameter("query", name, it as z.ZodType, false),
    ),
  ];
  return {
    summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: toContent(body, "input") } } : {}),
    responses: {
      "200": { description: "done", content: toContent(response, "output") },
      default: {
        description: "an error, with its code, what happened and what to do",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

const createParameter = (
  place: "path" | "query",
  name: string,
  schema: z.ZodType,
  required: boolean,
): JsonObject => ({ name, in: place, required, schema: toJsonSchema(schema, "input") });

const toContent = (schema: z.ZodType, io: "input" | "output"): JsonObject => ({
  "application/json": { schema: toJsonSchema(schema, io) },
});

/**
 * The JSON Schema of a schema. A recursive one, which stands for any JSON, accepts anything here,
 * because a reference into a part of the document is not portable.
 */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const {
    $schema: _,
    $defs: _defs,
    ...json
  } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as JsonObject;
  return removeReferences(json) as JsonObject;
}

function removeReferences(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(removeReferences);
  if (json === null || typeof json !== "object") return json;
  if ("$ref" in json) return {};
  return Object.fromEntries(Object.entries(json).map(([key, it]) => [key, removeReferences(it)]));
}
