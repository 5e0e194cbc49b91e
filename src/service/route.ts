/** A route of the service: what it answers, and the schemas that describe and validate it. */
import type { z } from "zod";
import type { JsonResponse } from "./jsonResponse.ts";

export interface ApiRequest {
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
