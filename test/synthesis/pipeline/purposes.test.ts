/**
 * Synthesized goals say what look-ups are for: the teacher loses nothing by it, stored alternatives
 * are as good as its calls, and an attempt without an answer fails for that reason.
 */
import type { Call } from "../../../src/environment/outcome.ts";
import { beforeAll, expect, test } from "vitest";
import type { AssistantMessage } from "../../../src/policy/policy.ts";
import { rollout } from "../../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../../src/policy/scripted.ts";
import { paperLiteralProfile, paperProfile, type Profile } from "../../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../../src/reward/reward.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { createAttemptFactory, type Attempt } from "../../../src/trajectory/attempt.ts";
import type { GoalCall, Task } from "../../../src/trajectory/task.ts";
import { catalog } from "../../contracts/transports.ts";
import { readSharedTasks } from "../synthesizeTasks.ts";

let tasks: Task[];
beforeAll(async () => {
  const realistic = await readSharedTasks("realistic");
  tasks = realistic.tasks.slice(0, 200);
});

const createAttempt = createAttemptFactory(catalog);

/** An attempt with the teacher's messages, where `replace` may give other calls or none. */
async function attemptLikeTeacher(
  task: Task,
  replace: (call: Call) => readonly Call[] = call => [call],
): Promise<Attempt> {
  const messages: AssistantMessage[] = [];
  for (const it of task.trajectory.events) {
    if (it.kind === "assistant") messages.push({ text: it.text, calls: [] });
    if (it.kind !== "call") continue;
    const { calls, text } = messages.pop()!;
    const own = replace({ name: it.name, arguments: it.arguments });
    messages.push({ text, calls: [...calls, ...own] });
  }
  const policy = createScriptedPolicy(
    "test",
    messages.filter(it => it.text !== "" || it.calls.length > 0),
  );
  const { trajectory, finalState } = await rollout(task, policy, catalog);
  return createAttempt(task, trajectory, finalState);
}

const isSame = (a: Call, b: Call) => JSON.stringify(a) === JSON.stringify(b);
const toCall = ({ name, arguments: args }: Call): Call => ({ name, arguments: args });

const listGoalCalls = (purpose: GoalCall["for"]) =>
  tasks.flatMap(task =>
    task.goals.flatMap(it =>
      it.calls.flatMap(goalCall => (goalCall.for === purpose ? [{ task, goalCall }] : [])),
    ),
  );

const getTotal = (attempt: Attempt, profile: Profile): number => {
  const breakdown = scoreAttempt(attempt, profile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  return breakdown.total;
};

test("every read among the goals says what it is for, and no write does", () => {
  const getEffect = ({ name }: GoalCall) => catalog.tools.get(name)!.effect;
  for (const it of listGoalCalls(undefined)) expect(getEffect(it.goalCall)).toBe("write");
  for (const purpose of ["feeds", "answers"] as const) {
    const found = listGoalCalls(purpose);
    expect(found.length).toBeGreaterThan(40);
    for (const it of found) expect(getEffect(it.goalCall)).toBe("read");
  }
});

test("the teacher succeeds and earns the same as literally", async () => {
  for (const task of tasks) {
    const attempt = await attemptLikeTeacher(task);
    expect(getSuccess(attempt).reasons, task.id).toEqual([]);
    expect(getTotal(attempt, paperProfile), task.id).toBeCloseTo(
      getTotal(attempt, paperLiteralProfile),
      9,
    );
  }
});

test("an alternative succeeds in the place of the teacher's call", async () => {
  const all = listGoalCalls("answers").filter(it => it.goalCall.alternatives);
  expect(all.length).toBeGreaterThan(8);
  for (const { task, goalCall } of all)
    for (const alternative of goalCall.alternatives!) {
      expect(isSame(toCall(alternative), toCall(goalCall))).toBe(false);
      const attempt = await attemptLikeTeacher(task, call =>
        isSame(call, toCall(goalCall)) ? [alternative] : [call],
      );
      const text = `${task.id}: ${JSON.stringify(alternative)}`;
      // the teacher's words may sum up what only its own call shows
      expect(getSuccess(attempt, { ignoresAnswers: true }).reasons, text).toEqual([]);
    }
});

test("without any call that shows it, an answer is missing for that reason", async () => {
  let failed = 0;
  const answers = listGoalCalls("answers");
  for (const { task, goalCall } of answers) {
    const attempt = await attemptLikeTeacher(task, call =>
      isSame(call, toCall(goalCall)) ? [] : [call],
    );
    const { achieved, reasons } = getSuccess(attempt);
    if (achieved) continue;
    failed++;
    const entities = goalCall.facts!.flatMap(it => it.entity ?? []);
    const isNamed = (reason: string) =>
      // another call may show the entity, but not the value that the answer has
      [...entities, goalCall.name, "which nothing shows"].some(it => reason.includes(it));
    expect(reasons.some(isNamed), `${task.id}: ${reasons.join("; ")}`).toBe(true);
  }
  // the others are shown by calls for other goals
  expect(failed / answers.length).toBeGreaterThan(0.8);
});
