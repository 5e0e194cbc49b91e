/** Held-out tasks are checked by the servers that they are about, not by their distractors. */
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
const createPin = (name: string) => ({ name, fixture: "small", digest: "" });

const createTaskAbout = (server: string, more: Partial<Task> = {}): Task => ({
  ...move,
  split: "heldout-server",
  servers: [createPin(server), createPin("banking"), createPin("maps")],
  goals: [{ calls: [{ name: `${server}_get_order`, arguments: {} }], after: [], turn: 0 }],
  ...more,
});

test.each([
  ["its goals are on", createTaskAbout("trading"), undefined],
  [
    "its chain is on, without goals",
    createTaskAbout("trading", { goals: [], chain: ["trading_get_order"] }),
    undefined,
  ],
  [
    "comes first, without goals and chain",
    createTaskAbout("trading", { goals: [], chain: [] }),
    undefined,
  ],
  [
    "its goals are on, and that the student was trained on",
    createTaskAbout("banking"),
    /is not held out for the model in student: it was trained on the servers banking/,
  ],
  [
    "its tools are on, which the student was trained on together",
    { ...move, split: "heldout-chain" as const },
    /trained on the tools banking_list_accounts, banking_transfer together/,
  ],
])("a task counts by the server that %s", (_, task, message) => {
  if (message) expect(() => checkUnseen(student, [task])).toThrow(message);
  else expect(() => checkUnseen(student, [task])).not.toThrow();
});
