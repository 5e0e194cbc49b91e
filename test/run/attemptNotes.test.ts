/** Notes on attempts: what is stored, what two windows make of one, and damaged files. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  changeNote,
  emptyNote,
  getAttemptKey,
  getNotesFile,
  mergeNotes,
  readNotes,
  type AttemptNote,
} from "../../src/run/attemptNotes.ts";
import { moveFifty, readOnly } from "../trajectory/sampleTasks.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-notes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => getNotesFile(join(folder, name));

const [fifty, read] = (await Promise.all([moveFifty(), readOnly()])).map(it => it.trajectory);
const key = getAttemptKey(fifty!);
const slow: AttemptNote = { verdict: "bad", tags: ["slow"], text: "asks twice" };

test("a note is kept beside the file of its attempt, or in the folder of its run", () => {
  expect(getNotesFile("/w/a.trajectory.jsonl")).toBe("/w/a.trajectory.jsonl.notes.json");
  expect(getNotesFile("/w/runs/first.1")).toBe("/w/runs/first.1/notes.json");
});

test("an attempt is known by what was said and called, not by what was returned", () => {
  const events = fifty!.events.map(it =>
    it.kind === "call" ? { ...it, outcome: { kind: "refused" as const, message: "no" } } : it,
  );
  expect(getAttemptKey({ ...fifty!, events })).toBe(key);
  expect(getAttemptKey({ ...fifty!, events: events.slice(1) })).not.toBe(key);
  expect(getAttemptKey(read!)).not.toBe(key);
});

test("a note is read again as it was written, and an empty one is removed", async () => {
  const file = at("one.trajectory.jsonl");
  expect(readNotes(file)).toEqual({});
  await changeNote(file, { key, before: emptyNote, after: slow });
  expect(readNotes(file)).toEqual({ [key]: slow });
  await changeNote(file, { key, before: slow, after: emptyNote });
  expect(readNotes(file)).toEqual({});
  expect(readdirSync(folder)).not.toContain("one.trajectory.jsonl.notes.json.lock");
});

test("windows that change notes at the same time keep all of them", async () => {
  const file = at("many.trajectory.jsonl");
  const keys = Array.from({ length: 20 }, (_, i) => i.toString(16).padStart(16, "0"));
  await Promise.all(keys.map(it => changeNote(file, { key: it, before: emptyNote, after: slow })));
  expect(Object.keys(readNotes(file)).toSorted()).toEqual(keys);
});

test("two windows that change one note keep the tags and the texts of both", () => {
  const before = { verdict: "bad", tags: ["slow", "old"], text: "asks twice" } as const;
  const mine = { verdict: "good", tags: ["slow", "mine"], text: "asks once" } as const;
  const theirs = { verdict: "bad", tags: ["slow", "old", "theirs"], text: "asks" } as const;
  expect(mergeNotes(before, mine, theirs)).toEqual({
    verdict: "good",
    tags: ["slow", "theirs", "mine"],
    text: "asks\nasks once",
  });
  expect(mergeNotes(before, before, theirs)).toEqual(theirs);
  expect(mergeNotes(before, mine, before)).toEqual(mine);
});

test("a damaged file is reported and never overwritten", async () => {
  const file = at("damaged.trajectory.jsonl");
  for (const text of ["{", "[]", '{"format":"prove/notes@9","notes":{}}']) {
    writeFileSync(file, text);
    expect(() => readNotes(file)).toThrow("damaged.trajectory.jsonl.notes.json");
    const change = changeNote(file, { key, before: emptyNote, after: slow });
    await expect(change).rejects.toThrow("damaged.trajectory.jsonl.notes.json");
    expect(readFileSync(file, "utf8")).toBe(text);
  }
});

test("what a later version has added stays", async () => {
  const file = at("later.trajectory.jsonl");
  const added = { author: "Ana" };
  const notes = { [key]: { ...slow, ...added } };
  writeFileSync(file, JSON.stringify({ format: "prove/notes@1", notes, ...added }));
  await changeNote(file, { key, before: slow, after: { ...slow, text: "" } });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    format: "prove/notes@1",
    notes: { [key]: { ...slow, text: "", ...added } },
    ...added,
  });
});
