/**
 * An MCP server of notes at an address on loopback, which misbehaves on request. It keeps a session
 * for each client, and answers as JSON or as a stream.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { notes } from "./notesWorkspace.ts";

export interface RemoteServer {
  readonly url: string;
  /** The headers of the requests so far. */
  readonly requests: IncomingMessage["headers"][];
  readonly bodies: string[];
  /** The calls so far, as `get_note {"note_id":"note_1"}`. */
  readonly calls: string[];
  /** How it misbehaves from now on. */
  manner: string;
  /** Tools that it does not list. */
  hidden: string[];
  readonly close: () => Promise<void>;
}

type Message = Readonly<Record<string, unknown>> & { readonly id?: unknown };

const text = { type: "string" };
const read = { annotations: { readOnlyHint: true } };

const tools = [
  {
    name: "list_notes",
    description: "List all notes, with their ids and titles.",
    inputSchema: { type: "object", properties: {} },
    ...read,
  },
  {
    name: "get_note",
    description: "Get one note with its text.",
    inputSchema: {
      type: "object",
      properties: { note_id: text, full: { type: "boolean", default: true } },
      required: ["note_id"],
    },
    ...read,
  },
  {
    name: "count_notes",
    description: "Count the notes in a folder.",
    inputSchema: { type: "object", properties: { folder: text }, required: ["folder"] },
  },
  {
    name: "delete_note",
    description: "Delete a note.",
    inputSchema: { type: "object", properties: { note_id: text }, required: ["note_id"] },
  },
];

const known: Readonly<Record<string, { title: string; text: string; folder: string }>> = notes;

function answerCall(name: string, args: Readonly<Record<string, unknown>>): object {
  const note = known[String(args["note_id"])];
  switch (name) {
    case "list_notes":
      return {
        notes: Object.entries(known).map(([id, it]) => ({
          id,
          title: it.title,
          folder: it.folder,
        })),
      };
    case "get_note":
      return note ? { id: args["note_id"], ...note } : { error: "there is no such note" };
    case "count_notes": {
      const count = Object.values(known).filter(it => it.folder === args["folder"]).length;
      return count > 0 ? { folder: args["folder"], count } : { error: "there is no such folder" };
    }
    default:
      return { deleted: args["note_id"] };
  }
}

/** Starts it. */
export async function serveNotes(manner = ""): Promise<RemoteServer> {
  const server = {
    manner,
    hidden: [] as string[],
    requests: [] as IncomingMessage["headers"][],
    bodies: [] as string[],
    calls: [] as string[],
  };
  const http = createServer((request, response) => {
    server.requests.push(request.headers);
    const body: Buffer[] = [];
    request.on("data", (it: Buffer) => body.push(it));
    request.on("end", () => {
      const text = Buffer.concat(body).toString();
      server.bodies.push(text);
      const message = text === "" ? {} : (JSON.parse(text) as Message);
      answer(server, request, message, response);
    });
  });
  await new Promise<void>(resolve => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return Object.assign(server, {
    url,
    close: () =>
      new Promise<void>(resolve => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  });
}

function answer(
  server: Omit<RemoteServer, "url" | "close">,
  { method, headers, url }: IncomingMessage,
  message: Message,
  response: ServerResponse,
): void {
  const { manner } = server;
  const send = (status: number, type: string, content: string) =>
    response
      .writeHead(status, { "content-type": type, "mcp-session-id": "session-1" })
      .end(content);
  const { id, method: asked, params } = message;
  const { name, arguments: args = {} } = (params ?? {}) as {
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
  };
  const [when, how] = manner.includes(" ") ? (manner.split(" ") as [string, string]) : ["", manner];
  const isNow = when === "" || asked === when;
  const misbehaves = (what: string) => isNow && how === what;
  if (method === "GET") return void send(405, "text/plain", "no stream here");
  if (method === "DELETE") return void response.writeHead(200).end();
  if (misbehaves("hang")) return;
  if (misbehaves("401"))
    return void send(401, "text/plain", `the token ${headers.authorization} is not valid`);
  if (misbehaves("404")) return void send(404, "text/html", "<html>nothing here</html>");
  if (misbehaves("503")) return void send(503, "text/plain", "too much to do");
  if (misbehaves("400"))
    return void send(
      400,
      "application/json",
      JSON.stringify({ jsonrpc: "2.0", error: { code: -32602, message: "a note_id is text" } }),
    );
  if (misbehaves("html")) return void send(200, "text/html", "<html>please sign in</html>");
  if (misbehaves("broken")) return void send(200, "application/json", '{"jsonrpc": "2.0", ');
  if (misbehaves("elsewhere"))
    return void response.writeHead(307, { location: "http://localhost:9/mcp?token=abc" }).end();
  if (misbehaves("around") && url === "/mcp")
    return void response.writeHead(307, { location: "/moved" }).end();
  if (misbehaves("huge")) {
    response.writeHead(200, { "content-type": "application/json" });
    for (let i = 0; i < 50; i++) response.write("x".repeat(2 ** 20));
    return void response.end();
  }
  if (misbehaves("huge-stream") || misbehaves("half-stream")) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"jsonrpc":"2.0",');
    const count = how === "huge-stream" ? 50 : 0;
    for (let i = 0; i < count; i++) response.write("x".repeat(2 ** 20));
    return void response.end();
  }
  if (id === undefined) return void response.writeHead(202).end();
  const isStream = manner === "stream" || misbehaves("cut");
  const reply = (result: object) => {
    const line = JSON.stringify({ jsonrpc: "2.0", id, result });
    if (!isStream) return void send(200, "application/json", line);
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "mcp-session-id": "session-1",
    });
    response.write(
      'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\r\n\r\n',
    );
    if (misbehaves("cut")) return void setImmediate(() => response.destroy());
    response.end(`event: message\ndata: ${line}\n\n`);
  };
  switch (asked) {
    case "initialize":
      return reply({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "remote notes", version: "1.2.3" },
      });
    case "tools/list":
      return reply({ tools: tools.filter(it => !server.hidden.includes(it.name)) });
    case "server/discover":
      return void send(
        400,
        "application/json",
        JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "not ready" } }),
      );
    default: {
      server.calls.push(`${name} ${JSON.stringify(args)}`);
      const result: Record<string, unknown> = { ...answerCall(name!, args) };
      if (misbehaves("changed")) result["edited"] = true;
      if (misbehaves("echo")) result["you"] = headers.authorization;
      if (misbehaves("long")) result["size"] = 7;
      const said = JSON.stringify(result).replace('"size":7', '"size":98765432109876543210');
      const content = [{ type: "text", text: said }];
      return reply({ content, ...("error" in result ? { isError: true } : {}) });
    }
  }
}
