/** Selected attempts as rows for fine-tuning: what the policy did, not its teacher. */
import { expect, test } from "vitest";
import { createConversations } from "../../src/app/export/conversations.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { calling, catalog, lookUp, moveFifty, saying } from "../trajectory/sampleTasks.ts";

const task = await moveFifty();
const policy = createScriptedPolicy("brief", [calling(lookUp), saying("Nothing was moved.")]);
const { trajectory } = await rollout(task, policy, catalog);

test("a row has the conversation of the attempt, with the tools on offer", () => {
  const { lines, leftOut } = createConversations({ attempts: [{ task, trajectory }] }, catalog);
  expect(leftOut).toBe(0);
  const row = JSON.parse(lines[0]!) as {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly tools: readonly object[];
    readonly task_id: string;
  };
  expect(row.task_id).toBe(task.id);
  expect(row.messages.map(it => it.role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
  expect(row.messages.at(-1)!.content).toBe("Nothing was moved.");
  expect(row.tools).not.toHaveLength(0);
});

test("an attempt whose fixture is gone is left out, with the reason", () => {
  const gone = { ...task, servers: [{ name: "banking", fixture: "nowhere", digest: "" }] };
  const attempts = [
    { task: gone, trajectory },
    { task, trajectory },
  ];
  const { lines, leftOut, reason } = createConversations({ attempts }, catalog);
  expect(lines).toHaveLength(1);
  expect(leftOut).toBe(1);
  expect(reason).toMatch(/nowhere/);
});
