/** A Python that is not there, and one that is interrupted. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProcessStart } from "../../src/storage/processes.ts";
import { emptyFolder, run } from "../cli/program.ts";
import { root } from "../contracts/transports.ts";

const program = join(root, "dist/lab/main.js");

/** Writes a program of the shell and returns its path. */
function createPython(lines: string, folder = emptyFolder()): string {
  const file = join(folder, "python3");
  writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return file;
}

/** Waits until a process has ended. */
async function checkEnded(pid: number): Promise<void> {
  await expect.poll(() => findProcessStart(pid)).toBeUndefined();
}

/** Waits for a file with the id of a process. */
async function readPid(file: string): Promise<number> {
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
  return Number(readFileSync(file, "utf8"));
}

test("a Python that is nowhere on the PATH is reported, even if the current folder has one", async () => {
  const folder = emptyFolder();
  createPython("touch started", folder);
  const PATH = join(folder, "bin");
  mkdirSync(PATH);
  expect(await run(["bfcl"], { program, cwd: folder, env: { PATH } })).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "prove-rl: there is no program python3 in the folders of PATH\n  install Python 3.10 or later, or give its path with --python\n",
  });
  expect(existsSync(join(folder, "started"))).toBe(false);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends a Python that does not answer", async signal => {
  const folder = emptyFolder();
  const python = createPython(`echo $$ >"${folder}/pid"\nexec sleep 1000`, folder);
  const child = spawn(process.execPath, [program, "bfcl", "--python", python], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (it: Buffer) => (stderr += it.toString()));
  const pid = await readPid(join(folder, "pid"));
  child.kill(signal);
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(2);
  expect(stderr).toBe(`prove-rl: stopped by ${signal}; run it again\n`);
  await checkEnded(pid);
});
