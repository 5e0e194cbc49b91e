/**
 * `node attemptHere.ts TASKS URL`: plays scripted attempts at some tasks, in this process and over
 * MCP in sessions of the service at the URL. Prints a JSON line for each: the messages, and the
 * score of both. The tests of other engines play the same messages.
 */
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { partNames } from "../../src/reward/breakdown.ts";
import { defaultProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { formatTrajectory } from "../../src/trajectory/trajectory.ts";
import { catalog } from "../contracts/transports.ts";
import { playAttempts, scoreOverMcp } from "./attempts.ts";

const [file, url] = process.argv.slice(2) as [string, string];

for await (const { task, policy, messages, trajectory, finalState } of playAttempts(file)) {
  const attempt = createAttemptFactory(catalog)(task, trajectory, finalState);
  const breakdown = scoreAttempt(attempt, defaultProfile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  const line = {
    task_id: task.id,
    policy,
    turns: task.turns.length,
    messages: messages.map(formatMessage),
    here: {
      reward: breakdown.total,
      success: getSuccess(attempt).achieved,
      ...Object.fromEntries(partNames.map(it => [it, breakdown.parts[it].score])),
      answer: breakdown.extras["answer"]?.score ?? null,
    },
    mcp: await scoreOverMcp(url, task, messages),
    trajectory: formatTrajectory(trajectory),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function formatMessage({ text, calls }: AssistantMessage): object {
  const toolCalls = calls.map(it => ({ function: it }));
  return { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls: toolCalls }) };
}
