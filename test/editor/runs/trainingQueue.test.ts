/**
 * The queue of trainings: what starts next, after which ends, after a reload of the window, and in
 * which of two windows. A fake of the VS Code API stands in for the editor, and a socket for a
 * trainer.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Uri } from "vscode";
import type { ProveFolder } from "../../../src/editor/shared/proveFolder.ts";
import { createRunConfig } from "../../../src/run/createRunConfig.ts";
import { createRun, readRun } from "../../../src/run/folder.ts";
import { acquireTrainerLock } from "../../../src/run/locks.ts";
import { openTrainerSocket } from "../../../src/train/trainerSocket.ts";
import { createVscode } from "../fakeVscode.ts";

const editor = vi.hoisted(() => ({ isTrusted: true, messages: [] as string[] }));
vi.mock("vscode", () => {
  const api = createVscode();
  const show = async (message: string) => void editor.messages.push(message);
  return {
    ...api,
    window: {
      ...api.window,
      showInformationMessage: show,
      showWarningMessage: show,
      showErrorMessage: show,
      createOutputChannel: () => ({ warn() {}, error() {} }),
    },
    workspace: {
      ...api.workspace,
      get isTrusted() {
        return editor.isTrusted;
      },
      onDidGrantWorkspaceTrust: () => ({ dispose() {} }),
    },
  };
});
const { Runs } = await import("../../../src/editor/runs/runs.ts");
const { RunsTree } = await import("../../../src/editor/runs/runsTree.ts");
const { createSeededRuns } = await import("../../../src/editor/runs/newSeeds.ts");
const { TrainingQueue } = await import("../../../src/editor/runs/trainingQueue.ts");

type Window = ReturnType<typeof openWindow>;

let root = "";
let window: Window;
const createUri = (path: string) => ({ fsPath: path, path }) as Uri;
const queueFile = () => join(root, "shared/queue.json");
const getFolder = (name: string) => join(root, "runs", name);

/** A window on the workspace, whose trainings end when the test says so. */
function openWindow() {
  const folder = { uri: createUri(root), getPart: () => createUri(join(root, "runs")) };
  const runs = new Runs(folder as unknown as ProveFolder);
  const trainings: { readonly folder: string; end: (isAnnounced: boolean | Error) => void }[] = [];
  const queue = new TrainingQueue({
    runs,
    file: queueFile(),
    train: it =>
      new Promise((resolve, reject) =>
        trainings.push({
          folder: it,
          end: how => (how instanceof Error ? reject(how) : resolve(how)),
        }),
      ),
  });
  return { runs, queue, trainings, tree: new RunsTree(runs) };
}

function closeWindow({ runs, queue, tree }: Window): void {
  tree.dispose();
  queue.dispose();
  runs.dispose();
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "prove-queue-"));
  for (const [i, name] of ["first", "second", "third"].entries()) {
    mkdirSync(getFolder(name), { recursive: true });
    const options = { tasks: "/gone.tasks.jsonl", startedAt: new Date(Date.UTC(2026, 2, i + 1)) };
    writeFileSync(join(getFolder(name), "run.json"), JSON.stringify(createRunConfig(options)));
  }
  editor.isTrusted = true;
  editor.messages = [];
  window = openWindow();
});
afterEach(() => {
  closeWindow(window);
  rmSync(root, { recursive: true });
});

const queueAll = (...names: string[]) => {
  for (const it of names) window.queue.add(getFolder(it), "last");
};
const checkStarted = async (...names: string[]) => {
  await expect.poll(() => window.trainings.map(it => it.folder)).toEqual(names.map(getFolder));
};
const listRows = async () =>
  (await window.tree.getChildren()).map(it => {
    const { label, description } = window.tree.getTreeItem(it) as Record<string, unknown>;
    return `${label as string}: ${description as string}`;
  });

