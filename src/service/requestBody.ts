/** A request's body as JSON, within a limit. Knows no routes. */
import type { IncomingMessage } from "node:http";
import { HttpError } from "./httpError.ts";

export const maxBodyBytes = 8 * 2 ** 20;

/** Throws a `Failure` for a body that is too large or no JSON. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) throw tooLarge();
  const text = (await bytesOf(request)).toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HttpError("INVALID_REQUEST", `the body is not JSON (${(cause as Error).message})`);
  }
}

/** By events: a reader of many small bodies notices what an async iterator costs. */
function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBodyBytes) {
        request.pause().removeAllListeners("data");
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    request.once("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // cut off: nobody hears the answer
    request.once("close", () => {
      if (!request.complete) reject(new HttpError("INVALID_REQUEST", "the body ended early"));
    });
    request.once("error", reject);
  });
}

const tooLarge = () =>
  new HttpError("TOO_LARGE", `a body may have ${maxBodyBytes} bytes`, { connection: "close" });
