/** A small HTTP server with the responses of a test, and a clock that the test controls. */
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Json, JsonObject } from "../../src/environment/json.ts";
import type { Clock } from "../../src/policy/endpoint.ts";

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ChatBody;
}

/** What a client sends, as far as tests look at it. */
export interface ChatBody extends JsonObject {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly tool_calls?: Json;
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly {
    readonly function: {
      readonly name: string;
      readonly description: string;
      readonly parameters: JsonObject;
    };
  }[];
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or a text as it is. */
  readonly body?: Json;
}

export type Answering = (
  asked: Asked,
  n: number,
  response: ServerResponse,
) => Reply | undefined | Promise<Reply | undefined>;

/**
 * Starts a server until the test ends. An answer of undefined leaves the request hanging, or to the
 * answering itself.
 */
export async function chatServer(
  answering: Answering,
): Promise<{ url: string; asked: Asked[]; close: () => Promise<void> }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (it: Buffer) => chunks.push(it));
    request.on("end", () => {
      const it: Asked = {
        path: request.url!,
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString() || "{}") as ChatBody,
      };
      const n = asked.push(it) - 1;
      void Promise.resolve(answering(it, n, response)).then(reply => {
        if (!reply) return;
        const { status = 200, headers = {}, body = {} } = reply;
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(typeof body === "string" ? body : JSON.stringify(body));
      });
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const close = () => closeServer(server);
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked, close };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise(resolve => server.close(() => resolve()));
}

/** A completion that says this. */
export const says = (content: string, more: JsonObject = {}): Reply => ({
  body: {
    id: "1",
    object: "chat.completion",
    choices: [
      { index: 0, message: { role: "assistant", content }, finish_reason: "stop", ...more },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  },
});

/** A completion that makes these calls, their arguments as the text they are. */
export const callsFor = (...calls: readonly (readonly [name: string, args: string])[]): Reply => ({
  body: {
    choices: [
      {
        message: {
          role: "assistant",
          content: null,
          tool_calls: calls.map(([name, args], i) => ({
            id: `c${i}`,
            type: "function",
            function: { name, arguments: args },
          })),
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  },
});

/** Time that passes only by being waited for, and how long each wait was. */
export function ownTime(): Clock & { readonly waits: number[] } {
  let now = Date.UTC(2026, 2, 2, 9);
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    async wait(milliseconds, signal) {
      signal?.throwIfAborted();
      waits.push(milliseconds);
      now += milliseconds;
      await Promise.resolve();
    },
  };
}
