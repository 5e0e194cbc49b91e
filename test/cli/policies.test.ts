/**
 * What counts as held out for a student: the servers that a task is about, not those that only lend
 * tools that do not help.
 */
import { expect, test } from "vitest";
import { checkUnseen } from "../../src/cli/policies.ts";
import type { StoredModel } from "../../src/model/modelFolder.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { moveFifty } from "../trajectory/sampleTasks.ts";

const move = await moveFifty();
const student = {
  folder: "student",
  config: {
    saw: {
      servers: { banking: "", maps: "" },
      tools: ["banking_list_accounts", "banking_transfer"],
      chains: ["0+1"],
    },
  },
} as unknown as StoredModel;
const pinned = (name: string) => ({ name, fixture: "small", digest: "" });

const about = (server: string, more: Partial<Task> = {}): Task => ({
  ...move,
  split: "heldout-server",
  servers: [pinned(server), pinned("banking"), pinned("maps")],
  goals: [{ calls: [{ name: `${server}_get_order`, arguments: {} }], after: [], turn: 0 }],
  ...more,
});

test.each([
  ["its goals are", about("trading"), undefined],
  [
    "its chain is, where it has no goals",
    about("trading", { goals: [], chain: ["trading_get_order"] }),
    undefined,
  ],
  ["its first is, where it has neither", about("trading", { goals: [], chain: [] }), undefined],
  [
    "a goal's is one it learned on",
    about("banking"),
    /is not held out for the model in student: it was trained on the servers banking/,
  ],
  [
    "a set of tools it learned",
    { ...move, split: "heldout-chain" as const },
    /trained on the tools banking_list_accounts, banking_transfer together/,
  ],
])("a task counts by the server that %s", (_, task, complaint) => {
  if (complaint) expect(() => checkUnseen(student, [task])).toThrow(complaint);
  else expect(() => checkUnseen(student, [task])).not.toThrow();
});