test("the next training starts when the one before has ended, however it ended", async () => {
  const failing = window.queue.train(getFolder("first"));
  queueAll("second", "third");
  await checkStarted("first");
  window.trainings[0]!.end(new Error("no memory"));
  await expect(failing).rejects.toThrow("no memory");
  await checkStarted("first", "second");
  expect(editor.messages).toEqual(["second was queued, and starts now."]);
  window.trainings[1]!.end(true);
  await checkStarted("first", "second", "third");
  // its end said which training is next
  expect(editor.messages).toHaveLength(1);
  expect(window.queue.size).toBe(0);
});

test("the Runs view shows queued runs in their order", async () => {
  void window.queue.train(getFolder("second"));
  queueAll("third");
  window.queue.add(getFolder("first"), "first");
  expect(await listRows()).toEqual([
    "first: queued · starts when the training before it has ended",
    "third: queued · 2 in the queue",
    "second: ready · prepared, not started yet",
  ]);
  window.queue.remove(getFolder("first"));
  expect(await listRows()).toEqual([
    "third: queued · starts when the training before it has ended",
    "second: ready · prepared, not started yet",
    "first: ready · prepared, not started yet",
  ]);
  window.trainings[0]!.end(true);
  await checkStarted("second", "third");
});

/** The socket of a trainer that trains the first run. */
const openFirstTrainer = () =>
  openTrainerSocket(
    () => ({
      state: "training",
      run: getFolder("first"),
      pid: process.pid,
      method: "grpo",
      step: 3,
      spent: 1,
      doing: "step 3",
    }),
    () => {},
  );

test("the queue survives a reload, and goes on when the trainer that still runs has exited", async () => {
  const socket = await openFirstTrainer();
  const releaseLock = acquireTrainerLock(getFolder("first"), socket.address);
  void window.queue.train(getFolder("first"));
  queueAll("third", "second");
  closeWindow(window);
  window = openWindow();
  await window.queue.resume();
  await expect
    .poll(() => listRows())
    .toEqual([
      "first: 3 · training",
      "third: queued · starts when the training before it has ended",
      "second: queued · 2 in the queue",
    ]);
  expect(window.trainings).toEqual([]);
  releaseLock();
  await socket.close();
  await checkStarted("third");
});

test("a training that ended while no window was open is followed by the next one", async () => {
  void window.queue.train(getFolder("first"));
  queueAll("second");
  closeWindow(window);
  editor.isTrusted = false;
  window = openWindow();
  await window.queue.resume();
  expect(window.trainings).toEqual([]);
  editor.isTrusted = true;
  await window.queue.resume();
  await checkStarted("second");
});

test("a queued run whose folder is gone is left out with a warning", async () => {
  void window.queue.train(getFolder("first"));
  queueAll("second", "third");
  renameSync(getFolder("second"), join(root, "elsewhere"));
  window.runs.refresh();
  expect(editor.messages).toEqual(["second was queued, but there is no such run any more."]);
  expect(() => window.runs.getMonitor(getFolder("second"))).toThrow(/is not a run folder/);
  window.trainings[0]!.end(true);
  await checkStarted("first", "third");
});

test("a damaged queue is kept aside and reported, and a new one starts", async () => {
  const damaged = ["[", JSON.stringify({ runs: 3 })];
  for (const text of damaged) {
    writeFileSync(queueFile(), text);
    closeWindow(window);
    window = openWindow();
  }
  expect(window.queue.next).toBeUndefined();
  void window.queue.train(getFolder("first"));
  queueAll("second");
  expect(JSON.parse(readFileSync(queueFile(), "utf8"))).toEqual([getFolder("second")]);
  for (const [i, text] of damaged.entries())
    expect(readFileSync(`${queueFile()}.damaged-${i + 1}`, "utf8")).toBe(text);
  expect(editor.messages).toEqual(
    [1, 2].map(n =>
      expect.stringMatching(
        new RegExp(
          `^The queue of trainings could not be read: \\S+queue\\.json:1 is not .*\\. Add the runs to the queue again; the file is kept as queue\\.json\\.damaged-${n} beside it\\.$`,
        ),
      ),
    ),
  );
});

