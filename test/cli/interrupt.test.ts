/** Ctrl-C and SIGTERM: one line on stderr, no stack, and no process that goes on. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { isRunning, listChildren } from "../processes.ts";
import { root } from "../contracts/transports.ts";
import { emptyFolder } from "./program.ts";

describe.runIf(process.platform !== "win32")("an interruption", () => {
  test.each([
    ["synthesize", ["--out", "a.tasks.jsonl", "--count", "100000"], /\d tasks/, "SIGINT"],
    ["serve", ["--port", "0"], /Ctrl-C stops/, "SIGTERM"],
    ["graph", ["--verify"], /pairs run/, "SIGINT"],
    ["loop", [], /heldout-chain: \d/, "SIGINT"],
    // while calls are recorded, while edges are run, and after a figure was measured
    ["bench", ["environment"], /recording calls/, "SIGINT"],
    ["bench", ["synthesis"], /running the edges/, "SIGINT"],
    ["bench", ["training"], /"value"/, "SIGTERM"],
  ] as const)("of %s %j at %s ends it without a stack", async (name, args, isReady, signal) => {
    const child = spawn(process.execPath, [join(root, "dist/cli.js"), name, ...args], {
      cwd: emptyFolder(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    const ready = new Promise<void>(resolve => {
      const check = () => isReady.test(stdout + stderr) && resolve();
      child.stdout.on("data", (it: Buffer) => void ((stdout += it.toString()), check()));
      child.stderr.on("data", (it: Buffer) => void ((stderr += it.toString()), check()));
    });
    await Promise.race([ready, once(child, "exit")]);
    child.kill(signal);
    const [code] = (await once(child, "close")) as [number | null];
    // a command that does not end itself within two seconds is ended with 130, as on a busy machine
    expect([0, 2, 130, null]).toContain(code);
    expect(stderr).not.toMatch(/\n\s+at /);
    if (code !== 0)
      expect(stderr).toMatch(new RegExp(`(^|\n)prove-rl: stopped by ${signal}; [^\n]*\n$`));
    expect(stderr.match(/stopped by/g)?.length ?? 0).toBe(code === 0 ? 0 : 1);
  });
});

/** Computes without an end once it gets SIGUSR2, as a command may with what others wrote. */
const computing = `process.once("SIGUSR2", () => {
  require("node:fs").writeSync(2, "computing\\n");
  for (;;);
})`;

describe.runIf(process.platform !== "win32")("a command that computes without an end", () => {
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach(it => it.kill("SIGKILL")));

  /** Starts a command, and makes it compute once it has written this to stderr. */
  async function compute(args: readonly string[], ready: RegExp, cwd = emptyFolder()) {
    const preload = join(emptyFolder(), "computing.cjs");
    writeFileSync(preload, computing);
    const program = join(root, "dist/cli.js");
    const child = spawn(process.execPath, ["--require", preload, program, ...args], {
      cwd,
      stdio: ["ignore", "ignore", "pipe"],
    });
    children.push(child);
    const ended = once(child, "close");
    let notes = "";
    child.stderr.setEncoding("utf8").on("data", (it: string) => (notes += it));
    await expect.poll(() => notes).toMatch(ready);
    const servers = listChildren(child.pid!);
    child.kill("SIGUSR2");
    await expect.poll(() => notes).toContain("computing\n");
    return { child, ended, servers, getNotes: () => notes };
  }

  const stopped = (signal: string) =>
    expect.stringMatching(new RegExp(`computing\nprove-rl: stopped by ${signal}; run it again\n$`));

  test.each([
    ["serve --port 0", /Ctrl-C stops/, "SIGTERM"],
    ["synthesize --out a.tasks.jsonl --count 100000", /\d tasks/, "SIGINT"],
  ] as const)("%s is ended", async (command, ready, signal) => {
    const { child, ended, getNotes } = await compute(command.split(" "), ready);
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
    expect(getNotes()).toEqual(stopped(signal));
  });

  test("a second signal ends it if it may take longer to end", async () => {
    const { child, ended, getNotes } = await compute(
      ["serve", "--port", "0", "--drain", "600"],
      /Ctrl-C stops/,
    );
    await expect
      .poll(() => (child.kill("SIGTERM"), child.signalCode), { interval: 200 })
      .toBe("SIGTERM");
    await ended;
    expect(getNotes()).toMatch(/computing\n$/);
  });

  test("a third-party server that ignores signals is ended with it", async () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, "prove"));
    const rude = {
      command: process.execPath,
      args: [join(root, "test/mcp/misbehavingServer.ts"), "stubborn"],
    };
    writeFileSync(join(cwd, "prove/mcp.json"), JSON.stringify({ servers: { rude } }));
    const { child, ended, servers, getNotes } = await compute(
      ["call", "hang", "{}", "--connect", "rude"],
      /^starting /,
      cwd,
    );
    expect(servers).toHaveLength(1);
    child.kill("SIGTERM");
    await ended;
    expect(getNotes()).toEqual(stopped("SIGTERM"));
    await expect.poll(() => isRunning(servers[0]!)).toBe(false);
  });
});
