/**
 * The client that the conformance suite starts, with the address of its server as last argument:
 * lists the tools, and makes the calls that the suite asks for.
 */
import { ServerConnection } from "../../src/mcp/serverConnection.ts";

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
}

const { toolCalls } = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
const entry = {
  name: "conformance",
  url: process.argv.at(-1)!,
  headers: {},
  isDisposable: true,
  errorKeys: [],
  ignoredKeys: [],
};
const { signal } = new AbortController();
const connection = await ServerConnection.open(entry, signal, { start: 60_000, call: 60_000 });
const examples: Readonly<Record<string, unknown>> = { boolean: true, integer: 2, number: 2 };
const calls =
  toolCalls ??
  Array.from(connection.list.tools.values(), ({ name, inputSchema }) => {
    const properties = (inputSchema["properties"] ?? {}) as Record<string, { type?: string }>;
    const args = Object.entries(properties).map(([key, it]) => [key, examples[it.type!] ?? "text"]);
    return { name, arguments: Object.fromEntries(args) as object };
  });
for (const { name, arguments: args } of calls) await connection.call(name, JSON.stringify(args));
await connection.close();
