/** Sample tasks on the banking server, written by hand, with the trajectories of real rollouts. */
import type { Call } from "../../src/environment/outcome.ts";
import { computeDigest } from "../../src/environment/digest.ts";
import { openCatalog } from "../../src/environment/catalog.ts";
import type { JsonObject } from "../../src/environment/json.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { computeCallBudget, taskFormat, type Goal, type Task } from "../../src/trajectory/task.ts";
import { join } from "node:path";

const servers = await loadServers();

export const catalog = openCatalog(servers, [join(import.meta.dirname, "../../resources/servers")]);

export const call = (name: string, args: JsonObject = {}): Call => ({
  name: `banking_${name}`,
  arguments: args,
});
export const calling = (...calls: Call[]): AssistantMessage => ({ text: "", calls });
export const saying = (text: string): AssistantMessage => ({ text, calls: [] });

export const balance = call("get_balance", { account_id: "acc_101" });
export const transfer = (to: string, amount: number) =>
  call("transfer", { from_account: "acc_101", to_account: to, amount });
export const lookUp = call("list_accounts", { name: "Savings" });

export const goal = (calls: readonly Call[], after: Goal["after"] = [], turn = 0): Goal => ({
  calls: calls.map(it => ({ name: it.name, arguments: it.arguments as JsonObject })),
  after,
  turn,
});

/** A task with its teacher's trajectory, run on the small fixture of banking or another server. */
export async function taskOf(made: {
  id: string;
  users: readonly string[];
  goals: readonly Goal[];
  teacher: readonly AssistantMessage[];
  menu?: readonly string[];
  server?: string;
}): Promise<Task> {
  const { id, users, goals, teacher, server = "banking" } = made;
  const menu = (made.menu ?? [...catalog.getServer(server).tools.keys()]).map(name => ({
    name,
  }));
  const blank: Task = {
    format: taskFormat,
    id,
    servers: [
      {
        name: server,
        fixture: "small",
        digest: computeDigest(catalog.getFixture(server, "small")),
      },
    ],
    catalog: catalog.hashTools([server]),
    seed: 7,
    split: "train",
    kind: goals.length === 0 ? "abstain" : "normal",
    persona: "plain",
    now: "2026-03-09T09:00",
    menu,
    hidden: [],
    turns: users.map((user, turn) => ({
      user,
      goals: goals.flatMap((it, g) => (it.turn === turn ? [g] : [])),
      reply: "Done.",
    })),
    goals: [...goals],
    knobs: {},
    info: "complete",
    chain: [],
    budget: { calls: computeCallBudget(goals), assistantMessages: teacher.length + 2 },
    provenance: { teacher: "hand", graph: "", log: [] },
    trajectory: {
      header: {
        kind: "header",
        format: "prove/trajectory@1",
        id: `${id}/teacher`,
        task: id,
        servers: [],
        catalog: "",
        seed: 7,
        menu: [],
        policy: "scripted:teacher",
      },
      events: [],
    },
  };
  const ran = (
    await rollout(blank, createScriptedPolicy("scripted:teacher", teacher), catalog, {
      id: `${id}/teacher`,
    })
  ).trajectory;
  const events = ran.events.map(it => {
    if (it.kind !== "call") return it;
    const { patches: _, ...rest } = it;
    return rest;
  });
  return { ...blank, trajectory: { header: ran.header, events } };
}

/** Look up an account, then move 50 to it. */
export const moveFifty = () =>
  taskOf({
    id: "t-move",
    users: ["Move 50 euros from acc_101 to my savings."],
    goals: [
      goal([lookUp]),
      goal([transfer("acc_108", 50)], [{ goal: 0, kind: "explicit", via: "account_id" }]),
    ],
    teacher: [
      calling(lookUp),
      calling(transfer("acc_108", 50)),
      saying("Moved 50 euros to Savings."),
    ],
  });

/** Two transfers that depend on nothing, and a balance at the end of a second turn. */
export const moveTwice = () =>
  taskOf({
    id: "t-twice",
    users: ["Move 50 to Savings and 20 to the holiday fund.", "And what is left?"],
    goals: [
      goal([transfer("acc_108", 50)]),
      goal([transfer("acc_115", 20)]),
      goal(
        [balance],
        [
          { goal: 0, kind: "implicit" },
          { goal: 1, kind: "implicit" },
        ],
        1,
      ),
    ],
    teacher: [
      calling(transfer("acc_108", 50), transfer("acc_115", 20)),
      saying("Both are done."),
      calling(balance),
      saying("3078.95 is left."),
    ],
  });

/** Two look-ups, nothing to change. */
export const readOnly = () =>
  taskOf({
    id: "t-read",
    users: ["What is in acc_101?"],
    goals: [goal([balance])],
    teacher: [calling(balance), saying("3148.95.")],
  });

/** Nothing on offer can do it. */
export const abstain = () =>
  taskOf({
    id: "t-abstain",
    users: ["Book me a flight to Porto."],
    goals: [],
    teacher: [saying("I cannot book flights.")],
  });
