/** `import`: damaged rows lose themselves only, and what Python writes as JSON is read. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importTasks } from "../../../src/cli/import.ts";
import { emptyFolder } from "../program.ts";
import { runCommand } from "../terminal.ts";
import { importFile } from "./importFile.ts";

const cwd = emptyFolder();

const write = (name: string, text: string): string => {
  writeFileSync(join(cwd, name), text);
  return name;
};

const rowOf = (score: string) =>
  `{"input":"user\\nHi\\nassistant\\n","output":"Hello.","score":${score},"step":1}`;
const [one, two, three] = ["1", "2", "3"].map(rowOf) as [string, string, string];
const chatOf = (text: string) =>
  `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":${text}}]}`;

/** Imports rows of verl and checks the scores and the remarks, from the line number on. */
async function check(text: string, scores: readonly number[], ...remarks: readonly RegExp[]) {
  const ran = await importFile(cwd, "verl", write("rows.jsonl", text));
  expect(ran.scores).toEqual(scores);
  expect(ran.report.skipped).toBe(remarks.length);
  expect(ran.code).toBe(remarks.length > 0 ? 1 : 0);
  const places = ran.notes.map(it => it.slice(it.indexOf("rows.jsonl:") + "rows.jsonl:".length));
  expect(places).toEqual(remarks.map(it => expect.stringMatching(it)));
}

