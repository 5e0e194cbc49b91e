/**
 * The JSON bodies of requests and responses: reading one up to a size limit, validating it, and
 * sending one. Web pages can make a browser send bodies of some other types without asking, so
 * these are refused.
 */
import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import type { ResponseWriter } from "../mcp/httpTransport.ts";
import { parseMessageJson } from "../storage/jsonDepth.ts";
import { HttpError } from "./httpError.ts";
import { findReason } from "../storage/schemaIssue.ts";

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
  const { path, message } = findReason(result.error);
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

export const maxBodyBytes = 8 * 2 ** 20;

/** Rejects with an `HttpError` for a body that is too large or not JSON. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  checkJsonType(request.headers["content-type"]);
  return parseJsonBody(await readBytes(request));
}

export function checkJsonType(type: string | undefined): void {
  if (type === "application/json" || /^application\/json\s*(;|$)/i.test(type ?? "")) return;
  throw new HttpError(
    "NOT_JSON",
    "the body does not have the content type application/json",
    "send JSON, and say so in Content-Type",
  );
}

export function parseJsonBody(bytes: Buffer): unknown {
  try {
    return parseMessageJson(bytes.toString("utf8"));
  } catch (cause) {
    throw new HttpError(
      "INVALID_REQUEST",
      `the body is not JSON (${(cause as Error).message})`,
      "send one JSON value",
    );
  }
}

/**
 * Reads the whole body. Rejects with an `HttpError` for one that is too large. Listens to events,
 * because an async iterator is noticeably slower for many small bodies.
 */
export function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes)
    return Promise.reject(createTooLargeError());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBodyBytes) {
        request.pause().removeAllListeners("data");
        reject(createTooLargeError());
      } else chunks.push(chunk);
    });
    request.once("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // the client has disconnected and will not see the response
    const rejectCutOff = () =>
      reject(new HttpError("INVALID_REQUEST", "the body ended early", "send the request again"));
    request.once("error", rejectCutOff);
    request.once("close", () => {
      if (!request.complete) rejectCutOff();
    });
  });
}

const createTooLargeError = () =>
  new HttpError("TOO_LARGE", `the body has more than ${maxBodyBytes} bytes`, "send it in parts", {
    connection: "close",
  });
