/**
 * An MCP server that answers as a JSON file says: `pages` are its answers to tools/list, `calls`
 * those to tools/call by the name of the tool, `texts` the same as JSON text, in which REQUEST
 * stands for the line of the request, `initialize` replaces keys of its first answer,
 * `before` is written ahead of everything else, and `refusal` is an error in place of any answer.
 * Its second argument is a file to which it appends the names of the tools that are called.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface Script {
  readonly pages: readonly unknown[];
  readonly calls?: Readonly<Record<string, unknown>>;
  readonly texts?: Readonly<Record<string, string>>;
  readonly initialize?: object;
  readonly before?: string;
  readonly refusal?: string;
}

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly name: string; readonly protocolVersion: string };
}

const [, , scriptFile, log] = process.argv;
const script = JSON.parse(readFileSync(scriptFile!, "utf8")) as Script;
const reply = (id: number, message: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);

process.stdout.write(script.before ?? "");
let listed = 0;
createInterface({ input: process.stdin }).on("line", line => {
  const { id, method, params } = JSON.parse(line) as Request;
  if (id === undefined) return;
  if (script.refusal !== undefined) reply(id, { error: { code: 1, message: script.refusal } });
  else if (method === "initialize")
    reply(id, {
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "listed", version: "0" },
        ...script.initialize,
      },
    });
  // further requests are answered with the last page
  else if (method === "tools/list")
    reply(id, { result: script.pages[Math.min(listed++, script.pages.length - 1)] });
  else {
    if (log !== undefined) appendFileSync(log, `${params.name}\n`);
    const text = script.texts?.[params.name]?.replace("REQUEST", JSON.stringify(line));
    if (text !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${text}}\n`);
    else reply(id, { result: script.calls?.[params.name] ?? { content: [] } });
  }
});
