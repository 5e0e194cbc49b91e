/** The filter rejects invalid tasks with a reason, and duplicates. */
import { beforeAll, expect, test } from "vitest";
import { DuplicateFilter, findRejection } from "../../../src/synthesis/pipeline/task/filter.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { CallEvent } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { readSharedTasks } from "../synthesizeTasks.ts";

let tasks: Task[];
beforeAll(async () => {
  const student = await readSharedTasks("student");
  tasks = student.tasks.filter(it => it.servers[0]!.name === "banking");
});

const findTaskWith = (name: string) =>
  tasks.find(it => it.goals.some(goal => goal.calls.some(call => call.name === name)))!;

/** A copy of a task with changed calls or a changed first user turn. */
function changeTask(
  task: Task,
  {
    calls = (it: CallEvent) => it,
    say = (it: string) => it,
  }: { calls?: (it: CallEvent, i: number) => CallEvent; say?: (it: string) => string },
): Task {
  let n = 0;
  const turns = task.turns.map((it, i) => (i === 0 ? { ...it, user: say(it.user) } : it));
  let user = 0;
  const events = task.trajectory.events.map(it =>
    it.kind === "call"
      ? calls(it, n++)
      : it.kind === "user"
        ? { ...it, text: turns[user++]!.user }
        : it,
  );
  return { ...task, turns, trajectory: { ...task.trajectory, events } };
}

const transfer = () => findTaskWith("banking_transfer");
const getSourceAccount = (task: Task) =>
  task.goals.flatMap(it => it.calls).find(it => it.name === "banking_transfer")!.arguments[
    "from_account"
  ] as string;

const cases: [what: string, task: () => Task, reason: string, why: RegExp][] = [
  [
    "a call with another result",
    () =>
      changeTask(transfer(), {
        calls: (it, i) =>
          i === 0 ? { ...it, outcome: { kind: "ok", value: { accounts: [] } } } : it,
      }),
    "replay",
    /call 0 \(banking_list_accounts\) answers otherwise/,
  ],
  [
    "a call with another state",
    () => changeTask(transfer(), { calls: it => ({ ...it, digest: "0" }) }),
    "replay",
    /call 0/,
  ],
  [
    "a task with too many failed calls",
    () =>
      changeTask(transfer(), {
        calls: (it, i) => (i % 2 ? it : { ...it, outcome: { kind: "refused", message: "no" } }),
      }),
    "errors",
    /calls failed/,
  ],
  [
    "a tool named by the user",
    () => changeTask(transfer(), { say: it => `${it} Use banking_transfer.` }),
    "leak",
    /the user says banking_transfer/,
  ],
  [
    "an id that users do not say",
    () => changeTask(transfer(), { say: it => `${it} It is ${getSourceAccount(transfer())}.` }),
    "leak",
    /the user says the id acc_/,
  ],
  [
    "the arguments of a call in the user's text",
    () =>
      changeTask(transfer(), {
        say: it => `${it} ${JSON.stringify(transfer().goals.at(-1)!.calls.at(-1)!.arguments)}`,
      }),
    "leak",
    /the user says/,
  ],
];
test.each(cases)("%s is rejected", (_, task, reason, why) => {
  const rejection = findRejection(task(), catalog);
  expect(rejection?.reason).toBe(reason);
  expect(rejection?.why).toMatch(why);
});

test("a secret without a source is rejected", () => {
  const task = findTaskWith("banking_unfreeze_card");
  const digits = task.goals.flatMap(it => it.calls).find(it => it.name === "banking_unfreeze_card")!
    .arguments["last_digits"] as string;
  const hidden: Task = {
    ...changeTask(task, {
      calls: it =>
        it.name === "banking_get_account" ? { ...it, outcome: { kind: "ok", value: "…" } } : it,
    }),
    turns: task.turns.map(it => ({ ...it, user: it.user.replaceAll(digits, "xxxx") })),
  };
  const events = hidden.trajectory.events.map(it =>
    it.kind === "user" ? { ...it, text: it.text.replaceAll(digits, "xxxx") } : it,
  );
  // without the changed call, which would fail to replay
  const replayable = {
    ...hidden,
    trajectory: {
      ...hidden.trajectory,
      events: events.filter(it => it.kind !== "call" || it.name !== "banking_get_account"),
    },
  };
  expect(findRejection(replayable, catalog)).toEqual({
    reason: "provenance",
    why: "banking_unfreeze_card uses a last_digits that nobody gave",
  });
});

test("accepted tasks pass", () => {
  expect(tasks.map(it => findRejection(it, catalog))).toEqual(tasks.map(() => undefined));
});

test("of tasks with nearly the same calls, only the first is added", () => {
  const filter = new DuplicateFilter();
  const four = tasks.find(
    it => it.trajectory.events.filter(event => event.kind === "call").length === 4,
  )!;
  const changeCalls = (count: number) =>
    changeTask(four, { calls: (it, i) => (i < count ? { ...it, arguments: { other: i } } : it) });
  expect(filter.addIfNew(four)).toBe(true);
  expect(filter.addIfNew({ ...four, id: "again" })).toBe(false);
  // three of five calls in common is 0.6; all four of five would be 0.8
  expect(filter.addIfNew(changeCalls(1))).toBe(true);
  const five: Task = {
    ...four,
    trajectory: {
      ...four.trajectory,
      events: [
        ...four.trajectory.events,
        {
          ...(four.trajectory.events.find(it => it.kind === "call") as CallEvent),
          arguments: { extra: true },
        },
      ],
    },
  };
  expect(filter.addIfNew(five)).toBe(false);
});

test("tasks with the same calls on different fixtures are not duplicates", () => {
  const filter = new DuplicateFilter();
  const [task] = tasks as [Task];
  expect(filter.addIfNew(task)).toBe(true);
  expect(
    filter.addIfNew({
      ...task,
      servers: [{ ...task.servers[0]!, fixture: "other" }, ...task.servers.slice(1)],
    }),
  ).toBe(true);
});