test("two windows share the queue, and one of them starts the next training", async () => {
  const other = openWindow();
  void window.queue.train(getFolder("first"));
  queueAll("second");
  other.queue.add(getFolder("third"), "last");
  await expect.poll(() => window.queue.size).toBe(2);
  const listOther = async () => (await other.tree.getChildren()).map(it => it.kind);
  expect(await listOther()).toHaveLength(3);
  expect(other.runs.getMonitor(getFolder("second")).queuePosition).toBe(1);
  expect(window.runs.getMonitor(getFolder("third")).queuePosition).toBe(2);
  // both notice the end
  window.trainings[0]!.end(true);
  other.runs.refresh();
  await checkStarted("first", "second");
  expect(other.trainings).toEqual([]);
  await expect.poll(() => other.queue.size).toBe(1);
  // the other one goes on when the window is closed
  closeWindow(window);
  other.runs.refresh();
  await expect.poll(() => other.trainings.map(it => it.folder)).toEqual([getFolder("third")]);
  expect(other.queue.size).toBe(0);
  closeWindow(other);
});

test("the window whose training has ended starts the next one, though its trainer exits later", async () => {
  const socket = await openFirstTrainer();
  const releaseLock = acquireTrainerLock(getFolder("first"), socket.address);
  const other = openWindow();
  for (const it of [window, other]) await it.runs.getMonitor(getFolder("first")).attach();
  const training = window.queue.train(getFolder("first"));
  queueAll("second");
  await expect.poll(() => other.queue.size).toBe(1);
  window.trainings[0]!.end(true);
  await training;
  releaseLock();
  await socket.close();
  await checkStarted("first", "second");
  expect(other.trainings).toEqual([]);
  closeWindow(other);
});

test("a run that this window does not list stays in the queue and waits", async () => {
  const elsewhere = join(root, "other/runs/fourth");
  mkdirSync(elsewhere, { recursive: true });
  writeFileSync(join(elsewhere, "run.json"), readFileSync(join(getFolder("first"), "run.json")));
  void window.queue.train(getFolder("first"));
  window.queue.add(elsewhere, "last");
  queueAll("second");
  window.runs.refresh();
  window.trainings[0]!.end(true);
  await checkStarted("first", "second");
  expect(window.queue.has(elsewhere)).toBe(true);
  expect(editor.messages).toEqual([]);
});

test("after a reload, one window follows the training that still runs", async () => {
  const other = openWindow();
  void window.queue.train(getFolder("first"));
  await other.queue.follow(getFolder("first"));
  expect(other.trainings).toEqual([]);
  closeWindow(window);
  void other.queue.follow(getFolder("first"));
  expect(other.trainings.map(it => it.folder)).toEqual([getFolder("first")]);
  closeWindow(other);
});

const careless = join(import.meta.dirname, "../../../resources/models/careless");

test("a run is repeated with seeds that no run like it has", () => {
  const options = { tasks: "/some.tasks.jsonl", from: "careless", steps: 7 };
  createRun(
    getFolder("own"),
    createRunConfig({ ...options, startedAt: new Date(0), seed: 4 }),
    careless,
  );
  const monitor = window.runs.getMonitor(getFolder("own"));
  const repeat = (count: number) => createSeededRuns(monitor, window.runs.list(), count);
  expect(repeat(2)).toEqual(["own-seed-5", "own-seed-6"].map(getFolder));
  expect(repeat(1)).toEqual([getFolder("own-seed-7")]);
  const { began: _, seed, ...others } = readRun(getFolder("own-seed-6"));
  expect(seed).toBe(6);
  expect(readRun(getFolder("own"))).toMatchObject(others);
  // a repeated run is named after the first one when it is repeated, too
  const repeated = window.runs.getMonitor(getFolder("own-seed-7"));
  expect(createSeededRuns(repeated, window.runs.list(), 1)).toEqual([getFolder("own-seed-8")]);
});

test("a run without the model that it started from is not repeated", () =>
  expect(() => createSeededRuns(window.runs.getMonitor(getFolder("first")), [], 3)).toThrow(
    "first does not have the model that it started from",
  ));
