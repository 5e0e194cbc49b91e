/** The reward of the first calls of an attempt: by hand, and its properties on tasks of all servers. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/environment/random.ts";
import type { AssistantMessage, Policy } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import type { Breakdown } from "../../src/reward/breakdown.ts";
import { listPrefixTotals, scorePrefix } from "../../src/reward/prefixReward.ts";
import { profiles, type Profile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt, type Unscorable } from "../../src/reward/reward.ts";
import { createAttemptFactory, type Attempt } from "../../src/trajectory/attempt.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import type { GoalCall, Task } from "../../src/trajectory/task.ts";
import { asFinished, listCalls, type Event } from "../../src/trajectory/trajectory.ts";
import { catalog as allServers } from "../contracts/transports.ts";
import { readSharedTasks } from "../synthesis/synthesizeTasks.ts";
import {
  abstain,
  balance,
  call,
  calling,
  catalog,
  goal,
  lookUp,
  moveFifty,
  moveTwice,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const findProfile = (name: string): Profile => profiles.find(it => it.name === name)!;
const createAttempt = createAttemptFactory(catalog);

async function attempt(task: Task, messages: readonly AssistantMessage[]): Promise<Attempt> {
  const policy = createScriptedPolicy("test", messages);
  return createAttempt(task, (await rollout(task, policy, catalog)).trajectory);
}

function requireScored<T extends object>(result: T | Unscorable): T {
  if ("unscorable" in result) throw new Error(result.unscorable);
  return result;
}

const done = saying("Done.");

describe("worked out by hand", () => {
  /** The totals before the first call, after each call, and at the end. */
  function check(
    title: string,
    task: () => Promise<Task>,
    messages: readonly AssistantMessage[],
    expected: Readonly<Record<string, readonly number[]>>,
  ) {
    test(title, async () => {
      const made = await attempt(await task(), messages);
      for (const [profile, totals] of Object.entries(expected)) {
        const computed = requireScored(listPrefixTotals(made, findProfile(profile)));
        expect(
          computed.map(it => Number(it.toFixed(4))),
          profile,
        ).toEqual(totals);
      }
    });
  }

  check(
    "a refused call in between",
    moveFifty,
    [calling(lookUp), calling(transfer("acc_108", 1e5)), calling(transfer("acc_108", 50)), done],
    {
      // .5 + .25 + .2 + .1; .4167 + .5 + .2 + .0833; .4444 + .5 + .2 + .1
      paper: [0, 1.05, 1.2, 1.2444, 1.2444],
      // the refused call covers nothing and lacks 1/3: .5 · 1/(4/3), then .5 · 2/(7/3); success
      // counts at the end
      "prove-plus": [0, 1.05, 0.925, 1.2286, 2.2286],
      tier: [0, 0.5, 0.4, 0.4, 0.9],
      // all calls of the teacher after the third one, less .05 for the extra call; then the state
      envfactory: [0, 0, 0, 0.45, 0.95],
    },
  );
  check(
    "calls over the budget of the whole task: three",
    moveFifty,
    [calling(lookUp, lookUp, lookUp, lookUp, transfer("acc_108", 50)), done],
    {
      // coverage only, because all calls are valid and named: − .15 · .5 · 1/3 for the fourth
      "paper-literal": [0, 1.05, 1.05, 1.05, 1.025, 1.25, 1.25],
    },
  );
  check(
    "a repeated call whose arguments fit better takes the goal out of its order",
    moveFifty,
    [
      calling(call("list_accounts", { name: "Everyday" })),
      calling(transfer("acc_108", 50)),
      calling(lookUp),
      done,
    ],
    // argument 0, then 1/2; the third call equals the goal, and the transfer comes before it
    { "paper-literal": [0, 0.95, 1.25, 1.05, 1.05] },
  );
  check("a task without goals", abstain, [calling(balance, lookUp), done], {
    paper: [1, 0, 0, 0],
    graduated: [1, 0, 0, 0],
  });
  check("no call at all", moveFifty, [done], { paper: [0, 0], envfactory: [0, 0] });
});

test("a look-up that a later call makes up for is not met before that call", async () => {
  const savings: GoalCall = { ...toGoalCall(lookUp), for: "feeds", values: ["acc_108"] };
  const task = await taskOf({
    id: "t-feeds",
    users: ["Move 50 euros from acc_101 to my savings."],
    goals: [
      { calls: [savings], after: [], turn: 0 },
      goal([transfer("acc_108", 50)], [{ goal: 0, kind: "explicit", via: "account_id" }]),
    ],
    teacher: [calling(lookUp), calling(transfer("acc_108", 50)), done],
  });
  const made = await attempt(task, [
    calling(balance),
    calling(call("list_accounts")),
    calling(transfer("acc_108", 50)),
    done,
  ]);
  const after = (calls: number) =>
    requireScored(scorePrefix(made, findProfile("paper"), calls)).goals.map(it => [
      it.matched,
      it.notes ?? [],
    ]);
  expect([0, 1, 2, 3].map(after)).toEqual([
    ...[0, 1].map(() => [
      [false, []],
      [false, []],
    ]),
    [
      [true, ["what later goals take was shown by call 2"]],
      [false, []],
    ],
    [
      [true, ["what later goals take was shown by call 2"]],
      [true, []],
    ],
  ]);
});

