/** What the editor says about the description of a server beyond its schema. */
import { expect, test } from "vitest";
import { serverFileFormat, serverFileSchema } from "../../src/mcp/connected/serverFile.ts";
import { findServerFileProblems } from "../../src/mcp/connected/serverFileProblems.ts";

const id = { type: "string", "x-entity": "note" };
const tool = (name: string, effect: "read" | "write", input: object, output: object) => ({
  tool: name,
  effect,
  summary: name,
  inputSchema: { type: "object", properties: input },
  outputSchema: { type: "object", properties: output },
});
const createFile = (changes: object) =>
  serverFileSchema.parse({
    format: serverFileFormat,
    server: "notes",
    entry: "notes",
    summary: "notes",
    now: "2026-03-09T09:00",
    restore: "files",
    tools: {
      notes_list: tool(
        "list",
        "read",
        {},
        { notes: { type: "array", items: { properties: { id } } } },
      ),
      notes_add: tool("add", "write", { folder: id }, { id }),
    },
    failures: [],
    probes: [{ tool: "notes_list", arguments: {} }],
    volatile: ["/files/server.log", "/results/notes_add/*", "/results/*/time"],
    ...changes,
  });

test("a description that fits has no problems", () =>
  expect(findServerFileProblems(createFile({}))).toEqual([]));

test("probes that write or do not exist, pointers that lead nowhere and unknown kinds are named", () => {
  const file = createFile({
    probes: [
      { tool: "notes_add", arguments: {} },
      { tool: "notes_lst", arguments: {} },
    ],
    volatile: ["/file/server.log", "/results/notes_lst/time"],
    tools: {
      notes_add: tool("add", "write", { folder: { type: "string", "x-entity": "folder" } }, { id }),
    },
  });
  expect(findServerFileProblems(file).map(it => `${it.path.join(".")}: ${it.message}`)).toEqual([
    "probes.0.tool: notes_add is a write, and looking at the state must not change it",
    "probes.1.tool: there is no tool notes_lst",
    "volatile.0: it leads nowhere: a pointer begins with /files/ or /probes/ or /results/",
    "volatile.1: there is no tool notes_lst",
    'tools.notes_add.inputSchema.properties.folder.x-entity: no result of a tool has the id of a "folder": correct the kind, or write it as x-entity into an outputSchema',
  ]);
});
