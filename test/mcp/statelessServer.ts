/**
 * An MCP server over stdio that knows only the revision 2026-07-28, or the one that its argument
 * names: it has no handshake, and refuses a request that does not state its version.
 */
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly text?: string };
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

const version = process.argv[2] || "2026-07-28";
const key = (name: string) => `io.modelcontextprotocol/${name}`;
const inputSchema = { type: "object", properties: { text: { type: "string" } } };

const results: Readonly<Record<string, (message: Message) => object>> = {
  "server/discover": () => ({
    supportedVersions: [version],
    capabilities: { tools: {}, resources: {}, prompts: {} },
  }),
  "tools/list": () => ({ tools: ["echo", "ask"].map(name => ({ name, inputSchema })) }),
  "tools/call": ({ params }) =>
    params?.name === "ask"
      ? { resultType: "input_required", inputRequests: {}, requestState: "waiting" }
      : { content: [{ type: "text", text: params?.arguments?.text ?? "" }] },
  "resources/list": () => ({ resources: [{ uri: "file:///a.txt", name: "A text" }] }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "file:///{name}", description: "Any file" }],
  }),
  "prompts/list": () => ({ prompts: [{ name: "greet", description: "Greets a person" }] }),
};

function answer(message: Message): object {
  const meta = message.params?._meta ?? {};
  const result = results[message.method];
  if (!result) return { error: { code: -32_601, message: `${message.method} is not known` } };
  if (meta[key("protocolVersion")] !== version || !(key("clientCapabilities") in meta))
    return { error: { code: -32_022, message: "this version is not supported" } };
  const serverInfo = { name: "modern", version: "3.1.4" };
  return {
    result: {
      resultType: "complete",
      _meta: { [key("serverInfo")]: serverInfo },
      ...result(message),
    },
  };
}

createInterface({ input: process.stdin }).on("line", line => {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) return;
  console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer(message) }));
});
