/** Ctrl-C and SIGTERM: one line on stderr, and no stack. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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
    expect([0, 2, 130]).toContain(code);
    expect(stderr).not.toMatch(/\n\s+at /);
    if (code !== 0)
      expect(stderr).toMatch(new RegExp(`(^|\n)prove-rl: stopped by ${signal}; [^\n]*\n$`));
    expect(stderr.match(/stopped by/g)?.length ?? 0).toBe(code === 0 ? 0 : 1);
  });
});
