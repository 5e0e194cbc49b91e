/**
 * An MCP server that misbehaves: each tool in a different way, and at its start as its first
 * argument says. It writes messages by hand, because the SDK would not let it break the protocol.
 */
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , manner = "", file = ""] = process.argv;
const say = (message: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (it: string, more: object = {}) => ({
  content: [{ type: "text", text: it }],
  ...more,
});

const nest = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

if (manner === "stubborn") process.on("SIGTERM", () => {});
if (manner === "dies") {
  process.stderr.write("no licence found\n");
  process.exit(7);
}
if (manner === "parent") {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  appendFileSync(file, `${process.pid}\n${child.pid}\n`);
}
if (manner === "escapes") {
  // in a session of its own, and so is the process that it starts
  const sleeping = "setInterval(() => {}, 1000)";
  const program = `
    const child = require("node:child_process").spawn(process.execPath, ["-e", "${sleeping}"], { detached: true, stdio: "ignore" });
    require("node:fs").appendFileSync(process.argv[1], child.pid + "\\n");
    ${sleeping}`;
  const child = spawn(process.execPath, ["-e", program, file], { detached: true, stdio: "ignore" });
  appendFileSync(file, `${process.pid}\n${child.pid}\n`);
  while (readFileSync(file, "utf8").trim().split("\n").length < 3);
}
process.stdout.write('welcome to the rude server\n{"not": "a message"}\n');

let counted = 0;
let listCount = 0;
const tools: Record<string, (id: number, args: Record<string, unknown>) => void> = {
  count: id =>
    say({ id, result: text(JSON.stringify({ n: ++counted, of: process.pid === 0 ? 0 : 1 })) }),
  pid: id => say({ id, result: text(String(process.pid)) }),
  hang: () => {},
  crash: () => process.exit(3),
  fail: id => say({ id, result: text("the moon is in the wrong house", { isError: true }) }),
  shrug: id => say({ id, result: text('{"success": false, "message": "not today"}') }),
  mutter: id => say({ id, result: text('{"error": "no such planet", "code": 4}') }),
  calm: id => say({ id, result: text('{"success": true, "error": null, "errors": []}') }),
  protest: id => say({ id, error: { code: -32602, message: "x must be even" } }),
  dive: id =>
    process.stdout.write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${nest(50_000)}}}\n`,
    ),
  nonsense: id => say({ id, result: { smell: "roses" } }),
  sink: id => say({ id, result: text(nest(50_000)) }),
  flood: () => process.stdout.write("x".repeat(11 * 1024 * 1024)),
};
const listed = Object.keys(tools).map(name => ({
  name,
  inputSchema: { type: "object" as const, properties: { x: { type: "number" } }, required: [] },
  annotations: { readOnlyHint: true },
}));
const silent = { name: "silent_about_itself", inputSchema: { type: "object" } };

createInterface({ input: process.stdin }).on("line", line => {
  const { id, method, params } = JSON.parse(line) as {
    id?: number;
    method: string;
    params: { name: string; arguments: Record<string, unknown>; protocolVersion: string };
  };
  if (id === undefined) return;
  if (method === "initialize") {
    if (manner !== "mute")
      say({
        id,
        result: {
          protocolVersion: manner === "ancient" ? "1999-01-01" : params.protocolVersion,
          capabilities: manner === "empty" ? {} : { tools: {} },
          serverInfo: { name: "rude", version: "0" },
        },
      });
  } else if (method === "tools/list") {
    say({
      id,
      result:
        manner === "endless"
          ? { tools: [{ ...silent, name: `t${++listCount}` }], nextCursor: `page ${listCount}` }
          : { tools: [...listed, ...listed, silent] },
    });
  } else if (method === "tools/call") tools[params.name]!(id, params.arguments);
});
// it does not end when its stdin does
setInterval(() => {}, 1000);
