/** What is found out about a server that says little about itself. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/environment/json.ts";
import { exploreServer, type Exploration } from "../../src/mcp/connected/explore.ts";
import { root } from "../contracts/transports.ts";
import { createNotesWorkspace as create, notes, type NotesWorkspace } from "./notesWorkspace.ts";

function createNotesWorkspace(manner?: string, changes?: object): NotesWorkspace {
  const workspace = create(manner, changes);
  onTestFinished(workspace.remove);
  return workspace;
}

const explore = ({ entry }: NotesWorkspace): Promise<Exploration> =>
  exploreServer(entry, {
    name: "notes",
    now: "2026-03-09T09:00",
    signal: new AbortController().signal,
    onProgress: () => {},
  });

/** Says that a restart resets it. */
const createInMemory = (manner: string) =>
  createNotesWorkspace(manner, {
    args: [join(root, "test/mcp/notesServer.ts"), "${workspaceFolder}/seed", manner],
    reset: { restart: true },
  });

const listWrites = ({ file }: Exploration) =>
  Object.keys(file.tools).filter(it => file.tools[it]!.effect === "write");

const writes = ["notes_add_note", "notes_rename_note", "notes_move_note", "notes_delete_note"];

test("effects, failures, values of Python, things with their names, and what varies", async () => {
  const workspace = createNotesWorkspace("sneaky");
  const explored = await explore(workspace);
  const { tools, ...file } = explored.file;
  expect(file).toMatchObject({
    restore: "files",
    failures: ["^Error"],
    probes: [],
    volatile: ["/results/notes_get_status/time"],
  });
  expect(listWrites(explored)).toEqual(writes);
  expect(explored.remarks).toEqual([
    "notes_add_note is marked as read-only, but a call changed what was observed",
  ]);
  expect(tools["notes_get_note"]).toMatchObject({
    tool: "get_note",
    effect: "read",
    because: "a call changed nothing that was observed",
    inputSchema: { properties: { note_id: { "x-entity": "note" } } },
  });
  expect(tools["notes_list_notes"]!.outputSchema).toMatchObject({
    properties: {
      notes: {
        items: { properties: { id: { "x-entity": "note" }, title: { "x-label": "note" } } },
      },
    },
  });
  // a new note is one, too
  expect(tools["notes_add_note"]!.outputSchema).toMatchObject({
    properties: { id: { "x-entity": "note" } },
  });
  expect(tools["notes_move_note"]!.inputSchema).toMatchObject({
    properties: { folder: { "x-entity": "folder", "x-spoken": true } },
  });
  expect(tools["notes_list_folders"]).toMatchObject({ text: "python" });
  expect(explored.fixtures).toMatchObject([
    { server: "notes", name: "full", state: { files: { "notes.json": notes } } },
  ]);
  // nobody's data
  const seed = readFileSync(join(workspace.folder, "seed/notes.json"), "utf8");
  expect(JSON.parse(seed)).toEqual(notes);
});

test("a server that reads its files once is started again for another state", async () => {
  const { file } = await explore(createNotesWorkspace("caches"));
  expect(file.restore).toBe("restart");
});

test("the state of a server without files is what reads show, and a restart resets it", async () => {
  const explored = await explore(createInMemory("forgets"));
  expect(listWrites(explored)).toEqual(writes);
  expect(explored.file.probes.map(it => it.tool)).toEqual([
    "notes_list_notes",
    "notes_list_folders",
  ]);
  expect(Object.keys(explored.fixtures[0]!.state)).toEqual(["probes"]);
  // it has the time
  expect(explored.remarks).toEqual([
    "notes_get_status is no part of the state: it answers differently in another process",
  ]);
});

test("a restart that resets nothing is noticed", async () => {
  await expect(explore(createInMemory(""))).rejects.toThrow(
    "notes is not reset: a new process shows something else than the first one",
  );
});

