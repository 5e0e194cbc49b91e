/** Files of other software in the editor: recognized, listed, and read one attempt at a time. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Uri } from "vscode";
import { readAttempt } from "../../../src/editor/attempts/storedAttempt.ts";
import { defaultProfile } from "../../../src/reward/profiles.ts";
import { recognizeRollouts } from "../../../src/rollouts/recognizeRollouts.ts";
import type { AttemptRow } from "../../../src/run/attemptRow.ts";
import { scoreInBatches } from "../../../src/run/scoreAttempts.ts";
import { formatTranscript } from "../../../src/trajectory/transcript.ts";
import { catalog } from "../../contracts/transports.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-rollouts-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, ...rows: readonly unknown[]): string {
  const file = join(folder, name);
  const texts = rows.map(it => (typeof it === "string" ? it : JSON.stringify(it)));
  writeFileSync(file, texts.map(it => `${it}\n`).join(""));
  return file;
}

/** The rows of the table of a file, how many lines were left out, and what is said about it. */
async function list(file: string, format: string) {
  const rows: AttemptRow[] = [];
  const result = await scoreInBatches([{ kind: "rollouts", file, format }], {
    catalog,
    profile: defaultProfile,
    signal: new AbortController().signal,
    send: it => void rows.push(...it.rows),
  });
  return { rows, ...result };
}

/** The transcript of a row, read alone. */
async function show(file: string, format: string, row: AttemptRow): Promise<string> {
  const { line, attempt = 0, part } = row;
  const place = {
    attempt,
    ...(line.number === 0 ? {} : { line }),
    ...(part === undefined ? {} : { part }),
  };
  const query = JSON.stringify({ kind: "rollout", file, format, place });
  const uri = { path: "/transcripts/x/y.transcript", query } as Uri;
  const { trajectory } = await readAttempt(uri, () => Promise.resolve(undefined));
  return formatTranscript(trajectory).text;
}

const user = (content: string) => ({ role: "user", content });
const answer = { role: "assistant", content: "Hello." };
const chat = (text: string) => ({ messages: [user(text), answer] });
const trace = (text: string) => ({
  id: text,
  nodes: [
    { parent: null, message: user(text) },
    { parent: 0, message: answer },
  ],
});
const span = (text: string) => ({
  traceId: text,
  spanId: "1",
  attributes: [{ key: "gen_ai.prompt.0.content", value: { stringValue: text } }],
});

test.each([
  ["openai", "a.jsonl", [chat("one"), chat("two"), chat("three")]],
  ["openai", "whole.json", [JSON.stringify([chat("one"), chat("two"), chat("three")], null, 2)]],
  ["verifiers", "traces.jsonl", [{ traces: [trace("one"), trace("two")] }, trace("three")]],
  [
    "otlp",
    "otlp.jsonl",
    ["one", "two", "three"].map(it => ({
      resourceSpans: [{ scopeSpans: [{ spans: [span(it)] }] }],
    })),
  ],
])("%s: each attempt of %s is listed and shown alone", async (format, name, rows) => {
  const file = write(name, ...rows);
  expect((await recognizeRollouts(file)).name).toBe(format);
  const { rows: listed } = await list(file, format);
  expect(listed.map(it => [it.attempt, it.request])).toEqual([
    [0, "one"],
    [1, "two"],
    [2, "three"],
  ]);
  for (const it of listed) expect(await show(file, format, it)).toContain(it.request);
});

test("an archive of Inspect: the second sample alone", async () => {
  const file = join(import.meta.dirname, "../../cli/rollouts/sums.eval");
  expect((await recognizeRollouts(file)).name).toBe("inspect");
  const { rows } = await list(file, "inspect");
  expect(rows.map(it => [it.policy, it.calls, it.score])).toEqual([
    ["mockllm/model", 2, 1],
    ["mockllm/model", 2, 0],
  ]);
  // each row has a name to open it by
  expect(new Set(rows.map(it => it.task)).size).toBe(2);
  expect(rows.every(it => it.task !== "")).toBe(true);
  expect(await show(file, "inspect", rows[1]!)).toContain("add");
});

test("a damaged line is left out of the table, and its neighbors can be read", async () => {
  const file = write(
    "damaged.jsonl",
    chat("one"),
    "{damaged}",
    '{"messages": [{"role": "user", "content": "two"}], "reward": NaN}',
  );
  const { rows, skipped, notes } = await list(file, "openai");
  expect([rows.map(it => it.request), skipped]).toEqual([["one", "two"], 1]);
  expect(notes).toEqual([
    expect.stringMatching(/^damaged\.jsonl:2 is not JSON \(.*\) and was skipped$/),
    "NaN, Infinity and -Infinity are not JSON: 1 such value was read as null",
  ]);
  expect(await show(file, "openai", rows[1]!)).toContain("two");
});

test("of many damaged lines, the first are named", async () => {
  const file = write("many.jsonl", chat("one"), ...Array.from({ length: 50 }, () => "{damaged}"));
  const { rows, skipped, notes } = await list(file, "openai");
  expect([rows.length, skipped, notes!.length]).toEqual([1, 50, 8]);
  expect(notes!.map(it => /:(\d+) is not/.exec(it)?.[1] ?? it)).toEqual([
    "2",
    "3",
    "4",
    "5",
    "6",
    "…",
    "50",
    "51",
  ]);
});

test("a file that has changed since it was listed says so", async () => {
  const file = write("changed.jsonl", chat("one"), chat("two"));
  const { rows } = await list(file, "openai");
  writeFileSync(file, "{}\n");
  await expect(show(file, "openai", rows[1]!)).rejects.toThrow("has no attempt 2 any longer");
});

test.each([
  ["trl", { prompt: "a", completion: "b", reward: 1, advantage: 0 }],
  ["verl", { input: "user\nHi", output: "Hello." }],
  ["bfcl", { id: "simple_0", result: "[f()]" }],
  ["tau2", { simulations: [] }],
  ["atif", { schema_version: "ATIF-v1.4", steps: [] }],
  ["inspect", { id: 1, epoch: 1, messages: [] }],
  ["nemo-gym", { responses_create_params: { input: [] }, response: { output: [] } }],
  ["openai", { conversations: [] }],
  ["openai", [user("Hi"), answer]],
])("%s is recognized by its keys", async (format, row) => {
  expect((await recognizeRollouts(write("some.jsonl", row))).name).toBe(format);
});

test("other files are refused", async () => {
  await expect(recognizeRollouts(write("some.json", { a: 1 }))).rejects.toThrow(
    "does not begin like rollouts",
  );
});