describe("a damaged line of JSON Lines loses itself only", () => {
  test.each([
    ["begins with something else", `Loading…${one}`],
    ["lacks a bracket", one.slice(0, -1)],
    ["was cut off in a text", one.slice(0, 20)],
    ["was cut off after a comma", one.slice(0, one.indexOf('"output"'))],
    ["was cut off after its first bracket", "{"],
    ["was cut off before a value", one.slice(0, '{"input":'.length)],
    ["has a comma at its end", one.replace("}", ",}")],
    ["has single quotes, as Python prints values", one.replaceAll('"', "'")],
    ["has zeros", "\0\0\0\0"],
  ])("the first line, which %s", (_, damaged) =>
    check(`${damaged}\n${two}\n${three}\n`, [2, 3], /^1 is not JSON \(.+\) and was skipped$/),
  );

  test("a line in the middle, with the true reason", () =>
    check(
      `${one}\n{"input":"Hi" "output":""}\n\n${three}\n`,
      [1, 3],
      /^2 is not JSON \(Expected ',' .+ at position 14\) and was skipped$/,
    ));

  test("a line that is too long", async () => {
    const long = `{"input":"${"a".repeat(65 * 2 ** 20)}"}`;
    await check(`${one}\n${long}\n${three}\n`, [1, 3], /^2 is longer than 64 MiB and was skipped$/);
    await check(`${long}\n${two}\n`, [2], /^1 is longer than 64 MiB and was skipped$/);
  });

  test("a last line that was cut off is called torn, and another is not", async () => {
    await check(`${one}\n${two.slice(0, -4)}`, [1], /^2 is torn \(a write was cut off\) and/);
    await check(`${one}\n{"score":NaN,"in`, [1], /^2 is torn/);
    await check(`${one}\n{"input":nothing}`, [1], /^2 is not JSON \(Unexpected token 'o'/);
  });

  test("a line break inside a text damages the two lines that it makes", () =>
    check(
      `${one.replace("Hello.", "Hello,\nyou.")}\n${two}\n`,
      [2],
      /^1 is not JSON \(Unterminated string/,
      /^2 is not JSON/,
    ));

  test("a first message that was cut off is not continued by the next row", async () => {
    const cut = chatOf('"x"').slice(0, chatOf('"x"').indexOf('{"role":"assistant"'));
    const file = write("chat.jsonl", `${cut}\n${chatOf('"a"')}\n${chatOf('"b"')}\n`);
    const { report, notes } = await importFile(cwd, "openai", file);
    expect([report.imported, report.skipped]).toEqual([2, 1]);
    expect(notes[0]).toContain("chat.jsonl:1 is not JSON");
  });

  test("in each file of a folder", async () => {
    mkdirSync(join(cwd, "steps"));
    write("steps/1.jsonl", `nothing\n${one}\n`);
    write("steps/2.jsonl", `${two}\n${three.slice(0, 9)}`);
    const { code, scores, notes } = await importFile(cwd, "verl", "steps");
    expect([code, scores]).toEqual([1, [1, 2]]);
    expect(notes).toEqual([
      expect.stringContaining("1.jsonl:1 is not JSON"),
      expect.stringContaining("2.jsonl:2 is torn"),
    ]);
  });

  test("nothing but damaged lines is no error of its own", () =>
    check("no\nJSON\n", [], /^1 is not JSON/, /^2 is not JSON/));

  test("a row of a data set", async () => {
    const row = JSON.stringify({
      tools: [],
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello." },
      ],
    });
    const file = write("set.jsonl", `${row}\n{"tools":\n${row}\n`);
    const args = ["when2call", file, "--out", "set.tasks.jsonl"];
    const { code, out, notes } = await runCommand(importTasks, args, { cwd });
    expect([code, out.join()]).toEqual([
      1,
      expect.stringMatching(/^2 tasks .*; 1 skipped: not JSON/),
    ]);
    expect(notes).toEqual([expect.stringContaining("set.jsonl:2 is not JSON (Unexpected end")]);
  });
});

describe("documents", () => {
  const documentOf = (...rows: readonly string[]) =>
    JSON.stringify(
      rows.map(it => JSON.parse(it) as unknown),
      null,
      2,
    );

  test.each([
    ["over many lines", documentOf(one, two)],
    ["with a row on each line", `[\n${one},\n${two}\n]\n`],
    ["with rows after the bracket", `[${one},\n${two}]`],
    ["in one line", `[${one},${two}]\n`],
    ["with a byte order mark", `\uFEFF${documentOf(one, two)}`],
    ["with line breaks of Windows", documentOf(one, two).replaceAll("\n", "\r\n")],
  ])("%s are read as before", (_, text) => check(text, [1, 2]));

  test("JSON Lines may begin with a byte order mark", () =>
    check(`\uFEFF${one}\r\n${two}\r\n`, [1, 2]));

  test("of many rows in one long line", async () => {
    const long = Array.from({ length: 2_000 }, () => rowOf(`1,"more":"${"a".repeat(34_000)}"`));
    const name = write("long.json", `[${long.join(",")}]`);
    const { code, report } = await importFile(cwd, "verl", name);
    expect([code, report.imported]).toEqual([0, 2_000]);
  });

  test("one row alone is a document or a line", async () => {
    await check(JSON.stringify(JSON.parse(one), null, 2), [1]);
    await check(one, [1]);
  });

  test("a damaged row loses itself, and the range of its lines is named", () =>
    check(
      documentOf(one, two, three).replace('"score": 2', '"score": two'),
      [1, 3],
      /^8 is not JSON \(Unexpected token .+\), nor are the 5 lines after it, and was skipped$/,
    ));

  test("an end that is missing is named", () =>
    check(documentOf(one, two).slice(0, -1), [1, 2], /^14 is torn/));

  test("what is wrong after the rows is named", () =>
    check(`${documentOf(one, two)}\nthe end`, [1, 2], /^15 is not JSON after its rows/));
});

describe("what Python writes", () => {
  const note = (count: string) =>
    expect.stringMatching(
      new RegExp(`^NaN, Infinity and -Infinity are not JSON: ${count} read as null$`),
    );

  test.each([
    ["lines", `${rowOf("NaN")}\n${rowOf("-Infinity")}\n${rowOf("Infinity")}\n${one}\n`],
    ["a document", `[\n${["NaN", "-Infinity", "Infinity", "1"].map(rowOf).join(",\n")}\n]`],
    ["a document in one line", `[${["NaN", "-Infinity", "Infinity", "1"].map(rowOf).join()}]`],
  ])("NaN and Infinity are no score, and are counted once: %s", async (_, text) => {
    const { code, scores, notes } = await importFile(cwd, "verl", write("nan.jsonl", text));
    expect([code, scores]).toEqual([0, [null, null, null, 1]]);
    expect(notes).toEqual([note("3 such values were")]);
  });

  test("in any column, and not in texts", async () => {
    const rows = `${chatOf('"NaN, -Infinity and \\"NaN\\""').replace(/}$/, ',"loss":NaN}')}\n`;
    const { report, notes } = await importFile(cwd, "openai", write("text.jsonl", rows));
    expect([report.imported, report.skipped]).toEqual([1, 0]);
    expect(notes).toEqual([note("1 such value was")]);
  });

  test("texts that are numbers are numbers, and other texts are refused", async () => {
    const scores = ['"1"', '" -0.5 "', '"1e-07"', '"nan"', '"-inf"', '""', "null"];
    const rows = write("texts.jsonl", scores.map(rowOf).join("\n").replaceAll('":1}', '":"1"}'));
    const read = await importFile(cwd, "verl", rows);
    expect(read.scores).toEqual([1, -0.5, 1e-7, null, null, null, null]);
    const wrong = importFile(cwd, "verl", write("wrong.jsonl", rowOf('"good"')));
    await expect(wrong).rejects.toThrow("wrong.jsonl:1 is not a row of verl's rollouts: at /score");
  });

  test("Inspect's grades may be numbers in texts, or missing", async () => {
    const sampleOf = (value: string) =>
      `{"id":${value.length},"epoch":1,"messages":[],"scores":{"m":{"value":${value}}}}`;
    const values = ['"C"', '"0.25"', "true", "NaN", '"toString"'];
    const log = `{"version":2,"samples":[${values.map(sampleOf).join()}]}`;
    const { scores } = await importFile(cwd, "inspect", write("log.json", log));
    expect(scores).toEqual([1, 0.25, 1, null, null]);
    const heading = write("heading.json", '{"version": 2, "eval": {}, "results": {}}');
    await expect(importFile(cwd, "inspect", heading)).rejects.toThrow("holds no rollouts");
  });
});

describe("the reward of a row of TRL", () => {
  const check = async (row: object, score: number | null) => {
    const file = write("trl.jsonl", JSON.stringify({ prompt: "Hi", completion: "Hello.", ...row }));
    expect((await importFile(cwd, "trl", file)).scores).toEqual([score]);
  };

  test("is the column `reward`, wherever it is", async () => {
    await check({ example_id: 0, reward: 1 }, 1);
    await check({ length: 7, advantage: 0.5, reward: "0.25" }, 0.25);
    await check({ format: 0, reward: 1, advantage: 0.5 }, 1);
  });
  test("is the first column between completion and advantage", () =>
    check({ accuracy: 0.5, format: 1, task_id: "t", turn: -1, advantage: 0.1, step: 3 }, 0.5));
  test("is missing where that column is null, and is no other number", async () => {
    await check({ accuracy: null, format: 1, advantage: 0.1 }, null);
    await check({ reward: null, accuracy: 1, advantage: 0.1 }, null);
    await check({ example_id: 0 }, null);
    await check({ advantage: 0.1, example_id: 3 }, null);
    await check({ step: 3, seed: 7, turn: 0 }, null);
  });
});
