/** What may not pass the screen does not, and says why. */
import { beforeAll, expect, test } from "vitest";
import { DuplicateFilter, findRejection } from "../../../src/synthesis/pipeline/filter.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { CallEvent } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/doors.ts";
import { made } from "../made.ts";

let tasks: Task[];
beforeAll(async () => {
  ({ tasks } = await made(60, { servers: ["banking"] }));
});

const withTool = (name: string) =>
  tasks.find(it => it.goals.some(goal => goal.calls.some(call => call.name === name)))!;

/** A copy with its calls, or its first user text, as they should not be. */
function spoiled(
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

const transfer = () => withTool("banking_transfer");
const idOf = (task: Task) =>
  task.goals.flatMap(it => it.calls).find(it => it.name === "banking_transfer")!.arguments[
    "from_account"
  ] as string;

const cases: [what: string, task: () => Task, reason: string, why: RegExp][] = [
  [
    "another answer",
    () =>
      spoiled(transfer(), {
        calls: (it, i) =>
          i === 0 ? { ...it, outcome: { kind: "ok", value: { accounts: [] } } } : it,
      }),
    "replay",
    /call 0 \(banking_list_accounts\) answers otherwise/,
  ],
  [
    "another state",
    () => spoiled(transfer(), { calls: it => ({ ...it, digest: "0" }) }),
    "replay",
    /call 0/,
  ],
  [
    "half the calls failed",
    () =>
      spoiled(transfer(), {
        calls: (it, i) => (i % 2 ? it : { ...it, outcome: { kind: "refused", message: "no" } }),
      }),
    "errors",
    /calls failed/,
  ],
  [
    "a tool named by the user",
    () => spoiled(transfer(), { say: it => `${it} Use banking_transfer.` }),
    "leak",
    /the user says banking_transfer/,
  ],
  [
    "an id that nobody knows",
    () => spoiled(transfer(), { say: it => `${it} It is ${idOf(transfer())}.` }),
    "leak",
    /the user says the id acc_/,
  ],
  [
    "the answer itself",
    () =>
      spoiled(transfer(), {
        say: it => `${it} ${JSON.stringify(transfer().goals.at(-1)!.calls.at(-1)!.arguments)}`,
      }),
    "leak",
    /the user says/,
  ],
];
test.each(cases)("%s", (_, task, reason, why) => {
  const found = findRejection(task(), catalog);
  expect(found?.reason).toBe(reason);
  expect(found?.why).toMatch(why);
});

test("a secret that nobody gave", () => {
  const task = withTool("banking_unfreeze_card");
  const digits = task.goals.flatMap(it => it.calls).find(it => it.name === "banking_unfreeze_card")!
    .arguments["last_digits"] as string;
  const hidden: Task = {
    ...spoiled(task, {
      calls: it =>
        it.name === "banking_get_account" ? { ...it, outcome: { kind: "ok", value: "…" } } : it,
    }),
    turns: task.turns.map(it => ({ ...it, user: it.user.replaceAll(digits, "xxxx") })),
  };
  const events = hidden.trajectory.events.map(it =>
    it.kind === "user" ? { ...it, text: it.text.replaceAll(digits, "xxxx") } : it,
  );
  // the changed answer would be found first: the check is on its own here
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

test("all that was kept passes", () => {
  expect(tasks.map(it => findRejection(it, catalog))).toEqual(tasks.map(() => undefined));
});

test("nearly the same calls are kept once", () => {
  const kept = new DuplicateFilter();
  const four = tasks.find(
    it => it.trajectory.events.filter(event => event.kind === "call").length === 4,
  )!;
  const otherwise = (changed: number) =>
    spoiled(four, { calls: (it, i) => (i < changed ? { ...it, arguments: { other: i } } : it) });
  expect(kept.addIfNew(four)).toBe(true);
  expect(kept.addIfNew({ ...four, id: "again" })).toBe(false);
  // three of five calls in common is 0.6; all four of five would be 0.8
  expect(kept.addIfNew(otherwise(1))).toBe(true);
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
  expect(kept.addIfNew(five)).toBe(false);
});

test("the same calls on another world are another task", () => {
  const kept = new DuplicateFilter();
  const [task] = tasks as [Task];
  expect(kept.addIfNew(task)).toBe(true);
  expect(
    kept.addIfNew({
      ...task,
      servers: [{ ...task.servers[0]!, fixture: "other" }, ...task.servers.slice(1)],
    }),
  ).toBe(true);
});
