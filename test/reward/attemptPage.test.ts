/** The page of an attempt, which is opened outside the editor. */
import { expect, test } from "vitest";
import { createAttemptPage } from "../../src/reward/attemptPage.ts";
import { paperProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { asFinished, type Trajectory } from "../../src/trajectory/trajectory.ts";
import { catalog, moveFifty } from "../trajectory/sampleTasks.ts";

const task = await moveFifty();
const unscorable = { unscorable: "it has not ended" };

function createScoredPage(trajectory: Trajectory): string {
  const attempt = createAttemptFactory(catalog)(task, asFinished(trajectory)!);
  const breakdown = scoreAttempt(attempt, paperProfile);
  if (!isScored(breakdown)) throw new Error("the attempt has no reward");
  const reward = { breakdown, paper: breakdown.total, success: getSuccess(attempt) };
  return createAttemptPage({ trajectory, task, reward });
}

test("shows the conversation, the calls with their evidence, and the reward", () => {
  const page = createScoredPage(task.trajectory);
  for (const text of [
    "Move 50 euros from acc_101 to my savings.",
    "banking_transfer(from_account: &quot;acc_101&quot;",
    "valid 1 · serves goal 2 · 3 of 3 arguments",
    "<h2>Reward 1.3</h2>",
    "the paper&#39;s reward: 1.3",
    "Success: <strong>yes</strong>",
    "<h2>Goals</h2>",
  ])
    expect(page).toContain(text);
});

test("a failed call shows why, and an attempt without a reward says so", () => {
  const events = task.trajectory.events.map(it =>
    it.kind === "call"
      ? { ...it, outcome: { kind: "refused" as const, type: "not_found", message: "no account" } }
      : it,
  );
  const trajectory = { ...task.trajectory, events };
  const page = createAttemptPage({ trajectory, reward: unscorable });
  expect(page).toContain("<summary>refused</summary><pre>not_found\nno account</pre>");
  expect(page).toContain("No reward: it has not ended");
});

test("texts of the attempt stay texts, and nothing is loaded or run", () => {
  const hostile = `</div><script>alert(1)</script><img src="https://example.org/x" onerror='x'>\u202e`;
  const { header, events } = task.trajectory;
  const page = createAttemptPage({
    trajectory: {
      header: { ...header, task: hostile, policy: hostile },
      events: events.map(it =>
        it.kind === "call"
          ? { ...it, name: hostile, arguments: { [hostile]: hostile } }
          : it.kind === "ended"
            ? { ...it, fault: hostile }
            : { ...it, text: hostile },
      ),
    },
    reward: { unscorable: hostile },
  });
  expect(page).not.toMatch(/<script|<img|\u202e/);
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
});
