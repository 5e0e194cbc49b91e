/** The list of unfinished syntheses, which all windows on the same workspace share. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SynthesisChoices } from "../../../src/editor/synthesis/synthesisPrompts.ts";
import { acquireLock } from "../../../src/storage/fileLock.ts";
import { UserError } from "../../../src/userError.ts";
import { createVscode } from "../fakeVscode.ts";

const editor = vi.hoisted(() => ({ messages: [] as string[] }));
vi.mock("vscode", () => ({
  ...createVscode(),
  window: {
    createOutputChannel: () => ({ warn() {}, error() {} }),
    showErrorMessage: async (message: string) => void editor.messages.push(message),
  },
}));
const { UnfinishedSyntheses } =
  await import("../../../src/editor/synthesis/unfinishedSyntheses.ts");

const choices: SynthesisChoices = {
  servers: ["banking"],
  teacher: { kind: "endpoint", url: "http://127.0.0.1:8000/v1", model: "large" },
  count: 300,
  seed: 7,
};
const graphChoices: SynthesisChoices = {
  ...choices,
  servers: [],
  teacher: { kind: "graph" },
  preset: "paper",
};

let root = "";
const storedFile = () => join(root, "shared/syntheses.json");
const openWindow = () => new UnfinishedSyntheses(storedFile());
const getFile = (name: string) => join(root, `${name}.tasks.jsonl`);

/** A synthesis that is begun and writes its first tasks. */
function begin(window: ReturnType<typeof openWindow>, name: string, its = choices): void {
  window.begin({ file: getFile(name), choices: its });
  writeFileSync(getFile(name), "");
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "prove-unfinished-"));
  editor.messages = [];
});
afterEach(() => rmSync(root, { recursive: true }));

test("two windows keep each other's unfinished syntheses", () => {
  const [one, other] = [openWindow(), openWindow()];
  expect(one.listResumable()).toEqual([]);
  one.begin({ file: getFile("first"), choices });
  // before its first task is written, and in another process, as windows are
  const text = readFileSync(storedFile(), "utf8");
  writeFileSync(storedFile(), text.replace(`"pid":${process.pid}`, `"pid":${process.ppid}`));
  begin(other, "second", graphChoices);
  writeFileSync(getFile("first"), "");
  one.end(getFile("first"));
  other.end(getFile("second"));
  const both = [
    { file: getFile("first"), choices },
    { file: getFile("second"), choices: graphChoices },
  ];
  for (const it of [one, other, openWindow()]) expect(it.listResumable()).toEqual(both);
  // finished in the other window
  other.begin(both[0]!);
  other.remove(getFile("first"));
  expect(one.listResumable()).toEqual([both[1]]);
});

test("a synthesis that is being written in any window is not offered", () => {
  const [one, other] = [openWindow(), openWindow()];
  begin(one, "first");
  const release = acquireLock(`${getFile("first")}.lock`, {
    createConflict: () => new UserError("it is being written", "wait"),
  });
  for (const it of [one, other]) expect(it.listResumable()).toEqual([]);
  release();
  one.end(getFile("first"));
  for (const it of [one, other]) expect(it.listResumable()).toHaveLength(1);
});

test("a synthesis that was cancelled before its first task, or whose file was deleted, is gone", () => {
  const window = openWindow();
  window.begin({ file: getFile("early"), choices });
  window.end(getFile("early"));
  begin(window, "deleted");
  window.end(getFile("deleted"));
  rmSync(getFile("deleted"));
  begin(window, "kept");
  window.end(getFile("kept"));
  const text = readFileSync(storedFile(), "utf8");
  expect(text).toContain("kept.tasks.jsonl");
  expect(text).not.toMatch(/early|deleted/);
});

test("a damaged list is kept aside and reported, and a new one starts", () => {
  begin(openWindow(), "first");
  writeFileSync(storedFile(), `[{"file": 3}]`);
  begin(openWindow(), "second");
  expect(openWindow().listResumable()).toHaveLength(1);
  expect(existsSync(`${storedFile()}.damaged-1`)).toBe(true);
  expect(editor.messages).toEqual([
    expect.stringMatching(
      /^The list of unfinished syntheses could not be read: .*Synthesize new tasks; those that were made are kept/,
    ),
  ]);
});
