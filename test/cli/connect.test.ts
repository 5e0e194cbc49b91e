/** `tools --connect` and `call --connect` on a third-party server. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call } from "../../src/cli/call.ts";
import { tools } from "../../src/cli/tools.ts";
import { root } from "../contracts/transports.ts";
import { runCommand } from "./terminal.ts";

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "prove-cli-connect-"));
  mkdirSync(join(cwd, "prove"));
  const entry = {
    command: process.execPath,
    args: [join(root, "node_modules/@modelcontextprotocol/server-memory/dist/index.js")],
    env: { MEMORY_FILE_PATH: "${workspaceFolder}/memory.jsonl" },
  };
  writeFileSync(
    join(cwd, "prove/mcp.json"),
    JSON.stringify({ servers: { memory: entry, play: { ...entry, disposable: true } } }),
  );
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test("tools --connect lists the tools of the server and notes what it starts", async () => {
  const { code, out, notes } = await runCommand(tools, ["--connect", "memory"], { cwd });
  expect(code).toBe(0);
  expect(out.slice(0, 2)).toEqual([
    "create_entities(entities)  write",
    "    Create multiple new entities in the knowledge graph",
  ]);
  expect(notes).toEqual([
    expect.stringMatching(/^starting .*server-memory.* in .*prove-cli-connect/),
  ]);
});

test("tools --connect --json gives function schemas", async () => {
  const { out } = await runCommand(tools, ["--connect", "memory", "--json"], { cwd });
  const functions = JSON.parse(out.join("\n")) as { function: { name: string } }[];
  expect(functions).toHaveLength(9);
  expect(functions[6]).toMatchObject({
    type: "function",
    function: { name: "read_graph", parameters: { type: "object" } },
    effect: "read",
  });
});

test("what a server lists but cannot offer, and keys without an effect, are noted", async () => {
  writeFileSync(
    join(cwd, "script.json"),
    JSON.stringify({
      pages: [
        {
          tools: [
            { name: "look", description: null, annotations: { readOnlyHint: true } },
            { name: "odd\nname", inputSchema: { type: "string" } },
          ],
        },
      ],
    }),
  );
  const odd = {
    command: process.execPath,
    args: [join(root, "test/mcp/listedServer.ts"), "${workspaceFolder}/script.json"],
    timeout: 60,
  };
  const file = join(cwd, "prove/mcp.json");
  const before = readFileSync(file, "utf8");
  writeFileSync(file, JSON.stringify({ servers: { "io.example/odd": odd } }));
  try {
    const args = ["--connect", "io.example/odd"];
    const { out, notes } = await runCommand(tools, args, { cwd });
    expect(out).toEqual(["look()  read", "    look"].map(it => expect.stringContaining(it.trim())));
    expect(notes[0]).toContain("keys of its entry without an effect here: timeout");
    expect(notes[1]).toBe(
      "not all that io.example/odd lists can be offered:\n  odd␊name cannot be offered: its arguments are of type string, not object",
    );
  } finally {
    writeFileSync(file, before);
  }
});

describe("call --connect", () => {
  const ana = JSON.stringify({
    entities: [{ name: "Ana", entityType: "person", observations: [] }],
  });
  const cases: [what: string, args: string[], code: number, text: RegExp][] = [
    ["a read", ["read_graph", "{}", "--connect", "memory"], 0, /^ok \{/],
    [
      "a write on a server without a reset",
      ["create_entities", ana, "--connect", "memory"],
      1,
      /^refused \(permission_denied\): create_entities is not marked as read-only.*\n {2}hint: add a reset to its entry/,
    ],
    [
      "a write on a disposable server",
      ["create_entities", ana, "--connect", "play", "--trust-server", "--json"],
      0,
      /"kind": "ok"/,
    ],
    ["an unknown tool", ["fly", "{}", "--connect", "memory"], 1, /^unknown-tool/],
  ];
  test.each(cases)("%s", async (_, args, expected, text) => {
    const { code, out } = await runCommand(call, args, { cwd });
    expect(out.join("\n")).toMatch(text);
    expect(code).toBe(expected);
  });

  test("a name that mcp.json does not have is refused with a list of its names", async () => {
    await expect(
      runCommand(call, ["read_graph", "{}", "--connect", "nope"], { cwd }),
    ).rejects.toThrow(/has no server nope: choose one of memory, play/);
  });
});
