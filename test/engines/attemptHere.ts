/**
 * `node attemptHere.ts TASKS URL`: plays scripted attempts at some tasks of the example, or at all
 * of a folder with servers of its own, in this process and over MCP in sessions of the service at
 * the URL. Prints a JSON line for each: the messages, and the
 * score of both. The tests of other engines play the same messages.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openShippedCatalog } from "../../src/app/context.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { partNames } from "../../src/reward/breakdown.ts";
import { defaultProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { formatTrajectory } from "../../src/trajectory/trajectory.ts";
import { root } from "../contracts/transports.ts";
import { askingTasks, playAttempts, scoreOverMcp } from "./attempts.ts";

const [file, url] = process.argv.slice(2) as [string, string];
const catalog = await openShippedCatalog(
  [resolve("prove/fixtures"), join(root, "resources/servers")],
  join(root, "src/app/thread.ts"),
);
const ids = existsSync("prove/mcp.json") ? null : askingTasks;

for await (const it of playAttempts(file, ids, catalog)) {
  const { task, policy, messages, trajectory, finalState } = it;
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
    mcp: await scoreOverMcp(url, task, messages, catalog),
    trajectory: formatTrajectory(trajectory),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function formatMessage({ text, calls }: AssistantMessage): object {
  const toolCalls = calls.map(it => ({ function: it }));
  return { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls: toolCalls }) };
}
