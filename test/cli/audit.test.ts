/** `audit`: the table of solvers, samples of a file, and files that are not as they should be. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { audit } from "../../src/cli/audit.ts";
import type { AuditSummary } from "../../src/evaluation/audit.ts";
import { solvers } from "../../src/evaluation/solvers/solvers.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import { abstain, balance, goal, moveFifty } from "../trajectory/sampleTasks.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

let folder: string;
let file: string;
let move: Task;

const write = (name: string, tasks: readonly Task[]): string => {
  const path = join(folder, name);
  writeFileSync(path, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
  return path;
};

beforeAll(async () => {
  folder = emptyFolder();
  move = await moveFifty();
  const refuse = await abstain();
  file = write("a.tasks.jsonl", [
    ...Array.from({ length: 4 }, (_, i) => ({ ...move, id: `move-${i}` })),
    { ...refuse, id: "refuse" },
  ]);
});

async function auditAsJson(...args: string[]) {
  const { code, out, notes } = await runCommand(audit, [...args, "--json"]);
  return {
    code,
    notes,
    summary: JSON.parse(out.join("\n")) as AuditSummary & { file: string; changed: number },
  };
}

describe("audit", () => {
  test("prints a row for each solver, and the attempts that went wrong", async () => {
    const { code, out } = await runCommand(audit, [file]);
    expect(code).toBe(0);
    expect(out[0]).toBe("5 of 5 tasks audited");
    const table = out.slice(out.findIndex(it => it.startsWith("solver ")));
    const title = (kind: string) => table.findIndex(it => it.startsWith(`${kind} ones`));
    const listNames = (from: number) =>
      table.slice(from + 1, table.indexOf("", from)).map(it => it.split(" ")[0]);
    for (const kind of ["right", "wasteful", "wrong"])
      expect(listNames(title(kind))).toEqual(
        solvers.filter(it => it.kind === kind).map(it => it.name),
      );
    expect(table[1]).toMatch(/^teacher +5 /);
    expect(table.find(it => it.startsWith("verifier"))).toMatch(/^verifier +4 +100\.0%/);
    expect(table.find(it => it.startsWith("skipper"))).toMatch(/^skipper +4 +0\.0%/);
    expect(table.find(it => it.startsWith("merger"))).toMatch(/^merger +0$/);
    for (const it of out) expect(it.length).toBeLessThanOrEqual(410);
  });

  test("prints the same as JSON", async () => {
    const { code, summary } = await auditAsJson(file, "--solver", "skipper");
    expect(code).toBe(0);
    expect(summary).toMatchObject({
      file,
      tasks: 5,
      audited: 5,
      changed: 0,
      unmet: { tasks: 0, examples: [] },
      gone: { tasks: 0, examples: [] },
      teacher: { reward: { paper: (4 * 1.3 + 1) / 5 }, calls: 8 / 5 },
    });
    expect(summary.solvers).toMatchObject([
      {
        solver: "skipper",
        kind: "wrong",
        tasks: 4,
        success: 0,
        reward: { paper: { mean: 1.05, ofTeacher: 1.05 / 1.3, losing: 1, gaining: 0 } },
        calls: 1,
        examples: [],
      },
    ]);
  });

  test("takes the first tasks, or a sample that depends on the seed", async () => {
    const count = async (...args: string[]) =>
      (await auditAsJson(file, "--solver", "lazy", ...args)).summary;
    expect((await count("--limit", "2")).tasks).toBe(2);
    expect((await count("--count", "3", "--seed", "4")).tasks).toBe(3);
    expect((await count("--count", "99")).tasks).toBe(5);
    expect(await count("--count", "2")).toEqual(await count("--count", "2"));
  });
});

describe("a file that is not as it should be", () => {
  test("tasks whose fixture or tools have changed are counted and played", async () => {
    const [server] = move.servers;
    const changed = write("changed.tasks.jsonl", [
      { ...move, id: "fixture", servers: [{ ...server!, digest: "0" }] },
      { ...move, id: "tools", catalog: "0" },
    ]);
    const { code, notes, summary } = await auditAsJson(changed, "--solver", "lister");
    expect([code, summary.audited, summary.changed]).toEqual([0, 2, 2]);
    expect(notes.join("\n")).toContain("fixture: the fixture small of banking has changed since");
    expect(notes.join("\n")).toContain("1 task: the tools of banking have changed since, and they");
  });

  test("tasks that cannot be opened are counted", async () => {
    const [server] = move.servers;
    const gone = write("gone.tasks.jsonl", [
      { ...move, id: "fixture", servers: [{ ...server!, fixture: "gone" }] },
      { ...move, id: "server", servers: [{ ...server!, name: "bank" }] },
      { ...move, id: "tool", menu: [...move.menu, { name: "banking_rob" }] },
      move,
    ]);
    const { code, summary } = await auditAsJson(gone, "--solver", "lister");
    expect([code, summary.audited, summary.gone.tasks]).toEqual([1, 1, 3]);
    expect(summary.gone.examples.map(it => it.task)).toEqual(["fixture", "server", "tool"]);
    expect(summary.gone.examples[1]!.why).toContain("there is no server bank");
  });

  test("tasks with a goal that no call meets are counted", async () => {
    const impossible = { ...balance, arguments: { account_id: "acc_999" } };
    const unmet = write("unmet.tasks.jsonl", [
      { ...move, id: "refused", goals: [...move.goals, goal([impossible])] },
      { ...move, id: "missing", goals: [...move.goals, goal([balance])] },
    ]);
    const { code, summary } = await auditAsJson(unmet, "--solver", "lister");
    expect([code, summary.audited, summary.unmet.tasks]).toEqual([1, 0, 2]);
    expect(summary.unmet.examples).toMatchObject([
      { task: "refused", why: expect.stringContaining("there is no account acc_999") },
      { task: "missing", why: expect.stringMatching(/banking_get_balance.* was not called/) },
    ]);
    const { out } = await runCommand(audit, [unmet]);
    expect(out.join("\n")).toContain("2 tasks whose own teacher fails: a goal that no call meets");
  });

  test("anything but tasks is refused with its line", async () => {
    const path = join(folder, "other.jsonl");
    writeFileSync(path, '{"format":"prove/rejected@1"}\n');
    await expect(runCommand(audit, [path])).rejects.toThrow(/other\.jsonl:1/);
    await expect(runCommand(audit, [path, "--count", "1"])).rejects.toThrow(/other\.jsonl:1/);
    writeFileSync(path, "");
    await expect(runCommand(audit, [path])).rejects.toThrow(/holds no tasks/);
    await expect(runCommand(audit, ["nowhere.jsonl"])).rejects.toThrow(/no file or folder/);
    await expect(runCommand(audit, [file, "--solver", "listr"])).rejects.toThrow(
      /there is no solver listr.*lister/,
    );
  });

  test("an interruption stops the audit", async () => {
    const stop = new AbortController();
    const showProgress = () => stop.abort(new Error("interrupted"));
    await expect(runCommand(audit, [file], { signal: stop.signal, showProgress })).rejects.toThrow(
      "interrupted",
    );
  });
});
