/**
 * A Python program that is missing, broken or slow. Programs of the shell take Python's place; the
 * Python programs themselves are in `test/engines`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startBfcl } from "../lab/bfcl.ts";
import { findProcessStart } from "../../src/storage/processes.ts";
import { UserError } from "../../src/userError.ts";
import { root } from "../contracts/transports.ts";
import { emptyFolder } from "./program.ts";

const cwd = emptyFolder();
const resources = join(root, "resources");
const good = `echo '{"scenarios": 2, "calls": 9}'`;
const remedy = "give the path of a Python with bfcl-eval==2026.3.23 mpmath==1.3.0 with --python";

/** Writes a program of the shell and returns its path. */
function createPython(lines: string, folder = emptyFolder()): string {
  const file = join(folder, "python3");
  writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return file;
}

const start = (program: string, limit = 300_000, signal = new AbortController().signal) =>
  startBfcl({ cwd, resources, signal }, program, limit);

const check = (result: Promise<unknown>, what: string, expectedRemedy = remedy) =>
  expect(result).rejects.toEqual(new UserError(what, expectedRemedy));

/** Waits until a process has ended. */
async function checkEnded(pid: number): Promise<void> {
  await expect.poll(() => findProcessStart(pid)).toBeUndefined();
}

/** Waits for a file with the id of a process. */
async function readPid(file: string): Promise<number> {
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
  return Number(readFileSync(file, "utf8"));
}

describe("a Python that", () => {
  test("is not at its path is reported", () =>
    check(start("./python4"), `${cwd}/python4 cannot be started (spawn ${cwd}/python4 ENOENT)`));

  test("has no bfcl-eval is reported with what to install", async () => {
    const python = createPython(`echo '{"problem": "it has no module bfcl_eval"}'`);
    await check(
      start(python),
      `${python} cannot play the scenarios of BFCL: it has no module bfcl_eval`,
      "create a virtual environment, run pip install --no-deps bfcl-eval==2026.3.23 mpmath==1.3.0 in it, and give the path of its Python with --python; in a clone of PROVE, npm run test:engines does this in the folder .engines",
    );
  });

  test.each([
    ["fails", "echo one >&2; echo 'KeyError: 3' >&2; exit 1", "ended with 1 (KeyError: 3)"],
    ["ends at once", "", "ended with 0"],
    ["is killed", "kill -9 $$", "ended with SIGKILL"],
    ["greets", "echo Hello", 'wrote a line that is not an answer: "Hello"'],
    ["answers something else", "echo '{}'; cat", 'wrote a line that is not an answer: "{}"'],
    ["has no scenarios", `echo '{"scenarios": 0, "calls": 0}'; cat`, "wrote a line that is not"],
    ["writes lines without end", "yes", 'wrote a line that is not an answer: "y"'],
    [
      "writes a line without end",
      "tr '\\0' x </dev/zero",
      `wrote a line that is not an answer: "${"x".repeat(60)}"`,
    ],
  ])("%s is reported", async (_, lines, what) => {
    const python = createPython(lines);
    await expect(start(python)).rejects.toMatchObject({
      what: expect.stringContaining(`${python} ${what}`) as string,
      remedy,
    });
  });

  test.each([
    ["garbage", "echo fast", 'wrote a line that is not an answer: "fast"'],
    [
      "no time",
      `echo '{"calls": 5, "seconds": 0}'`,
      'wrote a line that is not an answer: "{\\"calls\\": 5, \\"seconds\\": 0}"',
    ],
    ["nothing", "exit 4", "ended with 4"],
  ])("answers a run with %s is reported", async (_, lines, what) => {
    const python = createPython(`${good}\nread line\n${lines}`);
    const bfcl = await start(python);
    await check(bfcl.measureCallRate(100, 1), `${python} ${what}`);
  });

  test("does not answer is ended with what it has started", async () => {
    const folder = emptyFolder();
    const python = createPython(
      `setsid sh -c 'echo $$ >"${folder}/pid"; exec sleep 1000' & wait`,
      folder,
    );
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const started = start(python, 1_500);
    const pid = await readPid(join(folder, "pid"));
    vi.advanceTimersByTime(1_500);
    await check(started, `${python} did not answer within 1.5 seconds`);
    await checkEnded(pid);
  });
});

test("an answer is calls a second", async () => {
  const python = createPython(
    `${good}\nread line\nlines=$line\necho '{"calls": 12, "seconds": 0.5}'\nread line`,
  );
  const bfcl = await start(python);
  expect(await bfcl.measureCallRate(10, 1)).toBe(24);
  bfcl.close();
});
