/**
 * The content of the synthesis page from a tasks file and the files beside it, and the description
 * of a rejected attempt.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  indexRejected,
  describeRejectedAttempt,
} from "../../../src/editor/attempts/rejectedAttempts.ts";
import { listRejected, createSynthesisView } from "../../../src/editor/synthesis/synthesisView.ts";
import {
  rejectedFormat,
  formatRejected,
  reportFormat,
  type RejectedAttempt,
  type Report,
} from "../../../src/synthesis/pipeline/report/report.ts";
import { formatTaskLine } from "../../../src/trajectory/task.ts";
import { moveFifty } from "../../trajectory/sampleTasks.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-synthesis-view-"));
afterAll(() => rmSync(folder, { recursive: true }));

const turnLog =
  "query -text-> check-query -sound-> turn -said-> ask -text-> respond -answered-> continue";
const createRejected = (id: string, change: Partial<RejectedAttempt>): RejectedAttempt => ({
  format: rejectedFormat,
  id,
  servers: ["banking", "calendar"],
  kind: "normal",
  chain: ["banking_list_accounts", "banking_transfer"],
  reason: "duplicate",
  why: "a task kept before makes nearly the same calls",
  log: [`${turnLog} -end-> finish`],
  events: [{ kind: "user", text: "Move 50 euros." }],
  ...change,
});
const namesTool = createRejected("r-2", {
  reason: "query",
  why: "it names a tool",
  log: [
    "query -text-> check-query -it names a tool-> query#2 -text-> check-query#2 -it names a tool-> reject",
  ],
  events: [],
});
const withoutChain = createRejected("r-3", {
  reason: "chain",
  why: "no chain here",
  chain: [],
  log: [],
  events: [],
});

let n = 0;
/** Writes a tasks file with the files beside it. Returns its path. */
const writeSynthesis = async (report?: Report) => {
  const subfolder = join(folder, String(++n));
  mkdirSync(subfolder);
  const task = await moveFifty();
  const taskWithLog = {
    ...task,
    provenance: {
      ...task.provenance,
      log: [`${turnLog} -follow-up-> query`, `${turnLog} -end-> finish`],
    },
  };
  writeFileSync(join(subfolder, "few.tasks.jsonl"), `${formatTaskLine(taskWithLog)}\n`);
  const rejected = [createRejected("r-1", {}), namesTool, withoutChain];
  writeFileSync(
    join(subfolder, "few.rejected.jsonl"),
    rejected.map(it => `${formatRejected(it)}\n`).join(""),
  );
  if (report) writeFileSync(join(subfolder, "few.report.json"), JSON.stringify(report));
  return join(subfolder, "few.tasks.jsonl");
};

test("without a report, the logs of tasks and of rejected attempts are counted", async () => {
  const view = await createSynthesisView(await writeSynthesis());
  expect(view).toMatchObject({
    name: "few",
    from: "tasks",
    attempts: 4,
    accepted: 1,
    rejected: [
      ["chain", 1],
      ["duplicate", 1],
      ["query", 1],
    ],
  });
  const countTransitions = (from: string, to: string) =>
    view.transitions
      .filter(it => it.from === from && it.to === to)
      .reduce((sum, it) => sum + it.n, 0);
  expect({
    checked: countTransitions("check-query", "turn"),
    followUps: countTransitions("continue", "query"),
    rejected: countTransitions("check-query", "reject"),
    accepted: countTransitions("finish", "accept"),
    filtered: countTransitions("finish", "reject"),
  }).toEqual({ checked: 2, followUps: 1, rejected: 1, accepted: 1, filtered: 1 });
});

test("only the new tasks of a file that has grown are counted", async () => {
  const file = await writeSynthesis();
  const before = await createSynthesisView(file);
  writeFileSync(file, `${formatTaskLine(await moveFifty())}\n`, { flag: "a" });
  const after = await createSynthesisView(file);
  expect([before.accepted, after.accepted]).toEqual([1, 2]);
  expect(after.transitions.find(it => it.to === "turn")!.n).toBeGreaterThanOrEqual(
    before.transitions.find(it => it.to === "turn")!.n,
  );
});

test("with a report, the filter rejects the finished conversations that were not accepted", async () => {
  const report: Report = {
    format: reportFormat,
    options: {
      count: 10,
      seed: 1,
      servers: ["banking"],
      teacher: "graph",
      preset: "paper",
      menu: "chain",
    },
    attempts: 15,
    accepted: 10,
    by: { turns: { "3": 6, "2": 4 }, kind: { clarify: 3, normal: 7 } },
    rejected: { query: 1, duplicate: 4 },
    transitions: [{ from: "continue", event: "end", to: "finish", n: 14 }],
    diversity: { distinct: [0.25, 0.5], turns: 2000 },
  };
  expect(await createSynthesisView(await writeSynthesis(report))).toMatchObject({
    from: "report",
    attempts: 15,
    transitions: [{ n: 14 }, { to: "accept", n: 10 }, { from: "finish", to: "reject", n: 4 }],
    rejected: [
      ["duplicate", 4],
      ["query", 1],
    ],
    composition: [
      {
        name: "turns",
        counts: [
          ["2", 4],
          ["3", 6],
        ],
      },
      {
        name: "kind",
        counts: [
          ["normal", 7],
          ["clarify", 3],
        ],
      },
    ],
    diversity: [
      ["distinct-1", "0.250"],
      ["distinct-2", "0.500"],
      ["turns", "2,000"],
    ],
  });
});

const checkRejected = async (
  choice: { reason?: string; from?: string },
  expected: readonly string[],
) =>
  expect((await listRejected(await writeSynthesis(), choice)).map(it => it.id)).toEqual(expected);

test("rejected attempts are listed by reason", () =>
  checkRejected({ reason: "duplicate" }, ["r-1"]));
test("rejected attempts are listed by the state in which they were rejected", () =>
  checkRejected({ from: "check-query" }, ["r-2"]));
test("attempts that reached the last state were rejected by the filter", () =>
  checkRejected({ from: "finish" }, ["r-1"]));

test("a line that is not a rejected attempt is skipped with a reason", async () => {
  const file = join(folder, "odd.rejected.jsonl");
  writeFileSync(file, `{"format":"prove/rejected@9"}\n${formatRejected(withoutChain)}\n`);
  expect(await indexRejected(file)).toMatchObject({
    entries: [{ id: "r-3" }],
    skipped: [
      {
        line: 1,
        reason: "its format is prove/rejected@9, and this version reads prove/rejected@1",
      },
    ],
  });
});

test("a rejected attempt is described by its reason and its transitions", () => {
  expect(describeRejectedAttempt(namesTool)).toEqual({
    head: [
      "attempt r-2 · banking, calendar · normal · rejected",
      "reason: query",
      "chain: banking_list_accounts → banking_transfer",
    ],
    closing: [
      "rejected: query, it names a tool",
      "",
      "log of turn 1",
      "    query                    text            → check-query",
      "    check-query              it names a tool → query",
      "    query (attempt 2)        text            → check-query",
      "    check-query (attempt 2)  it names a tool → reject",
    ],
  });
});
