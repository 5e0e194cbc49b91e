/** Responses as JSON text, and the validation of requests. */
import type { z } from "zod";
import type { ResponseWriter } from "../mcp/httpTransport.ts";
import { HttpError } from "./httpError.ts";

/** A response: its status and its body as JSON text. */
export interface JsonResponse {
  readonly status: number;
  readonly text: string;
}

export const createOkResponse = (value: object): JsonResponse => ({
  status: 200,
  text: JSON.stringify(value),
});

/** Validates the body of a request. Throws an `HttpError` that names the first invalid field. */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new HttpError(
    "INVALID_REQUEST",
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
    "send the body that GET /openapi.json describes",
  );
}

export function sendJson(
  response: ResponseWriter,
  { status, text }: JsonResponse,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}
