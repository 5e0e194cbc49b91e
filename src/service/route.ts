/**
 * A route of the service: what it answers, and the schemas that describe and validate it. The
 * OpenAPI document is generated from the routes.
 */
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import type { JsonObject } from "../environment/json.ts";
import { version } from "../version.ts";
import type { JsonResponse } from "./jsonBody.ts";
import { errorResponse } from "./schemas.ts";

interface ApiRequest {
  /** The id in the path, decoded; empty if the path has none. */
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON of the body; undefined if the route takes none. */
  readonly body: unknown;
}

export interface Route {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** `{id}` stands for an id. */
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly response: z.ZodType;
  readonly answer: (request: ApiRequest) => JsonResponse | Promise<JsonResponse>;
}

/** A request whose sender was checked. */
export interface CheckedRequest {
  readonly method?: string | undefined;
  /** The path with the query. */
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Rejects with an `HttpError` for a body that is not JSON. */
  readonly readJson: () => Promise<unknown>;
}

/**
 * A segment of a path, decoded; undefined if it is not percent-encoded UTF-8. The code that chooses
 * a process by an id and the code that looks up its session must read the same id.
 */
export function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

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
