/** `synthesize` as a person uses it: the same bytes for the same seed, going on after a stop, and clear mistakes. */
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { synthesize } from "../../src/cli/synthesize.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

const make = (cwd: string, ...args: string[]) => runCommand(synthesize, args, { cwd });
const text = (cwd: string, file: string) => readFileSync(join(cwd, file), "utf8");

test("writes as many tasks as asked for, and says what became of the others", async () => {
  const cwd = emptyFolder();
  const { code, out } = await make(cwd, "--out", "tasks/a.tasks.jsonl", "--count", "30", "--seed", "5");
  expect(code).toBe(0);
  expect(text(cwd, "tasks/a.tasks.jsonl").split("\n")).toHaveLength(31);
  expect(out[0]).toMatch(/^30 tasks in .*a\.tasks\.jsonl \([\d.]+ s\)$/);
  expect(out[1]).toMatch(/by server: \w+ \d+, \w+ \d+, \w+ \d+/);
  expect(out[2]).toMatch(/by split: train \d+, heldout-chain \d+/);
  expect(out[3]).toMatch(/rejected: \w+/);
});

test("the same seed writes the same bytes, whether in one go or two, over a torn line too", async () => {
  const cwd = emptyFolder();
  const options = ["--seed", "6", "--servers", "banking,filesystem"];
  await make(cwd, "--out", "whole.jsonl", "--count", "12", ...options);
  await make(cwd, "--out", "parts.jsonl", "--count", "7", ...options);
  appendFileSync(join(cwd, "parts.jsonl"), '{"format":"prove/ta');
  const { said, out } = await make(cwd, "--out", "parts.jsonl", "--count", "12", "--resume", ...options);
  expect(said.join()).toMatch(/ended in a torn line, which was cut off/);
  expect(out[0]).toMatch(/^12 tasks/);
  expect(text(cwd, "parts.jsonl")).toBe(text(cwd, "whole.jsonl"));
});

test("--resume writes nothing more to a file that is long enough", async () => {
  const cwd = emptyFolder();
  await make(cwd, "--out", "a.jsonl", "--count", "5", "--servers", "banking");
  const before = text(cwd, "a.jsonl");
  await make(cwd, "--out", "a.jsonl", "--count", "3", "--servers", "banking", "--resume");
  expect(text(cwd, "a.jsonl")).toBe(before);
});

test("--json reports in one document", async () => {
  const { out } = await make(emptyFolder(), "--out", "a.jsonl", "--count", "4", "--servers", "calendar", "--split", "train", "--json");
  expect(JSON.parse(out.join("\n"))).toMatchObject({ accepted: 4, splits: { train: 4 }, servers: { calendar: 4 } });
});

describe("mistakes", () => {
  const cases: [what: string, args: string[], text: RegExp][] = [
    ["no file", ["--count", "3"], /needs a file to write to: add --out/],
    ["no count", ["--out", "a.jsonl"], /how many tasks to make: add --count/],
    ["no tasks", ["--out", "a.jsonl", "--count", "0"], /--count 0 is not a number of tasks/],
    ["a count in words", ["--out", "a.jsonl", "--count", "many"], /--count many is not a number of tasks/],
    ["a seed in words", ["--out", "a.jsonl", "--count", "3", "--seed", "lucky"], /--seed lucky is not a whole number/],
    ["an unknown server", ["--out", "a.jsonl", "--count", "3", "--servers", "banking,bank"], /there is no server bank: choose one of banking/],
    ["no server", ["--out", "a.jsonl", "--count", "3", "--servers", ","], /--servers names no server/],
    ["an unknown split", ["--out", "a.jsonl", "--count", "3", "--split", "test"], /there is no split test: choose train or heldout-chain/],
    ["an unknown menu", ["--out", "a.jsonl", "--count", "3", "--menu", "long"], /there is no menu long: choose chain or full/],
    ["an unknown teacher", ["--out", "a.jsonl", "--count", "3", "--teacher", "me"], /there is no teacher me/],
    ["something more", ["more", "--out", "a.jsonl", "--count", "3"], /synthesize takes no more/],
  ];
  test.each(cases)("%s", async (_, args, words) => {
    await expect(make(emptyFolder(), ...args)).rejects.toThrow(words);
  });

  test("a file that is there already is left alone", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "a.jsonl"), "mine\n");
    await expect(make(cwd, "--out", "a.jsonl", "--count", "3")).rejects.toThrow(/a\.jsonl exists already: add --resume/);
    expect(text(cwd, "a.jsonl")).toBe("mine\n");
  });

  test("going on with other options says so and adds nothing", async () => {
    const cwd = emptyFolder();
    await make(cwd, "--out", "a.jsonl", "--count", "3", "--seed", "1", "--servers", "banking");
    const before = text(cwd, "a.jsonl");
    await expect(make(cwd, "--out", "a.jsonl", "--count", "6", "--seed", "2", "--servers", "banking", "--resume")).rejects.toThrow(/was made with other options/);
    expect(text(cwd, "a.jsonl")).toBe(before);
  });

  test("a file cut short by hand is made whole again", async () => {
    const cwd = emptyFolder();
    await make(cwd, "--out", "a.jsonl", "--count", "3", "--servers", "banking");
    const before = text(cwd, "a.jsonl");
    truncateSync(join(cwd, "a.jsonl"), before.indexOf("\n") + 1);
    await make(cwd, "--out", "a.jsonl", "--count", "3", "--servers", "banking", "--resume");
    expect(text(cwd, "a.jsonl")).toBe(before);
  });
});
