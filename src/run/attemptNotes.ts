/**
 * Notes of people on attempts: a verdict, tags and a text. They are kept in a file beside that of
 * the attempts, under keys that follow from what was said and called, so that an attempt keeps its
 * note if its file is moved or written again.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists } from "../storage/fileErrors.ts";
import { acquireLock, readLock } from "../storage/fileLock.ts";
import { parseJson } from "../storage/parseJson.ts";
import { readTextFile } from "../storage/textFiles.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";

const notesFormat = "prove/notes@1";

const noteSchema = z.looseObject({
  verdict: z.enum(["good", "bad"]).optional(),
  tags: z.array(z.string()),
  text: z.string(),
});

/** What later versions add stays when a note is changed. */
const notesSchema = z.looseObject({
  format: z.literal(notesFormat),
  notes: z.record(z.string().regex(/^[0-9a-f]{16}$/), noteSchema),
});

export interface AttemptNote {
  readonly verdict?: "good" | "bad" | undefined;
  /** Without duplicates. */
  readonly tags: readonly string[];
  readonly text: string;
}

/** By the keys of the attempts. */
export type AttemptNotes = Readonly<Record<string, AttemptNote>>;

export const emptyNote: AttemptNote = { tags: [], text: "" };

/** The file of the notes on the attempts of a file, or of the folder of a run. */
export const getNotesFile = (path: string): string =>
  /\.(jsonl?|eval|parquet)$/.test(path) ? `${path}.notes.json` : join(path, "notes.json");

/** The key of an attempt: the results of its calls, which a changed server changes, do not count. */
export function getAttemptKey({ header, events }: Trajectory): string {
  const parts = events.map(it =>
    it.kind === "call"
      ? [it.name, it.arguments]
      : it.kind === "user" || it.kind === "assistant"
        ? it.text
        : null,
  );
  const text = JSON.stringify([header.id, header.task, header.policy, parts]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The notes of a file; none if it is missing. Throws a `UserError` if it is damaged. */
export const readNotes = (file: string): AttemptNotes => readNotesFile(file).notes;

function readNotesFile(file: string): z.infer<typeof notesSchema> {
  const text = readIfExists(file, () => readTextFile(file));
  if (text === undefined) return { format: notesFormat, notes: {} };
  return parseJson(notesSchema, text, {
    file,
    noun: "a file of notes on attempts",
    format: notesFormat,
    remedy: "correct the file, or rename it to begin a new one; it is not changed until then",
  });
}

interface NoteChange {
  readonly key: string;
  /** The note as the person saw it. */
  readonly before: AttemptNote;
  readonly after: AttemptNote;
}

/**
 * Writes a changed note, and keeps what others have changed in the file meanwhile. Throws a
 * `UserError` if the file is damaged, which stays as it is.
 */
export async function changeNote(file: string, { key, before, after }: NoteChange): Promise<void> {
  const release = await acquireNotes(file);
  try {
    const content = readNotesFile(file);
    const stored = content.notes[key];
    const note = mergeNotes(before, after, stored ?? emptyNote);
    const isEmpty = note.verdict === undefined && note.tags.length === 0 && note.text === "";
    const { [key]: _, ...others } = content.notes;
    const notes = isEmpty ? others : { ...content.notes, [key]: { ...stored, ...note } };
    writeFileAtomicallySync(file, `${JSON.stringify({ ...content, notes }, undefined, 2)}\n`);
  } finally {
    release();
  }
}

/** What two people have made of a note. Of two texts, both stay. */
export function mergeNotes(
  before: AttemptNote,
  mine: AttemptNote,
  theirs: AttemptNote,
): AttemptNote {
  const removed = new Set(before.tags.filter(it => !mine.tags.includes(it)));
  const tags = [...theirs.tags, ...mine.tags.filter(it => !before.tags.includes(it))];
  return {
    verdict: mine.verdict === before.verdict ? theirs.verdict : mine.verdict,
    tags: [...new Set(tags)].filter(it => !removed.has(it)),
    text: mergeTexts(before.text, mine.text, theirs.text),
  };
}

function mergeTexts(before: string, mine: string, theirs: string): string {
  if (mine === before || mine === theirs) return theirs;
  return theirs === before ? mine : `${theirs}\n${mine}`;
}

/** Another window holds the lock for milliseconds. */
async function acquireNotes(file: string): Promise<() => void> {
  const lock = `${file}.lock`;
  const createConflict = (pid: number) =>
    new UserError(`${file} is being written by the process ${pid}`, "try again");
  for (let n = 1; ; n++) {
    if (n > 40 || !readLock(lock))
      try {
        return acquireLock(lock, { createConflict });
      } catch (error) {
        if (n > 40 || !(error instanceof UserError)) throw error;
      }
    await sleep(25);
  }
}
