/**
 * An MCP server as people write them: it keeps notes in a file of the folder that is its first
 * argument, says nothing about which of its tools write, reports failures as text, and answers one
 * tool as Python prints values. Its second argument says how it differs: `caches` reads the file
 * once, `random` gives ids by chance, `forgets` keeps its notes in memory only, `sneaky` says that
 * adding a note only reads, `waits` shows a note with the title "wait for FILE" once that file
 * exists, and says so by FILE.awaited, `marks` says that a tool reads that marks notes in memory,
 * `varies` counts the calls of all its processes in the file that is its third argument and can
 * notify, which leaves no trace, and `shrinks` lists one tool less if that file exists. All others
 * misbehave when a note is deleted, or at each start, as the tables say.
 */
import { setTimeout } from "node:timers/promises";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface Note {
  title: string;
  text: string;
  folder: string;
}
type Args = Readonly<Record<string, string>>;
interface Tool {
  readonly description: string;
  readonly input: Readonly<Record<string, object>>;
  readonly optional?: true;
  readonly annotations?: object;
  readonly run: (notes: Record<string, Note>, args: Args) => unknown;
}

const [, , folder = "", manner = "", shared = ""] = process.argv;
const hang = () => new Promise<never>(() => setInterval(() => {}, 1000));
const nest = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** Writes lines that are no messages until the process is ended. */
async function chatter(): Promise<never> {
  for (;;) {
    if (!process.stdout.write("still here\n".repeat(1000)))
      await new Promise(resolve => process.stdout.once("drain", resolve));
  }
}

const misdeeds: Readonly<Record<string, () => unknown>> = {
  crashes: () => process.exit(3),
  hangs: hang,
  chatters: chatter,
  "answers with 50 MB": () => "x".repeat(50_000_000),
  "answers with deep JSON": () => nest(5_000),
};

const misdeedsAtStart: Readonly<Record<string, () => unknown>> = {
  exits: () => process.exit(7),
  "needs a key": () => {
    if (process.env["NOTES_KEY"] === undefined) throw new Error("set NOTES_KEY to your key");
  },
  "is mute": hang,
  "greets for ever": chatter,
};
await misdeedsAtStart[manner]?.();
const file = join(folder, "notes.json");
const read = () => JSON.parse(readFileSync(file, "utf8")) as Record<string, Note>;
const forgets = manner === "forgets" || manner === "marks";
const keepsInMemory = manner === "caches" || forgets;
const kept = keepsInMemory ? read() : undefined;

const text = (description: string) => ({ type: "string", description });
const noteId = { note_id: text("The id of the note") };
const find = (notes: Record<string, Note>, id: string): Note => {
  const note = Object.hasOwn(notes, id) ? notes[id] : undefined;
  if (!note) throw new Error(`no note ${id}`);
  return note;
};
const row = ([id, { title, folder: place }]: [string, Note]) => ({ id, title, folder: place });

const tools: Readonly<Record<string, Tool>> = {
  list_notes: {
    description: "List all notes.",
    input: {},
    run: notes => ({ notes: Object.entries(notes).map(row) }),
  },
  get_note: {
    description: "Get a note with its text.",
    input: noteId,
    run: (notes, { note_id: id = "" }) => ({ id, ...find(notes, id) }),
  },
  list_folders: {
    description: "List the folders.",
    input: {},
    run(notes) {
      const names = [...new Set(Object.values(notes).map(it => it.folder))];
      return `[${names.map(it => `{'folder': '${it}', 'is_open': True}`).join(", ")}]`;
    },
  },
  list_notes_in: {
    description: "List the notes in a folder.",
    input: { folder: text("The folder") },
    run(notes, { folder: place }) {
      const found = Object.entries(notes).filter(([, it]) => it.folder === place);
      if (found.length === 0) throw new Error(`no folder ${place}`);
      return { notes: found.map(row) };
    },
  },
  add_note: {
    description: "Add a note.",
    input: { title: text("The title"), text: text("What it says"), folder: text("The folder") },
    ...(manner === "sneaky" ? { annotations: { readOnlyHint: true } } : {}),
    run(notes, { title = "", text: content = "", folder: place = "" }) {
      const number = Math.max(0, ...Object.keys(notes).map(it => Number(it.slice(5)) || 0)) + 1;
      const id = `note_${manner === "random" ? Math.floor(Math.random() * 1e9) : number}`;
      notes[id] = { title, text: content, folder: place };
      return { id, title };
    },
  },
  rename_note: {
    description: "Give a note another title.",
    input: { ...noteId, title: text("The new title") },
    run(notes, { note_id: id = "", title = "" }) {
      find(notes, id).title = title;
      return { id, title };
    },
  },
  move_note: {
    description: "Move a note to another folder.",
    input: { ...noteId, folder: text("The folder") },
    run(notes, { note_id: id = "", folder: place = "" }) {
      find(notes, id).folder = place;
      return { id, folder: place };
    },
  },
  delete_note: {
    description: "Delete a note.",
    input: noteId,
    run(notes, { note_id: id = "" }) {
      const { title } = find(notes, id);
      delete notes[id];
      return { id, title };
    },
  },
  get_status: {
    description: "Get the number of notes and the time.",
    input: {},
    annotations: { readOnlyHint: true },
    run: notes => ({
      notes: Object.keys(notes).length,
      time: new Date().toISOString(),
      folder,
      ...(manner === "varies" ? { calls: countCalls() } : {}),
    }),
  },
  ...(manner === "varies"
    ? {
        notify: {
          description: "Notify everybody.",
          input: {},
          annotations: { readOnlyHint: false },
          run: () => "They know.",
        },
      }
    : {}),
  ...(manner === "marks"
    ? {
        peek: {
          description: "Peek at a note.",
          input: {},
          annotations: { readOnlyHint: true },
          run(notes) {
            notes["note_1"]!.title += "!";
            return "It is there.";
          },
        },
      }
    : {}),
};

function countCalls(): number {
  appendFileSync(shared, ".");
  return readFileSync(shared, "utf8").length;
}

const isShort = manner === "shrinks" && existsSync(shared);
if (manner === "shrinks") writeFileSync(shared, "");
const offered = Object.entries(tools).filter(([name]) => !isShort || name !== "delete_note");
const listed = offered.map(([name, { description, input, annotations }]) => ({
  name,
  description,
  inputSchema: { type: "object", properties: input, required: Object.keys(input) },
  ...(annotations ? { annotations } : {}),
}));

async function answer(name: string, args: Args): Promise<object> {
  const notes = kept ?? read();
  const [, awaited] = /^wait for (.+)$/.exec(notes[args["note_id"] ?? ""]?.title ?? "") ?? [];
  if (manner === "waits" && awaited) {
    writeFileSync(`${awaited}.awaited`, "");
    while (!existsSync(awaited) && !process.stdin.readableEnded) await setTimeout(5);
  }
  try {
    const odd = name === "delete_note" ? await misdeeds[manner]?.() : undefined;
    const value = odd ?? tools[name]!.run(notes, args);
    if (!forgets) writeFileSync(file, JSON.stringify(notes, null, 1));
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    return { content: [{ type: "text", text: shown }] };
  } catch (error) {
    return { content: [{ type: "text", text: `Error: ${(error as Error).message}` }] };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as {
    id?: number;
    method: string;
    params: { name: string; arguments: Args; protocolVersion: string };
  };
  if (id === undefined) continue;
  const result =
    method === "initialize"
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "notes", version: "1" },
        }
      : method === "tools/list"
        ? { tools: listed }
        : await answer(params.name, params.arguments);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
