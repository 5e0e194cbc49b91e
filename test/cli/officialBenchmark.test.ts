/** `benchmark`: what is refused before anything is installed or asked, and how results compare. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { benchmark } from "../../src/cli/officialBenchmark.ts";
import { computeDifferences, type BenchmarkResult } from "../../src/cli/harness/benchmarkResult.ts";
import { formatResults } from "../../src/cli/harness/benchmarkText.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

let cwd: string;
beforeEach(() => void (cwd = emptyFolder()));

const run = (...args: string[]) => runCommand(benchmark, args, { cwd });
const bfcl = (...args: string[]) => run("bfcl", "--model", "m", ...args);

/** A program that answers like a Python of a version and with a bfcl-eval of a version. */
function writePython(release: string, harness: string | null): string {
  const file = join(cwd, "python");
  const answer = JSON.stringify({ release, harness, missing: [] });
  writeFileSync(file, `#!/bin/sh\necho '${answer}'\n`);
  chmodSync(file, 0o755);
  return file;
}

test.each([
  ["tau2", "tau2-bench is not run from here: its own package is not on the Python package index"],
  ["t-eval", "T-Eval is not run from here"],
  ["mmlu", "there is no benchmark mmlu"],
])("%s cannot be run", async (name, message) => {
  await expect(run(name, "--model", "m")).rejects.toThrow(message);
});

test("no Python", async () => {
  await expect(bfcl("--python", "no-such-python")).rejects.toThrow(
    "there is no program no-such-python",
  );
});

test.runIf(process.platform !== "win32")("a Python that cannot be used", async () => {
  await expect(bfcl("--python", writePython("3.9", null))).rejects.toThrow(
    "is Python 3.9, and bfcl-eval needs 3.10 or later",
  );
  await expect(bfcl("--python", writePython("3.12", "2025.1.1"))).rejects.toThrow(
    "has bfcl-eval 2025.1.1, and results are compared with those of 2026.3.23 only",
  );
  writeFileSync(join(cwd, "python"), "#!/bin/sh\necho 'SyntaxError: 2.7' >&2; exit 1\n");
  await expect(bfcl("--python", join(cwd, "python"))).rejects.toThrow(
    "is not a Python 3 (SyntaxError: 2.7)",
  );
});

test("options that do not fit", async () => {
  await expect(bfcl("--categories", "multi_turn_bas")).rejects.toThrow(
    "there is no category multi_turn_bas (did you mean multi_turn_base?)",
  );
  await expect(bfcl("--temperature", "9")).rejects.toThrow("--temperature 9 is not from 0 to 2");
  mkdirSync(join(cwd, "other"));
  await expect(bfcl("--compare", "other")).rejects.toThrow("is not the folder of a benchmark");
});

const result = (model: string, right: (id: number) => boolean): BenchmarkResult => ({
  benchmark: "bfcl",
  harness: "bfcl-eval 2026.3.23",
  model,
  temperature: 0.001,
  entries: ["multi_turn_base", "multi_turn_miss_func"].flatMap(category =>
    Array.from({ length: 20 }, (_, i) => ({
      id: `${category}_${i}`,
      category,
      valid: right(i),
      error: null,
      message: null,
    })),
  ),
});

test("a folder with results of another model, or cut in half, is not continued", async () => {
  mkdirSync(join(cwd, "out"));
  const text = JSON.stringify({ format: "prove/benchmark@1", ...result("other", () => true) });
  writeFileSync(join(cwd, "out/benchmark.json"), text);
  await expect(bfcl("--out", "out")).rejects.toThrow("has results for model other, not m");
  writeFileSync(join(cwd, "out/benchmark.json"), text.slice(0, 500));
  await expect(bfcl("--out", "out")).rejects.toThrow("benchmark.json:1 is not JSON");
});

test("two results become the paper's table, with paired differences", () => {
  const before = result("base", i => i < 4);
  const after = result("trained", i => i < 16);
  const names = { multi_turn_base: "Base", multi_turn_miss_func: "MissFunc" };
  const [head, first, second, , title, ...lines] = formatResults([before, after], names);
  expect([head, first, second].map(it => it!.trim().split(/ +/))).toEqual([
    ["Base", "MissFunc", "Overall", "entries"],
    ["base", "20.0", "20.0", "20.0", "40"],
    ["trained", "80.0", "80.0", "80.0", "40"],
  ]);
  expect(title).toContain("trained − base, in points");
  expect(lines.map(it => it.replace(/\(.*\)/, "()"))).toEqual([
    "  Base       +60.0 () on 20 entries: higher",
    "  MissFunc   +60.0 () on 20 entries: higher",
    "  Overall    +60.0 () on 40 entries: higher",
  ]);
  // both categories have the same scenarios, so that all entries tell no more than one category
  const [base, , all] = computeDifferences(before, after);
  expect(all!.change!.clusters).toBe(20);
  expect(all!.change!.high - all!.change!.low).toBeCloseTo(
    base!.change!.high - base!.change!.low,
    1,
  );
  expect(() => computeDifferences(before, { ...after, harness: "bfcl-eval 1" })).toThrow(
    "measure both with the same version",
  );
});
