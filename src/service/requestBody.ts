/**
 * Reads a request's body as JSON, up to a size limit. Web pages can make a browser send bodies of
 * some other types without asking, so these are refused.
 */
import type { IncomingMessage } from "node:http";
import { HttpError } from "./httpError.ts";

export const maxBodyBytes = 8 * 2 ** 20;

/** Throws an `HttpError` for a body that is too large or not JSON. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  if (!isJsonType(request.headers["content-type"]))
    throw new HttpError(
      "NOT_JSON",
      "the body does not have the content type application/json",
      "send JSON, and say so in Content-Type",
    );
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) throw createTooLargeError();
  const text = (await readBytes(request)).toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HttpError(
      "INVALID_REQUEST",
      `the body is not JSON (${(cause as Error).message})`,
      "send one JSON value",
    );
  }
}

/** Listens to events, because an async iterator is noticeably slower for many small bodies. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
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

const isJsonType = (type: string | undefined) => /^application\/json\s*(;|$)/i.test(type ?? "");

const createTooLargeError = () =>
  new HttpError("TOO_LARGE", `the body has more than ${maxBodyBytes} bytes`, "send it in parts", {
    connection: "close",
  });
