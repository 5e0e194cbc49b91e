/** Runs the built terminal program as a process in a folder. */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../contracts/transports.ts";

export interface ProgramResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export const emptyFolder = () => mkdtempSync(join(tmpdir(), "prove-rl-"));

/** Runs `prove-rl …args` in `cwd` to its end, with `input` on stdin. */
export function run(
  args: readonly string[],
  {
    cwd = emptyFolder(),
    input = "",
    env = {},
    program = join(root, "dist/cli.js"),
  }: { cwd?: string; input?: string; env?: Record<string, string>; program?: string } = {},
): Promise<ProgramResult> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...process.env, ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (it: string) => (stdout += it));
  child.stderr.setEncoding("utf8").on("data", (it: string) => (stderr += it));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", code => resolve({ code, stdout, stderr }));
  });
}
