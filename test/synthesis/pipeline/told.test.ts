/** The facts that a task says must be told: what the user's question asks for, and no more. */
import { beforeAll, expect, test } from "vitest";
import {
  judgesAnswers,
  type Fact,
  type GoalCall,
  type Task,
} from "../../../src/trajectory/task.ts";
import { catalog } from "../../contracts/transports.ts";
import { readSharedTasks } from "../synthesizeTasks.ts";

interface Answer {
  readonly task: Task;
  readonly turn: number;
  readonly call: GoalCall;
  readonly due: readonly Fact[];
}

let tasks: readonly Task[];
let answers: readonly Answer[];
beforeAll(async () => {
  tasks = (await readSharedTasks("realistic")).tasks.slice(0, 200);
  answers = tasks.flatMap(task =>
    task.goals.flatMap(({ calls, turn }) =>
      calls.flatMap(call =>
        call.for === "answers"
          ? [{ task, turn, call, due: call.facts!.filter(it => it.tell) }]
          : [],
      ),
    ),
  );
});

const getTold = (fact: Fact) => fact.tell!.value ?? fact.value;

test("most questions have something to tell, and only they", () => {
  expect(tasks.every(judgesAnswers)).toBe(true);
  expect(answers.filter(it => it.due.length > 0).length).toBeGreaterThan(answers.length / 2);
  for (const { calls } of tasks.flatMap(it => it.goals))
    for (const it of calls) if (it.for !== "answers") expect(it.facts ?? []).toEqual([]);
});

test("no word of a fixed set, no long text and no id must be told", () => {
  for (const { call, due } of answers)
    for (const fact of due) {
      const told = getTold(fact);
      const properties = catalog.tools.get(call.name)!.outputSchema["properties"];
      const schema = (properties as Record<string, { enum?: unknown }> | undefined)?.[
        fact.field ?? ""
      ];
      if (!["yes", "no", "none"].includes(fact.tell!.kind)) {
        expect(schema?.enum, `${call.name} ${fact.field}`).toBeUndefined();
        expect(typeof told).not.toBe("boolean");
      }
      if (fact.tell!.kind !== "name") continue;
      expect(String(told).length).toBeLessThanOrEqual(60);
      expect(told).not.toMatch(/^[a-z]+_\d+$/);
    }
});

test("of a list of more than ten rows, the number of rows must be told", () => {
  const long = answers.filter(({ call }) => {
    const rows = call.facts!.filter(it => it.entity !== undefined && it.field === undefined);
    return rows.length > 10;
  });
  for (const { due } of long) {
    expect(due.length).toBeLessThanOrEqual(1);
    for (const it of due) expect(it.tell).toMatchObject({ kind: "count" });
  }
});

test("what the user has said in the same turn need not be told", () => {
  const said = answers.flatMap(({ task, turn, due }) =>
    due.filter(
      it =>
        it.tell!.kind === "name" &&
        ` ${task.turns[turn]!.user} `.includes(` ${String(getTold(it))} `),
    ),
  );
  expect(said).toEqual([]);
});
