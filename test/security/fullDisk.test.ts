/**
 * A disk that is full for a while: what was written before stays, the error says what to do, and
 * the work is continued once there is room. A limit on the size of files stands in for the disk;
 * the write that reaches it is cut short.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { listCheckpoints, readMetrics } from "../../src/run/folder.ts";
import { root } from "../contracts/transports.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-full-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs Node where files have at most so many kilobytes. */
function runNode(args: readonly string[], kilobytes = Infinity) {
  const limit = kilobytes === Infinity ? "unlimited" : String(2 * kilobytes);
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-c", `ulimit -f ${limit}; exec "$0" "$@"`, process.execPath, ...args],
    { cwd: folder, encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

/** Runs a program of these lines, and prints the message of the error that ends it. */
const runLines = (kilobytes: number, imports: Record<string, string>, body: string): string => {
  const importLines = Object.entries(imports).map(
    ([names, file]) => `import { ${names} } from ${JSON.stringify(join(root, "src", file))};`,
  );
  const program = `${importLines.join("\n")}
    process.on("SIGXFSZ", () => {});
    try { ${body} } catch (error) { console.log(error.message); }`;
  const { stdout, stderr } = runNode(["--input-type=module", "-e", program], kilobytes);
  // a program that does not even load prints nothing on stdout
  expect(stderr).not.toContain("Error");
  return stdout.trim();
};

describe.runIf(process.platform === "linux")("a disk that is full for a while", () => {
  test("a synthesis keeps whole tasks, and continues to the same file", () => {
    const synthesize = (file: string, kilobytes?: number, ...more: string[]) =>
      runNode(
        [
          join(root, "dist/cli.js"),
          "synthesize",
          "--out",
          file,
          "--count",
          "12",
          "--seed",
          "7",
          "--servers",
          "banking",
          ...more,
        ],
        kilobytes,
      );
    expect(synthesize("whole.tasks.jsonl").status).toBe(0);
    const whole = readFileSync(join(folder, "whole.tasks.jsonl"), "utf8");
    const { status, stderr } = synthesize("cut.tasks.jsonl", 16);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /the disk is full: .*cut\.tasks\.jsonl could not be written \(the \d+ lines written before are kept\)\n {2}free some space, then run it again/,
    );
    const cut = readFileSync(join(folder, "cut.tasks.jsonl"), "utf8");
    expect(cut.endsWith("\n")).toBe(true);
    expect(cut.length).toBeGreaterThan(8000);
    expect(whole.startsWith(cut)).toBe(true);
    expect(synthesize("cut.tasks.jsonl", Infinity, "--resume").status).toBe(0);
    for (const part of ["tasks.jsonl", "rejected.jsonl", "report.json"])
      expect(readFileSync(join(folder, `cut.${part}`), "utf8"), part).toBe(
        readFileSync(join(folder, `whole.${part}`), "utf8"),
      );
  });

  const metrics = (step: number) => ({
    step,
    method: "sft",
    loss: 1,
    gradientNorm: 1,
    learningRate: 1,
    tokens: 1,
    taught: 1,
    conversations: 1,
    seconds: { learning: 0, total: 0 },
  });
  const append = (kilobytes: number, from: number) =>
    runLines(
      kilobytes,
      { appendMetrics: "run/folder.ts" },
      `for (let step = ${from}; step < ${from + 50}; step++)
        appendMetrics(${JSON.stringify(folder)}, { ...${JSON.stringify(metrics(1))}, step });`,
    );
  test("the metrics of a run keep whole steps, and go on after the step that was cut", () => {
    expect(append(4, 1)).toMatch(
      /^the disk is full: .*metrics\.jsonl could not be written \(what was written before is kept\): free some space, then continue with --resume$/,
    );
    const steps = readMetrics(folder).lines.map(it => it.step);
    expect(steps.length).toBeGreaterThan(10);
    expect(append(Infinity, steps.length + 1)).toBe("");
    const { lines } = readMetrics(folder);
    expect(lines.map(it => it.step)).toEqual(lines.map((_, i) => i + 1));
    expect(lines).toHaveLength(steps.length + 50);
  });

  const parts = { optimizer: 50_000, weights: 50_000, tokenizer: 50_000 };
  test.each(Object.keys(parts))("a checkpoint is written whole or not at all: %s", part => {
    const run = mkdtempSync(join(folder, "run-"));
    const size = (it: keyof typeof parts) => (it === part ? parts[it] : 1);
    const values = (count: number) => `new Map([["a", new Float32Array(${count})]])`;
    const save = (step: number, kilobytes: number) =>
      runLines(
        kilobytes,
        { saveCheckpoint: "train/checkpoint.ts" },
        `const values = new Float32Array(${size("weights")});
        await saveCheckpoint(${JSON.stringify(run)}, {
          step: ${step},
          spent: 1,
          weights: new Map([["a", { shape: [values.length], values }]]),
          optimizer: { step: ${step}, first: ${values(size("optimizer"))}, second: ${values(1)} },
        }, { kind: "student", config: { name: "m", training: [{}] }, tokenizer: { file: "x".repeat(${size("tokenizer")}) } });`,
      );
    expect(save(2, Infinity)).toBe("");
    expect(save(4, 16)).toMatch(
      /^the disk is full: .*checkpoints\/4 could not be written \(what was written before is kept\): free some space, then continue with --resume$/,
    );
    expect(listCheckpoints(run)).toEqual([2]);
    expect(readdirSync(join(run, "checkpoints"))).toEqual(["2"]);
    expect(save(4, Infinity)).toBe("");
    expect(listCheckpoints(run)).toEqual([2, 4]);
  });

  test("a trajectory that is saved again keeps its earlier content", () => {
    const file = join(folder, "a.trajectory.jsonl");
    const header = { id: "t", servers: [], catalog: "c", seed: 1, menu: [], policy: "p" };
    const save = (kilobytes: number, text: string) =>
      runLines(
        kilobytes,
        { writeTrajectory: "trajectory/file.ts" },
        `const events = [{ kind: "user", text: ${JSON.stringify(text)}.repeat(6000) }, { kind: "ended", by: "policy" }];
        await writeTrajectory(${JSON.stringify(file)}, { header: ${JSON.stringify(header)}, events });`,
      );
    expect(save(Infinity, "x")).toBe("");
    const before = readFileSync(file, "utf8");
    expect(save(4, "y")).toMatch(
      /^the disk is full: .*a\.trajectory\.jsonl could not be written \(the previous content is kept\): free some space, then run it again$/,
    );
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(readdirSync(folder).filter(it => it.startsWith("a."))).toEqual(["a.trajectory.jsonl"]);
  });
});
