/**
 * A small extension for tests that measures the extension host: the longest time in which its event
 * loop was blocked, and its memory.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { getDesk } from "./desk.ts";
import { waitOptions, type Workbench } from "./workbench.ts";

export interface Measure {
  /**
   * The longest time in which the event loop was blocked, in milliseconds of the thread's CPU time,
   * so that waiting for a busy core does not count.
   */
  readonly block: number;
  /** What the thread computed in all, in milliseconds of CPU time. */
  readonly spent: number;
  /** Resident memory of the extension host, in megabytes. */
  readonly memory: number;
}

/** The source text of the extension, which runs in the extension host. */
const program = `
const { writeFileSync } = require("node:fs");
const { commands, extensions } = require("vscode");
const spent = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const answer = value => writeFileSync(process.env.METER_FILE, JSON.stringify(value));
// the workbench's own extensions that it loads at its start or with the first document: they block
// the event loop, too
const early = ["*", "onStartupFinished", "onLanguage", "onLanguage:json", "onLanguage:jsonc"];
const isEarly = it => it.packageJSON.activationEvents?.some(event => early.includes(event));
exports.activate = context => {
  let first = spent();
  let last = first;
  let block = 0;
  const timer = setInterval(() => {
    const now = spent();
    block = Math.max(block, now - last);
    last = now;
  }, 1);
  context.subscriptions.push(
    { dispose: () => clearInterval(timer) },
    commands.registerCommand("meter.settle", async () => {
      const others = extensions.all.filter(it => it.id !== context.extension.id && isEarly(it));
      await Promise.allSettled(others.map(it => it.activate()));
      answer({});
    }),
    commands.registerCommand("meter.begin", () => {
      first = last = spent();
      block = 0;
      answer({});
    }),
    commands.registerCommand("meter.activate", async () => {
      const start = performance.now();
      await extensions.getExtension("prove-rl.prove-rl").activate();
      answer(performance.now() - start);
    }),
    commands.registerCommand("meter.end", () => {
      const memory = process.memoryUsage.rss() / 1e6;
      answer({ block, spent: last - first, memory });
    }),
  );
};
`;

/** Packages the meter as an extension that can be installed. */
export function packageMeter(): string {
  const folder = mkdtempSync(join(tmpdir(), "prove-meter-"));
  const manifest = {
    name: "meter",
    publisher: "prove-rl",
    version: "0.0.1",
    engines: { vscode: "^1.100.0" },
    main: "./meter.js",
    activationEvents: ["*"],
    contributes: {
      commands: [
        { command: "meter.settle", title: "Meter: Settle" },
        { command: "meter.begin", title: "Meter: Begin" },
        { command: "meter.activate", title: "Meter: Activate" },
        { command: "meter.end", title: "Meter: End" },
      ],
    },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "meter.js"), program);
  writeFileSync(join(folder, "README.md"), "Measures the extension host for tests.\n");
  execFileSync(
    "vsce",
    [
      "package",
      "--no-dependencies",
      "--allow-missing-repository",
      "--skip-license",
      "--allow-star-activation",
      "--out",
      "meter.vsix",
    ],
    { cwd: folder, stdio: "pipe" },
  );
  return join(folder, "meter.vsix");
}

/**
 * Waits until the workbench's own early extensions are loaded, because loading them blocks the
 * event loop.
 */
export async function settleHost(workbench: Workbench): Promise<void> {
  await runInHost(workbench, "Meter: Settle");
}

export async function beginMeter(workbench: Workbench): Promise<void> {
  await runInHost(workbench, "Meter: Begin");
}

/** Activates the extension; returns the milliseconds until its features were registered. */
export const measureActivation = async (workbench: Workbench): Promise<number> =>
  (await runInHost(workbench, "Meter: Activate")) as number;

/** Returns what was measured since the meter began. */
export const endMeter = async (workbench: Workbench): Promise<Measure> =>
  (await runInHost(workbench, "Meter: End")) as Measure;

/** Runs a command of the meter until it has ended, and returns its answer. */
async function runInHost(workbench: Workbench, title: string): Promise<unknown> {
  const { meter } = getDesk();
  rmSync(meter, { force: true });
  await workbench.runCommand(title);
  return vi.waitFor(() => JSON.parse(readFileSync(meter, "utf8")) as unknown, waitOptions);
}

/** Prints a measured number in the output of the tests. */
export const printMeasure = (name: string, value: string): void =>
  void process.stdout.write(`measured ${name}: ${value}\n`);
