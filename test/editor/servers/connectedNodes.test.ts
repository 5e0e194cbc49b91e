/**
 * The rows of third-party servers in the Servers view. A fake of the VS Code API stands in for the
 * editor; the servers are started as the editor starts them.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { connectServer } from "../../../src/mcp/connectedSession.ts";
import { parseServerEntries } from "../../../src/mcp/mcpConfig.ts";
import { createVscode } from "../fakeVscode.ts";

vi.mock("vscode", () => createVscode());

const { createConnectedItem, getConnectedNodeId, listConnectedChildren, listConnections } =
  await import("../../../src/editor/servers/connectedNodes.ts");
type Connections = Parameters<typeof listConnections>[0];

test("good servers, faulty entries and tools that are left out have rows of their own", async () => {
  const folder = mkdtempSync(join(tmpdir(), "prove-nodes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "prove"));
  writeFileSync(
    join(folder, "script.json"),
    JSON.stringify({
      pages: [
        {
          tools: [
            { name: "look", inputSchema: { properties: { id: true } }, annotations: null },
            { name: "odd", inputSchema: { type: "string" } },
          ],
        },
      ],
    }),
  );
  const listed = {
    command: process.execPath,
    args: [
      join(import.meta.dirname, "../../mcp/listedServer.ts"),
      "${workspaceFolder}/script.json",
    ],
    timeout: 9,
  };
  const text = `{
    // what I use
    "servers": {
      "a/b": ${JSON.stringify(listed)},
      "remote": { "url": "ftp://example.com" },
      "typo": { "comand": "node" },
      "off": { "disabled": true },
    },
  }`;
  const entries = parseServerEntries(text, "prove/mcp.json", folder);
  const session = await connectServer(entries.entries.get("a/b")!, new AbortController().signal);
  onTestFinished(() => session.close());
  const connections = {
    readEntries: () => entries,
    listByEntry: () => [],
    listTools: () => ({ tools: [...session.tools.values()], omitted: session.omittedTools }),
  } as unknown as Connections;

  const nodes = listConnections(connections);
  const rows = nodes.map(it => createConnectedItem(it));
  expect(rows.map(it => [it.label, it.description])).toEqual([
    ["a/b", "mcp.json · read-only"],
    ["remote", expect.stringContaining("prove/mcp.json:5, server remote: url is not an address")],
    ["typo", expect.stringContaining("server typo: the key comand is not known")],
  ]);
  expect(rows[0]!.tooltip).toContain("Keys without an effect here: timeout.");

  const [list] = listConnectedChildren(nodes[0]!, connections);
  expect(createConnectedItem(list!).description).toBe("1 · 1 left out");
  const tools = listConnectedChildren(list!, connections);
  expect(tools.map(it => createConnectedItem(it)).map(it => [it.label, it.description])).toEqual([
    ["look", "(id)"],
    ["odd", "its arguments are of type string, not object"],
  ]);
  const ids = [...nodes, list!, ...tools].map(getConnectedNodeId);
  expect(new Set(ids).size).toBe(ids.length);
});

test("names with a slash do not give two rows one id", () => {
  const createTool = (entry: string, name: string) =>
    getConnectedNodeId({
      kind: "connectedTool",
      entry: { name: entry },
      tool: { name },
    } as Parameters<typeof getConnectedNodeId>[0]);
  expect(createTool("a/b", "c")).not.toBe(createTool("a", "b/c"));
});
