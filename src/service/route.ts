/** A route of the service: what it answers, and the schemas that describe and validate it. */
import type { IncomingHttpHeaders } from "node:http";
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