test("things in lists of objects: what is deleted together, and what is new", async () => {
  const workspace = createNotesWorkspace("", {
    args: [join(root, "node_modules/@modelcontextprotocol/server-memory/dist/index.js")],
    env: { MEMORY_FILE_PATH: "${sandbox}/memory.jsonl" },
  });
  const lines = [
    { type: "entity", name: "Dana Fox", entityType: "person", observations: ["Tea", "Maps"] },
    { type: "entity", name: "Lee Park", entityType: "person", observations: ["Cello"] },
    { type: "entity", name: "Northwind", entityType: "company", observations: [] },
    { type: "relation", from: "Dana Fox", to: "Northwind", relationType: "works at" },
    { type: "relation", from: "Lee Park", to: "Dana Fox", relationType: "knows" },
  ];
  writeFileSync(
    join(workspace.folder, "seed/memory.jsonl"),
    lines.map(it => JSON.stringify(it)).join("\n"),
  );
  const { file, remarks } = await explore(workspace);
  expect(remarks).toEqual([]);
  const listThings = (tool: string) =>
    JSON.stringify(file.tools[`notes_${tool}`]!.inputSchema).match(/"x-entity":"[^"]+"/g);
  expect(listThings("create_relations")).toEqual(['"x-entity":"entity"', '"x-entity":"entity"']);
  expect(listThings("add_observations")).toEqual(['"x-entity":"entity"']);
  expect(listThings("delete_observations")).toEqual([
    '"x-entity":"entity"',
    '"x-entity":"observation"',
  ]);
  // what is created is not there yet, and is a thing afterwards
  expect(listThings("create_entities")).toBe(null);
  expect(file.tools["notes_create_entities"]!.outputSchema).toMatchObject({
    properties: { entities: { items: { properties: { name: { "x-entity": "entity" } } } } },
  });
});

test("paths that listings and the sandbox show, and new ones, are what tools take", async () => {
  const workspace = createNotesWorkspace("", {
    args: [join(root, "test/mcp/filesServer.ts"), "${sandbox}"],
  });
  for (const it of ["plan.md", "ideas.md", "old/first.md", "old/data.txt"]) {
    mkdirSync(dirname(join(workspace.folder, "seed", it)), { recursive: true });
    writeFileSync(join(workspace.folder, "seed", it), `${it}\nThe end.\n`);
  }
  const { file, remarks } = await explore(workspace);
  expect(remarks).toEqual([]);
  expect(Object.keys(file.tools).filter(it => file.tools[it]!.effect === "write")).toEqual([
    "notes_write_file",
    "notes_move_file",
  ]);
  const getArgument = (tool: string, key: string) =>
    (file.tools[`notes_${tool}`]!.inputSchema["properties"] as JsonObject)[key];
  expect(getArgument("read_file", "path")).toMatchObject({ "x-entity": "file", "x-spoken": true });
  expect(getArgument("move_file", "source")).toMatchObject({ "x-entity": "file" });
  // what no field shows is known to people
  expect(getArgument("list_directory", "path")).toMatchObject({
    "x-entity": "folder",
    examples: ["/sandbox", "/sandbox/old"],
  });
  // nothing is there yet
  for (const it of [
    getArgument("write_file", "path"),
    getArgument("move_file", "destination"),
  ] as JsonObject[]) {
    expect(it["examples"]).toContain("/sandbox/winter-plans.txt");
    expect(it).not.toHaveProperty("x-entity");
  }
  expect(getArgument("get_step", "step_number")).toMatchObject({ examples: [31, 32] });
  // each line is a path
  expect(file.tools["notes_find_files"]).toMatchObject({
    text: "lines",
    outputSchema: { properties: { result: { items: { "x-entity": "file" } } } },
  });
});

test("a git repository is observed without the times and objects that git keeps", async () => {
  const workspace = createNotesWorkspace();
  const folder = join(workspace.folder, "seed/lamp/.git");
  for (const it of ["refs/heads", "objects/ab", "logs"])
    mkdirSync(join(folder, it), { recursive: true });
  const hash = "ab".repeat(20);
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, "refs/heads/main"), `${hash}\n`);
  writeFileSync(join(folder, "packed-refs"), `# pack-refs\n${hash} refs/tags/v1\n`);
  for (const it of ["objects/ab/cd", "logs/HEAD"]) writeFileSync(join(folder, it), "anything");
  const { fixtures } = await explore(workspace);
  expect(fixtures[0]!.state["files"]).toMatchObject({
    "lamp/.git": {
      HEAD: "ref: refs/heads/main",
      refs: { "refs/heads/main": hash, "refs/tags/v1": hash },
    },
  });
  expect(Object.keys(fixtures[0]!.state["files"] as object)).toEqual(["lamp/.git", "notes.json"]);
});
