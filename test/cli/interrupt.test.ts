/** Ctrl-C and SIGTERM: one line on stderr, no stack, within two seconds. */
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
  ] as const)("of %s ends it without a stack", async (name, args, isReady, signal) => {
    const child = spawn(process.execPath, [join(root, "dist/cli.js"), name, ...args], {
      cwd: emptyFolder(),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (it: Buffer) => (stderr += it.toString()));
    while (!isReady.test(stderr)) await once(child.stderr, "data");
    const before = stderr.length;
    child.kill(signal);
    const started = performance.now();
    const [code] = (await once(child, "exit")) as [number | null];
    expect(performance.now() - started).toBeLessThan(2_500);
    expect([0, 2]).toContain(code);
    expect(stderr).not.toMatch(/\n\s+at /);
    if (code === 2)
      expect(stderr.slice(before)).toMatch(new RegExp(`prove-rl: stopped by ${signal}; .*\n$`));
  });
});