test("at one turn, the teacher's calls belong to every prefix", async () => {
  const task = await moveTwice();
  const policy: Policy = createScriptedPolicy("test", [
    saying("the teacher's"),
    saying("the teacher's"),
    calling(transfer("acc_108", 50)),
    calling(balance),
    saying("Done."),
  ]);
  const { trajectory, finalState } = await rollout(task, policy, catalog, { turn: 1 });
  const made = createAttempt(task, trajectory, finalState);
  const totals = requireScored(listPrefixTotals(made, findProfile("prove-plus")));
  // its first call is valid and serves nothing; with the second, one of two has a goal's name
  expect(totals.map(it => Number(it.toFixed(4)))).toEqual([0, 0, 0, 0.25, 1.2, 1.2]);
});

test("an attempt that ended by a fault has no reward of prefixes either", async () => {
  const task = await moveFifty();
  const events: Event[] = [
    ...task.trajectory.events.slice(0, -1),
    { kind: "ended", by: "fault", fault: "the endpoint is down" },
  ];
  const made = createAttempt(task, asFinished({ ...task.trajectory, events })!);
  const expected = { unscorable: "the endpoint is down" };
  expect(listPrefixTotals(made, findProfile("paper"))).toEqual(expected);
  expect(scorePrefix(made, findProfile("paper"), 1)).toEqual(expected);
});

describe("on tasks of all servers, under each profile", async () => {
  const tasks: Task[] = [];
  for await (const it of readTasks(
    join(import.meta.dirname, "../../resources/example/prove/tasks/example.tasks.jsonl"),
  ))
    tasks.push(it);
  const mixed = await readSharedTasks("paper");
  tasks.push(...mixed.tasks.slice(0, 40));
  const createOwnAttempt = createAttemptFactory(allServers);
  const attempts = tasks.flatMap((task, i) => [
    createOwnAttempt(task, asFinished(task.trajectory)!),
    createOwnAttempt(task, changeCalls(task, i)),
  ]);

  test("there are attempts of each kind", () => {
    expect(new Set(tasks.flatMap(it => it.servers.map(server => server.name))).size).toBe(20);
    expect(tasks.some(it => it.goals.length === 0)).toBe(true);
    expect(tasks.some(it => it.servers.length > 1)).toBe(true);
    expect(attempts.flatMap(it => listCalls(it.trajectory)).length).toBeGreaterThan(500);
  });

  test.each(profiles.map(it => [it.name, it] as const))("%s", (_, profile) => {
    for (const made of attempts) {
      const whole = requireScored<Breakdown>(scoreAttempt(made, profile));
      const totals = requireScored<readonly number[]>(listPrefixTotals(made, profile));
      const { length } = listCalls(made.trajectory);
      const prefixes = Array.from({ length: length + 1 }, (_, k) =>
        requireScored<Breakdown>(scorePrefix(made, profile, k)),
      );
      expect(totals).toEqual([...prefixes.map(it => it.total), whole.total]);
      expect(scorePrefix(made, profile, length + 1)).toEqual(whole);
      for (const [k, { n, budget, calls, goals, rule }] of prefixes.entries()) {
        expect([n, budget, rule, calls.length]).toEqual([k, whole.budget, whole.rule, k]);
        expect(goals.every(it => it.calls.every(at => at === null || at < k))).toBe(true);
      }
      // only what needs the final state or answer changes at the end
      if (profile.success === 0 && !profile.formula)
        expect({ ...prefixes.at(-1), goals: [] }).toEqual({ ...whole, goals: [] });
      else expect(totals.at(-1)).toBeGreaterThanOrEqual(totals.at(-2)!);
    }
  });

  test("under paper-literal, a prefix has the reward of an attempt that stops there", () => {
    const profile = findProfile("paper-literal");
    for (const made of attempts) {
      const totals = requireScored<readonly number[]>(listPrefixTotals(made, profile));
      for (const [k, total] of totals.slice(0, -1).entries()) {
        const stopped = createOwnAttempt(made.task, stopAfter(made, k));
        const result = scoreAttempt(stopped, profile);
        expect(isScored(result) && result.total).toBe(total);
      }
    }
  });
});

/** The teacher's attempt with its calls in another order, and some of them missing or repeated. */
function changeCalls({ id, trajectory }: Task, seed: number) {
  const random = createRandom(seed, id);
  const calls = listCalls(trajectory);
  const others = random.shuffle([...calls, ...calls]).slice(0, calls.length);
  const events = trajectory.events.map(it => (it.kind === "call" ? others.shift()! : it));
  return asFinished({ ...trajectory, events })!;
}

function stopAfter({ trajectory }: Attempt, calls: number) {
  const events: Event[] = [];
  let count = 0;
  for (const it of trajectory.events) {
    if (it.kind === "ended" || (it.kind === "call" && ++count > calls)) break;
    events.push(it);
  }
  return asFinished({ ...trajectory, events: [...events, trajectory.events.at(-1)!] })!;
}

function toGoalCall({ name, arguments: args }: ReturnType<typeof call>): GoalCall {
  return { name, arguments: args as GoalCall["arguments"] };
}
