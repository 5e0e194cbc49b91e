/** What a task refuses or asks for can be met neither with its tools nor with what was said. */
import { beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/trajectory/task.ts";
import type { RejectedAttempt } from "../../../src/synthesis/pipeline/report/report.ts";
import { listDerivationNames } from "../../../src/synthesis/pipeline/menu/callSearch.ts";
import { catalog } from "../../contracts/transports.ts";
import { findAnswer } from "../exhaustiveAnswers.ts";

type UnmetCall = NonNullable<Task["turns"][number]["unmet"]>[number];

const listUnmet = (task: Task) =>
  task.turns.flatMap((it, turn) =>
    // what a rule forbids could be done, but must not be
    (it.unmet ?? []).flatMap(unmet => (unmet.rule === undefined ? [{ task, turn, unmet }] : [])),
  );

/** Tests that what tasks leave unmet cannot be met. */
export function testAnswerability(
  readTasks: () => readonly Task[],
  readRejected: () => readonly RejectedAttempt[],
): void {
  let tasks: readonly Task[];
  beforeAll(() => {
    tasks = readTasks();
  });
  test("every refusal and every question says what it leaves unmet", () => {
    // a request that no server has a tool for has no call
    for (const it of tasks.filter(({ knobs }) => knobs["abstention"] !== "cannot")) {
      const isExpected =
        it.kind === "irrelevant" ||
        it.kind === "clarify" ||
        it.info === "missing" ||
        it.knobs["abstention"] === "question";
      expect([it.id, listUnmet(it).length > 0]).toEqual([it.id, isExpected]);
    }
  });

  test("no call of the offered tools to depth two meets what a task leaves unmet", () => {
    const all = tasks.flatMap(listUnmet);
    expect(all.length).toBeGreaterThan(40);
    const answered = all.flatMap(({ task, turn, unmet }) => {
      const answer = findAnswer(task, turn, unmet);
      return answer === undefined ? [] : [`${task.id} ${unmet.name}: ${answer}`];
    });
    expect(answered).toEqual([]);
  });

  test("attempts that could be met are rejected", () => {
    expect(readRejected().map(it => it.reason)).toContain("answerable");
  });

  /** A request, the tools on offer, and whether they can meet it. */
  const cases: [user: string, unmet: UnmetCall, offered: string[], isMet: boolean][] = [
    [
      "What is on today?",
      { name: "calendar_get_agenda", arguments: {} },
      ["calendar_list_calendars", "calendar_list_events"],
      true,
    ],
    [
      "What is on today?",
      { name: "calendar_get_agenda", arguments: {} },
      ["calendar_list_calendars"],
      false,
    ],
    ["What is here?", { name: "filesystem_ls", arguments: {} }, ["filesystem_pwd"], false],
    [
      "Empty ~/notes/todo.md.",
      { name: "filesystem_truncate", arguments: { path: "~/notes/todo.md", lines: 1 } },
      ["filesystem_cat"],
      false,
    ],
    [
      "Make ~/new.txt.",
      { name: "filesystem_touch", arguments: { path: "~/new.txt" }, asks: "path" },
      [],
      true,
    ],
    [
      "Make a file.",
      { name: "filesystem_touch", arguments: { path: "~/new.txt" }, asks: "path" },
      [],
      false,
    ],
  ];
  test.each(cases)("%s %o %o", (user, unmet, offered, isMet) => {
    const [base] = tasks;
    const fixture = (name: string) => ({ name, fixture: "full", digest: "" });
    const reply = "Sorry, no.";
    const task: Task = {
      ...base!,
      servers: [fixture("calendar"), fixture("filesystem")],
      menu: offered.map(name => ({ name })),
      turns: [{ user, goals: [], reply, unmet: [unmet] }],
      trajectory: {
        ...base!.trajectory,
        events: [
          { kind: "user", text: user },
          { kind: "assistant", message: 0, text: reply },
        ],
      },
    };
    expect(findAnswer(task, 0, unmet) !== undefined).toBe(isMet);
  });

  test("all tools that replace others exist", () => {
    for (const it of listDerivationNames()) expect(catalog.tools.has(it), it).toBe(true);
  });
}
