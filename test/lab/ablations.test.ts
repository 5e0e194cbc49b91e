/** Ablations with tiny settings: what they print, and that they go on where they stopped. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ablations } from "./ablations.ts";
import { listRuns, readRun } from "../../src/run/folder.ts";
import { endTrainer } from "../train/endTrainer.ts";
import { runCommand, type CommandOutput } from "../cli/terminal.ts";

interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly runs: number;
}
type Intervals = Readonly<Record<"success" | "sampledSuccess" | "calls", Interval>>;
interface Document {
  readonly start: Intervals;
  readonly profiles: readonly {
    readonly name: string;
    readonly seeds: readonly number[];
    readonly outcomes: Intervals;
    readonly fromStart: Intervals;
    readonly fromPaper?: Intervals;
  }[];
}

const cwd = mkdtempSync(join(tmpdir(), "prove-ablations-"));
const out = join(cwd, "prove/ablations");
const run = (more: string) =>
  runCommand(ablations, `--profiles paper,paper-no-name --steps 1 --tasks 16 ${more}`.split(" "), {
    cwd,
  });
let first: CommandOutput;

beforeAll(async () => {
  first = await run("--heldout 8 --seeds 1");
});
afterAll(async () => {
  for (const it of listRuns(join(out, "runs"))) await endTrainer(it);
  rmSync(cwd, { recursive: true, force: true });
});

test("says how long it will take before it starts", () => {
  expect(first.code).toBe(0);
  expect(first.notes[0]).toMatch(
    /^2 trainings of 1 step \(2 reward profiles, 1 seed\), each measured on 8 held-out tasks: about 1 minute on/,
  );
});

test("started again, it trains only what is missing", async () => {
  const getTimes = () =>
    Object.fromEntries(readdirSync(out).map(it => [it, statSync(join(out, it)).mtimeMs] as const));
  rmSync(join(out, "paper-1.json"));
  const before = getTimes();
  const { out: lines } = await run("--heldout 8 --seeds 2 --json");
  const after = getTimes();
  const changed = Object.keys(after).filter(it => it !== "runs" && after[it] !== before[it]);
  expect(changed.toSorted()).toEqual(["paper-1.json", "paper-2.json", "paper-no-name-2.json"]);
  const { start, profiles } = JSON.parse(lines.join("")) as Document;
  expect(profiles.map(it => [it.name, it.seeds])).toEqual([
    ["paper", [1, 2]],
    ["paper-no-name", [1, 2]],
  ]);
  for (const { outcomes, fromStart } of profiles) {
    expect(outcomes.success.runs).toBe(2);
    expect(fromStart.calls.mean).toBeCloseTo(outcomes.calls.mean - start.calls.mean);
    expect(fromStart.success.low).toBeLessThanOrEqual(fromStart.success.high);
  }
  const [paper, ablation] = profiles;
  expect(paper!.fromPaper).toBeUndefined();
  expect(ablation!.fromPaper!.sampledSuccess.mean).toBeCloseTo(
    ablation!.outcomes.sampledSuccess.mean - paper!.outcomes.sampledSuccess.mean,
  );
});

test("compares the profiles", async () => {
  const { notes, out: lines } = await run("--heldout 8 --seeds 2");
  expect(notes[0]).toMatch(/^4 trainings of 1 step \(2 reward profiles, 2 seeds\)/);
  const text = lines.join("\n");
  expect(text).toMatch(/^ +runs +success +mean@8 +calls$/m);
  expect(text).toMatch(/^start +1 +[\d.]+% +[\d.]+% +[\d.]+$/m);
  expect(text).toMatch(/^paper-no-name +2 /m);
  expect(text).toMatch(
    /^paper-no-name compared with paper\n {2}success(?:: unchanged| [+−].*, 2 runs\): .*)\n {2}mean@8.*\n {2}calls.*$/m,
  );
  expect(
    listRuns(join(out, "runs"))
      .map(it => readRun(it))
      .map(it => `${it.profile} ${it.seed}`),
  ).toEqual(["paper 1", "paper 2", "paper-no-name 1", "paper-no-name 2"]);
});

test("refuses other settings on the same folder, and profiles that do not exist", async () => {
  await expect(run("--heldout 13")).rejects.toThrow(/holds ablations with other settings/);
  await expect(runCommand(ablations, ["--profiles", "paper-no-luck"], { cwd })).rejects.toThrow(
    "there is no reward profile paper-no-luck",
  );
});
