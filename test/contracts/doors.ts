/** The ways to a server's session, behind one shape, so that one contract holds for each. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { join } from "node:path";
import { z } from "zod";
import { openByName, openCatalog } from "../../src/environment/catalog.ts";
import { canonical, type Json } from "../../src/environment/json.ts";
import { sessionKey } from "../../src/mcp/expose.ts";
import { servers } from "../../src/servers/catalog.ts";

export const root = join(import.meta.dirname, "../..");
export const catalog = openCatalog(servers, [join(root, "resources/fixtures")]);

/** An answer as any client can see it: the value's canonical text, or the error's type and words. */
export interface Answer {
  ok: boolean;
  text: string;
}

export interface Opened {
  call(name: string, args: Json): Promise<Answer>;
  digest(): Promise<string>;
  close(): Promise<void>;
}

export interface Door {
  name: string;
  /** Opens one more private session. */
  open(fixture: string, seed: number): Promise<Opened>;
  shut(): Promise<void>;
}

const errorText = (type: string, message: string, hint: string | undefined) => canonical({ error_type: type, message, ...(hint === undefined ? {} : { hint }) });

export const inProcess = (server: string): Door => ({
  name: "in process",
  async open(fixture, seed) {
    const session = openByName(catalog, { servers: [{ name: server, fixture }], seed });
    return {
      async call(name, args) {
        const { outcome } = session.call(name, args);
        return outcome.kind === "ok" ? { ok: true, text: canonical(outcome.value) } : { ok: false, text: errorText(outcome.type, outcome.message, outcome.hint) };
      },
      digest: async () => session.digest,
      close: async () => {},
    };
  },
  shut: async () => {},
});

/** The built program as a child process, driven by the SDK's own client. */
export async function overStdio(server: string): Promise<Door & { client: Client }> {
  const client = new Client({ name: "contract", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [join(root, "dist/cli.js"), "stdio", server], cwd: root, stderr: "inherit" }));
  // the client checks results against the published schemas only for tools it has listed
  await client.listTools();
  let opened = 0;
  return {
    name: "stdio",
    client,
    async open(fixture, seed) {
      const _meta = { [sessionKey]: `s${opened++}` };
      const ask = <T extends z.ZodType>(method: string, params: object, result: T) => client.request({ method, params: { ...params, _meta } }, result);
      await ask("prove/open", { fixture, seed }, z.object({ digest: z.string() }));
      return {
        async call(name, args) {
          const result = await client.callTool({ name, arguments: args as Record<string, unknown>, _meta });
          const [first] = result.content as { text: string }[];
          return { ok: !result.isError, text: canonical(JSON.parse(first!.text)) };
        },
        digest: async () => (await ask("prove/state", {}, z.object({ digest: z.string() }))).digest,
        close: async () => void (await ask("prove/close", {}, z.object({}))),
      };
    },
    shut: () => client.close(),
  };
}
