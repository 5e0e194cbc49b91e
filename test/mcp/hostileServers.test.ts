/**
 * Exploring servers that misbehave: it ends, says what to do, and leaves no process, no folder and
 * no change in the folder that sessions start from.
 */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exploreServer, type Exploration } from "../../src/mcp/connected/explore.ts";
import { root } from "../contracts/transports.ts";
import { isRunning, listChildren } from "../processes.ts";
import { createNotesWorkspace, notes } from "./notesWorkspace.ts";

const start = 300_000;
const generous = { timeouts: { start, call: 300_000 }, tool: 300_000, all: 600_000 };
/** For what never answers. */
const short = { ...generous, timeouts: { start, call: 3000 } };

interface Options {
  readonly entry?: object;
  readonly limits?: typeof generous;
}

/** Explores it, and checks what is left afterwards. */
async function explore(
  manner: string,
  { entry, limits = generous }: Options,
): Promise<Exploration> {
  const workspace = createNotesWorkspace(manner, {
    args: [
      join(root, "test/mcp/notesServer.ts"),
      "${sandbox}",
      manner,
      "${workspaceFolder}/prove/shared",
    ],
    ...entry,
  });
  onTestFinished(workspace.remove);
  const before = listChildren(process.pid);
  try {
    return await exploreServer(workspace.entry, {
      name: "notes",
      now: "2026-03-09T09:00",
      signal: new AbortController().signal,
      onProgress: () => {},
      limits,
    });
  } finally {
    const started = listChildren(process.pid).filter(it => !before.includes(it));
    expect(started.filter(isRunning)).toEqual([]);
    const copies = readdirSync(tmpdir()).filter(
      it => it.startsWith("prove-servers-") && it.includes(`-${process.pid}-`),
    );
    expect(copies.flatMap(it => readdirSync(join(tmpdir(), it)))).toEqual([]);
    const seed = join(workspace.folder, "seed");
    expect(readdirSync(seed)).toEqual(["notes.json"]);
    expect(JSON.parse(readFileSync(join(seed, "notes.json"), "utf8"))).toEqual(notes);
  }
}

/** In memory, from the seed itself, which it does not change. */
const inMemory = (manner: string) => ({
  args: [join(root, "test/mcp/notesServer.ts"), "${workspaceFolder}/seed", manner],
  reset: { restart: true },
});

test.each<[manner: string, remark: RegExp, options?: Options]>([
  ["crashes", /^notes_delete_note broke: notes ended with exit code 3 while it answered/],
  [
    "hangs",
    /^notes_delete_note broke: notes did not answer delete_note within 3 s/,
    { limits: short },
  ],
  [
    "chatters",
    /^notes_delete_note broke: notes did not answer delete_note within/,
    { limits: short },
  ],
  [
    "answers with 50 MB",
    /^notes_delete_note broke: notes wrote a line of more than 10485760 bytes/,
  ],
  [
    "answers with deep JSON",
    /^notes_delete_note broke: the result is nested more than 64 levels deep/,
  ],
  [
    "marks",
    /^notes_peek is no part of the state: it changes what notes_list_notes shows/,
    { entry: inMemory("marks") },
  ],
])(
  "a server that %s: the tool is named and left out, and the others are tried",
  async (manner, remark, options = {}) => {
    const { file, remarks } = await explore(manner, options);
    expect(file.tools["notes_delete_note"] === undefined).toBe(manner !== "marks");
    expect(Object.keys(file.leftOut ?? {})).toEqual(manner === "marks" ? [] : ["delete_note"]);
    expect(remarks).toContainEqual(expect.stringMatching(remark));
    expect(file.tools["notes_move_note"]).toMatchObject({ effect: "write" });
    expect(file.tools["notes_get_note"]).toMatchObject({ effect: "read" });
  },
);

test("what differs between equal calls is left out", async () => {
  const { file, remarks } = await explore("varies", {});
  expect(file.volatile).toEqual([
    "/results/notes_get_status/calls",
    "/results/notes_get_status/time",
  ]);
  expect(remarks).toEqual([
    "notes_notify is marked as a write, but no call changed what was observed: no task can ask for it",
  ]);
});

const impatient = { ...generous, timeouts: { start: 3000, call: 3000 } };
const make = (...code: string[]) => [process.execPath, "-e", code.join("; "), "${sandbox}"];

test.each<[manner: string, what: RegExp, remedy: RegExp, options?: Options]>([
  ["exits", /^notes ended with exit code 7$/, /correct entry notes of prove\/mcp.json/],
  [
    "needs a key",
    /^notes ended with exit code 1 \(it said: .*set NOTES_KEY to your key/,
    /correct entry notes/,
  ],
  [
    "is mute",
    /^notes did not answer within 3 s of its start/,
    /check that entry notes/,
    { limits: impatient },
  ],
  [
    "greets for ever",
    /^notes did not answer within 3 s of its start \(it wrote to stdout: still here\)/,
    /check that entry notes/,
    { limits: impatient },
  ],
  [
    "shrinks",
    /^notes no longer has the tool delete_note$/,
    /lists other tools at each start cannot be used/,
  ],
  [
    "has a reset that fails",
    /failed: .*no room/,
    /correct reset in entry notes/,
    {
      entry: {
        reset: { command: make("console.error('no room')", "process.exit(1)"), remove: make("") },
      },
    },
  ],
])(
  "a server that %s is an error that says what to do",
  async (manner, what, remedy, options = {}) => {
    await expect(explore(manner, options)).rejects.toMatchObject({
      name: "UserError",
      what: expect.stringMatching(what),
      remedy: expect.stringMatching(remedy),
    });
  },
);

test("what a reset cannot remove is said", async () => {
  const copy = `fs.cpSync("seed", process.argv[1], { recursive: true })`;
  const entry = {
    args: [join(root, "test/mcp/notesServer.ts"), "${workspaceFolder}/made/${sandbox}"],
    reset: {
      command: [process.execPath, "-e", copy, "${workspaceFolder}/made/${sandbox}"],
      remove: make("console.error('in use')", "process.exit(1)"),
    },
  };
  await expect(explore("", { entry })).rejects.toMatchObject({
    what: expect.stringMatching(/failed: in use/),
    remedy: "correct reset in entry notes of prove/mcp.json",
  });
});

test("exploring ends, however long calls take", async () => {
  const limits = { timeouts: { start, call: 1 }, tool: 300_000, all: 1 };
  const { file, remarks } = await explore("", { limits });
  expect(remarks).toContainEqual(
    expect.stringMatching(
      /^not tried, or not to the end, because exploring takes at most 0.001 s: notes_.*complete in the file what they do$/,
    ),
  );
  expect(file.tools["notes_delete_note"]).toMatchObject({ effect: "write" });
});
