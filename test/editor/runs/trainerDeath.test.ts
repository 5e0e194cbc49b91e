/**
 * What the editor says of a trainer that dies: once in each window, why, and how the training goes
 * on. A small program stands in for the trainer.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Uri } from "vscode";
import type { ProveFolder } from "../../../src/editor/shared/proveFolder.ts";
import { createRunConfig } from "../../../src/run/createRunConfig.ts";
import { getLogFile, startTrainer } from "../../../src/run/start.ts";
import { readTrainerLock, readTrainerProcess } from "../../../src/run/locks.ts";
import { createVscode } from "../fakeVscode.ts";

interface Shown {
  readonly message: string;
  readonly buttons: readonly string[];
}

const editor = vi.hoisted(() => ({
  isTrusted: true,
  shown: [] as Shown[],
  /** Commands that buttons ran. */
  commands: [] as unknown[][],
}));
vi.mock("vscode", () => {
  const api = createVscode();
  return {
    ...api,
    window: {
      ...api.window,
      showErrorMessage: async (message: string, ...buttons: string[]) => {
        editor.shown.push({ message, buttons });
        return buttons[0];
      },
      createOutputChannel: () => ({ warn() {}, error() {} }),
    },
    commands: { executeCommand: async (...args: unknown[]) => void editor.commands.push(args) },
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

const src = join(import.meta.dirname, "../../../src");
let root = "";
const folder = () => join(root, "runs/first");
const windows: InstanceType<typeof Runs>[] = [];

/** A window on the folder that follows the trainer. */
async function openWindow() {
  const uri = { fsPath: root, path: root } as Uri;
  const getPart = () => ({ fsPath: join(root, "runs") }) as Uri;
  const runs = new Runs({ uri, getPart } as unknown as ProveFolder);
  windows.push(runs);
  const monitor = runs.getMonitor(folder());
  if (editor.isTrusted) await monitor.attach();
  return monitor;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "prove-death-"));
  mkdirSync(folder(), { recursive: true });
  const options = { tasks: "/gone.tasks.jsonl", startedAt: new Date(0), steps: 12 };
  writeFileSync(join(folder(), "run.json"), JSON.stringify(createRunConfig(options)));
  editor.isTrusted = true;
  editor.shown = [];
  editor.commands = [];
});
afterEach(() => {
  const trainer = readTrainerLock(folder());
  if (trainer) process.kill(trainer.pid, "SIGKILL");
  for (const it of windows.splice(0)) it.dispose();
  rmSync(root, { recursive: true });
});

/** Starts a trainer that trains nothing, and returns its process. */
async function start(then = ""): Promise<number> {
  const program = join(root, "trainer.mjs");
  writeFileSync(
    program,
    `import { openTrainerSocket } from ${JSON.stringify(join(src, "train/trainerSocket.ts"))};
    import { acquireTrainerLock } from ${JSON.stringify(join(src, "run/locks.ts"))};
    import { writeEnd } from ${JSON.stringify(join(src, "run/folder.ts"))};
    const [run] = process.argv.slice(2);
    const status = { state: "training", run, pid: process.pid, method: "grpo", step: 0, spent: 0, doing: "waiting" };
    const socket = await openTrainerSocket(() => status, ${then || "() => {}"});
    acquireTrainerLock(run, socket.address);`,
  );
  const attachment = await startTrainer({ folder: folder(), program, fixtures: [root] });
  attachment.close();
  return attachment.pid;
}

/** Also true of one that has ended, until this process has noticed it. */
function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const addCheckpoint = (step: number) => {
  const checkpoint = join(folder(), "checkpoints", String(step));
  mkdirSync(checkpoint, { recursive: true });
  writeFileSync(join(checkpoint, "config.json"), "{}");
};

test("a trainer that is killed is an error in each window, with the reason and Resume", async () => {
  const pid = await start();
  addCheckpoint(6);
  const monitors = [await openWindow(), await openWindow()];
  await expect.poll(() => monitors.map(it => it.status.state)).toEqual(["training", "training"]);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => editor.shown).toHaveLength(2);
  for (const it of editor.shown)
    expect(it).toEqual({
      message:
        "The training of first ended before its first step: the trainer was killed (SIGKILL), which the system does when no memory is left. End other programs, then resume it; it then goes on after step 6.",
      buttons: ["Resume"],
    });
  expect(monitors.map(it => it.status.state)).toEqual(["interrupted", "interrupted"]);
  await expect.poll(() => editor.commands).toHaveLength(2);
  expect(editor.commands[0]).toEqual([
    "prove.resumeTraining",
    { kind: "run", monitor: monitors[0] },
  ]);
  const log = readFileSync(getLogFile(folder()), "utf8").trim().split("\n");
  expect(log).toEqual([
    expect.stringMatching(`^\\S+ the trainer, process ${pid}, started$`),
    expect.stringMatching(`^\\S+ the trainer, process ${pid}, ended by SIGKILL$`),
  ]);
});

test("without a checkpoint, it says that the run cannot be resumed", async () => {
  const pid = await start();
  await openWindow();
  process.kill(pid, "SIGSEGV");
  await expect.poll(() => editor.shown).toHaveLength(1);
  expect(editor.shown[0]).toEqual({
    message:
      "The training of first ended before its first step: the trainer died (SIGSEGV). Read trainer.log in the run folder; the run has no checkpoint that it can be resumed from, so start a new one.",
    buttons: [],
  });
});

test("a trainer that was stopped, and a window that is closed, are no error", async () => {
  const pid = await start(`() => { writeEnd(run, { by: "stop", step: 0 }); process.exit(); }`);
  const [closed, monitor] = [await openWindow(), await openWindow()];
  closed.dispose();
  await monitor.request("stop").catch(() => {});
  await expect.poll(() => monitor.status.state).toBe("stopped");
  await expect.poll(() => isProcess(pid)).toBe(false);
  expect(editor.shown).toEqual([]);
  expect(readFileSync(getLogFile(folder()), "utf8")).not.toContain("ended by");
});

test("in Restricted Mode, what another window trains is unknown", async () => {
  await start();
  editor.isTrusted = false;
  const monitor = await openWindow();
  expect(monitor.isAttached).toBe(false);
  expect(monitor.status).toMatchObject({
    state: "unknown",
    activity: expect.stringMatching(
      /^process \d+ trains it, which this window cannot follow$/,
    ) as string,
  });
});

test("a second trainer of the folder is refused while the first one starts", async () => {
  const slow = join(root, "slow.mjs");
  writeFileSync(slow, "setInterval(() => {}, 1000);");
  // it never listens, so that it goes on starting
  const starting = startTrainer({ folder: folder(), program: slow, fixtures: [root] });
  await expect.poll(() => readTrainerProcess(folder())).toBeDefined();
  const { pid } = readTrainerProcess(folder())!;
  const monitor = await openWindow();
  expect(monitor.status.state).toBe("starting");
  await expect(
    startTrainer({ folder: folder(), program: slow, fixtures: [root] }),
  ).rejects.toMatchObject({ what: `${folder()} is being trained by process ${pid}` });
  process.kill(pid, "SIGKILL");
  await expect(starting).rejects.toMatchObject({
    what: expect.stringMatching(/^the trainer was killed \(SIGKILL\)/) as string,
  });
});
