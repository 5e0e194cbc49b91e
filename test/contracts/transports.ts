/** A session over each transport, with one interface, so that one contract can test them all. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { join } from "node:path";
import { z } from "zod";
import { openSessionByName, openCatalog } from "../../src/environment/catalog.ts";
import { canonicalJson, type Json } from "../../src/environment/json.ts";
import { sessionIdKey } from "../../src/mcp/exposedServer.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";

const servers = await loadServers();

export const root = join(import.meta.dirname, "../..");
export const catalog = openCatalog(servers, [join(root, "resources/servers")]);

/** An outcome as every client sees it: the value as canonical text, or the error. */
export interface Answer {
  ok: boolean;
  text: string;
}

export interface TransportSession {
  call(name: string, args: Json): Promise<Answer>;
  digest(): Promise<string>;
  close(): Promise<void>;
}

export interface Transport {
  name: string;
  /** Opens one more private session. */
  open(fixture: string, seed: number): Promise<TransportSession>;
  close(): Promise<void>;
}

const formatErrorText = (type: string, message: string, hint: string | undefined) =>
  canonicalJson({ error_type: type, message, ...(hint === undefined ? {} : { hint }) });

export const inProcess = (server: string): Transport => ({
  name: "in process",
  async open(fixture, seed) {
    const session = openSessionByName(catalog, { servers: [{ name: server, fixture }], seed });
    return {
      async call(name, args) {
        const { outcome } = session.call(name, args);
        return outcome.kind === "ok"
          ? { ok: true, text: canonicalJson(outcome.value) }
          : { ok: false, text: formatErrorText(outcome.type, outcome.message, outcome.hint) };
      },
      digest: async () => session.digest,
      close: async () => {},
    };
  },
  close: async () => {},
});

async function callOver(
  client: Client,
  name: string,
  args: Json,
  _meta?: Record<string, unknown>,
): Promise<Answer> {
  const result = await client.callTool({
    name,
    arguments: args as Record<string, unknown>,
    ...(_meta ? { _meta } : {}),
  });
  const [first] = result.content as { text: string }[];
  return { ok: !result.isError, text: canonicalJson(JSON.parse(first!.text)) };
}

/** The built program as a child process, driven by the SDK's own client. */
export async function overStdio(server: string): Promise<Transport & { client: Client }> {
  const client = new Client({ name: "contract", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(root, "dist/cli.js"), "stdio", server],
      cwd: root,
      stderr: "inherit",
    }),
  );
  // the client checks results against the published schemas only for tools it has listed
  await client.listTools();
  let opened = 0;
  return {
    name: "stdio",
    client,
    async open(fixture, seed) {
      const _meta = { [sessionIdKey]: `s${opened++}` };
      const ask = <T extends z.ZodType>(method: string, params: object, result: T) =>
        client.request({ method, params: { ...params, _meta } }, result);
      await ask("prove/open", { fixture, seed }, z.object({ digest: z.string() }));
      return {
        call: (name, args) => callOver(client, name, args, _meta),
        digest: async () => (await ask("prove/state", {}, z.object({ digest: z.string() }))).digest,
        close: async () => void (await ask("prove/close", {}, z.object({}))),
      };
    },
    close: () => client.close(),
  };
}

/** One service for all servers' transports. It listens from the first to the last of them. */
let serving: Promise<RunningHttpServer> | undefined;
let transports = 0;

/**
 * The service over real HTTP: sessions by `/v1`, calls by the SDK's own client at the session's
 * address.
 */
export async function overHttp(server: string): Promise<Transport> {
  transports++;
  const { url, mcpPath, close } = await (serving ??= startHttpServer({ catalog }));
  let isListed = false;
  return {
    name: "HTTP",
    async open(fixture, seed) {
      const id = createSessionId();
      const session = `${url}/v1/sessions/${id}`;
      const opened = await fetch(session, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ servers: [server], fixture, seed }),
      });
      if (!opened.ok) throw new Error(await opened.text());
      const client = await clientAt(`${url}${mcpPath(id, server)}`);
      // of one session: the client checks results against the published schemas of what it has
      // listed, and compiling them takes a while
      if (!isListed) await client.listTools();
      isListed = true;
      return {
        call: (name, args) => callOver(client, name, args),
        digest: async () =>
          ((await (await fetch(`${session}/state`)).json()) as { digest: string }).digest,
        async close() {
          await client.close();
          await fetch(session, { method: "DELETE" });
        },
      };
    },
    async close() {
      if (--transports > 0) return;
      serving = undefined;
      await close();
    },
  };
}

/** An ordinary client at an address where a server speaks MCP. */
export async function clientAt(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: "contract", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}
