/** The attempt of a transcript whose tasks file is written again while it is open. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Uri } from "vscode";
import { indexTasks } from "../../../src/editor/attempts/taskIndex.ts";
import { readAttempt } from "../../../src/editor/attempts/storedAttempt.ts";
import { root } from "../../contracts/transports.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-stored-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = join(folder, "some.tasks.jsonl");
const lines = readFileSync(join(root, "resources/example/prove/tasks/example.tasks.jsonl"), "utf8")
  .split("\n")
  .slice(0, 3);
const write = (...chosen: readonly string[]) =>
  writeFileSync(file, chosen.map(it => `${it}\n`).join(""));

/** The address of the transcript of the file's second task. */
let uri: Uri;
let id: string;
beforeEach(async () => {
  write(...lines);
  const { number, offset, bytes, id: second } = (await indexTasks(file)).entries[1]!;
  id = second;
  const query = JSON.stringify({ kind: "task", file, line: { number, offset, bytes } });
  uri = { path: `/transcripts/some/${id}.transcript`, query } as Uri;
});

const read = () => readAttempt(uri, () => Promise.resolve(undefined));

test("its task is found where it has moved to", async () => {
  expect((await read()).task?.id).toBe(id);
  write(lines[2]!, lines[0]!, lines[1]!);
  expect((await read()).task?.id).toBe(id);
});

test("another task that has taken its place is not shown under its name", async () => {
  write(lines[0]!, lines[2]!);
  await expect(read()).rejects.toThrow(`no longer contains the task ${id}`);
});

test("a deleted file is named", async () => {
  rmSync(file);
  await expect(read()).rejects.toThrow("some.tasks.jsonl");
});
