/**
 * Attacks through text that the terminal program prints: escape sequences and reordered characters.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { root } from "../contracts/transports.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-security-"));
  return () => rmSync(folder, { recursive: true });
});

/** Sets the window's title, erases the line, the same with C1 characters, and reverses the text. */
const attack = "\u001b]0;owned\u0007\u001b[2K\r\u009b2K\u009d0;owned\u009c\u202eevil\u2066\u007f";
const dangerous =
  /[\0-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** The value with the attack at the end of its nth text, and of every text if n is not given. */
function poison(value: unknown, n?: number): { readonly value: unknown; readonly count: number } {
  let count = 0;
  const visit = (it: unknown): unknown => {
    if (typeof it === "string") return n === undefined || count++ === n ? it + attack : it;
    if (Array.isArray(it)) return it.map(visit);
    if (it === null || typeof it !== "object") return it;
    return Object.fromEntries(Object.entries(it).map(([key, child]) => [key, visit(child)]));
  };
  return { value: visit(value), count };
}

const example = join(root, "resources/example/prove/tasks/example.tasks.jsonl");

/** Writes tasks files that have the attack in one text of a task, a file for each text. */
function writePoisonedTasks(): string[] {
  const task: unknown = JSON.parse(readFileSync(example, "utf8").split("\n")[0]!);
  const { count } = poison(task, -1);
  expect(count).toBeGreaterThan(100);
  const values = Array.from({ length: count }, (_, n) => poison(task, n).value);
  const lines = [task, ...values, poison(task).value].map(it => JSON.stringify(it));
  // not JSON: the error quotes the text
  lines.push(`{"id": ${attack}}`);
  return lines.map((line, i) => {
    writeFileSync(join(folder, `${i}.tasks.jsonl`), `${line}\n`);
    return `${i}.tasks.jsonl`;
  });
}

function run(...args: readonly string[]) {
  const { stdout, stderr } = spawnSync(process.execPath, [join(root, "dist/cli.js"), ...args], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  return { stdout, stderr };
}

test.each(["replay", "score", "score --show", "replay --json", "score --json"])(
  "a tasks file does not control the terminal through %s",
  command => {
    const [name = "", ...options] = command.split(" ");
    const { stdout, stderr } = run(name, ...writePoisonedTasks(), ...options);
    expect(stdout).toContain("evil");
    expect(stdout).not.toMatch(dangerous);
    expect(stderr).not.toMatch(dangerous);
    if (!options.includes("--json")) return;
    // JSON keeps the characters, escaped
    const rows = stdout.trimEnd().split("\n");
    const texts = rows.flatMap(it => Object.values(JSON.parse(it) as Record<string, unknown>));
    expect(texts.flat()).toContainEqual(expect.stringContaining(attack));
  },
);

test.each([
  ["a file's name", ["replay", `none${attack}.tasks.jsonl`]],
  ["an argument", ["call", `banking_get_balance${attack}`]],
  ["an option", ["replay", `--jsön${attack}`]],
])("an error does not control the terminal through %s", (_, args) => {
  const { stdout, stderr } = run(...args);
  expect(stderr).toContain("evil");
  expect(stdout + stderr).not.toMatch(dangerous);
});
