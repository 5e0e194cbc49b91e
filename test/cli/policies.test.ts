/** Held-out tasks are checked by the servers that they are about, not by their distractors. */
import { expect, test } from "vitest";
import { checkUnseen, describeTrained } from "../../src/app/policies.ts";
import { addSeenTasks, type StoredModel } from "../../src/model/modelFolder.ts";
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
const createPin = (name: string, fixture = "small") => ({ name, fixture, digest: "" });

const createHeldOut = (split: Task["split"], heldOut: string): Task => ({
  ...move,
  split,
  knobs: { ...move.knobs, heldOut },
});

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
  [
    "feeds another, in a model that did not record edges",
    createHeldOut("heldout-edge", "banking_list_accounts > banking_transfer"),
    /trained on the tools banking_list_accounts > banking_transfer together/,
  ],
  [
    "is used with another, in tasks that hold out the pair",
    createHeldOut("heldout-chain", "banking_list_accounts + banking_transfer"),
    /trained on the tools banking_list_accounts \+ banking_transfer together/,
  ],
  [
    "is not used with another",
    createHeldOut("heldout-chain", "banking_list_accounts + banking_pay_bill"),
    undefined,
  ],
  [
    "has, in a world the student did not see",
    { ...move, split: "heldout-world" as const, servers: [createPin("banking", "full@20")] },
    undefined,
  ],
])("a task counts by the server that %s", (_, task, message) => {
  if (message) expect(() => checkUnseen(student, [task])).toThrow(message);
  else expect(() => checkUnseen(student, [task])).not.toThrow();
});

test("the tools that a student was trained on are reported for any task, held out or not", () => {
  const { saw } = student.config;
  const together = "the tools banking_list_accounts, banking_transfer together";
  expect(describeTrained(saw, { ...move, split: "train" })).toBe(together);
  expect(describeTrained(saw, { ...move, split: "heldout-chain" })).toBe(together);
  expect(describeTrained(saw, createTaskAbout("trading"))).toBeUndefined();
});

test("a model records the edges and worlds of its training tasks", () => {
  const pins = [createPin("banking", "full@20")];
  const task = { ...move, servers: pins };
  const fresh = { servers: {}, tools: [], chains: [] };
  const saw = addSeenTasks(fresh, [task], () => "");
  const trained = { ...student, config: { ...student.config, saw } };
  const check = (it: Task) => checkUnseen(trained, [it]);
  const edge = "banking_list_accounts > banking_transfer";
  expect(() => check({ ...task, split: "heldout-world" })).toThrow(/trained on world 20/);
  expect(() => check(createHeldOut("heldout-edge", edge))).toThrow(edge);
  expect(() =>
    check(createHeldOut("heldout-edge", "banking_transfer > banking_list_accounts")),
  ).not.toThrow();
  // it has seen both tools before edges were recorded
  const later = addSeenTasks(student.config.saw, [task], () => "");
  expect(later.edges).toBeUndefined();
});
