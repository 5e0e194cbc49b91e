/** Rollouts: turns, calls, limits and faults. */
import { describe, expect, test } from "vitest";
import { PolicyFault, type AssistantMessage, type Policy } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  idlePolicy,
  createScriptedPolicy,
  createTeacherPolicy,
} from "../../src/policy/scripted.ts";
import type { Event } from "../../src/trajectory/trajectory.ts";
import {
  balance,
  call,
  calling,
  catalog,
  moveTwice,
  readOnly,
  saying,
  transfer,
} from "../trajectory/sampleTasks.ts";

/** An attempt as a line an event. */
const lines = (events: readonly Event[]) =>
  events.map(it => {
    switch (it.kind) {
      case "user":
        return `user: ${it.text}`;
      case "assistant":
        return `${it.message}: ${it.text}`;
      case "call":
        return `${it.message}> ${it.name} ${it.outcome.kind}`;
      case "ended":
        return `ended by ${it.by}${it.fault ? ` (${it.fault})` : ""}`;
      default:
        return it satisfies never;
    }
  });

async function check(
  messages: readonly AssistantMessage[],
  expected: readonly string[],
  maxMessages?: number,
) {
  const { events } = (
    await rollout(
      await moveTwice(),
      createScriptedPolicy("test", messages),
      catalog,
      maxMessages === undefined ? {} : { maxMessages },
    )
  ).trajectory;
  expect(lines(events)).toEqual(expected);
}

const first = "user: Move 50 to Savings and 20 to the holiday fund.";
const second = "user: And what is left?";

describe("a rollout", () => {
  test("continues with the next user turn after an answer, and ends after the last", () =>
    check(
      [
        calling(transfer("acc_108", 50), transfer("acc_115", 20)),
        saying("Done."),
        calling(balance),
        saying("That."),
      ],
      [
        first,
        "0: ",
        "0> banking_transfer ok",
        "0> banking_transfer ok",
        "1: Done.",
        second,
        "2: ",
        "2> banking_get_balance ok",
        "3: That.",
        "ended by policy",
      ],
    ));
  test("continues after refused calls and calls of unknown tools", () =>
    check(
      [
        calling(transfer("acc_108", 1e6), call("rob"), { name: "", arguments: "{{" }),
        saying("No."),
        saying("Sorry."),
      ],
      [
        first,
        "0: ",
        "0> banking_transfer refused",
        "0> banking_rob unknown-tool",
        "0>  unknown-tool",
        "1: No.",
        second,
        "2: Sorry.",
        "ended by policy",
      ],
    ));
  test("runs the calls of the last allowed message, then ends by limit", () =>
    check(
      [calling(balance), calling(balance), saying("Late.")],
      [
        first,
        "0: ",
        "0> banking_get_balance ok",
        "1: ",
        "1> banking_get_balance ok",
        "ended by limit",
      ],
      2,
    ));
  test("adds no user turn that could not be answered", () =>
    check([saying("One.")], [first, "0: One.", "ended by limit"], 1));
  test("ends by limit after a message that was cut off", () =>
    check(
      [{ ...calling(balance), cut: true }],
      [first, "0: ", "0> banking_get_balance ok", "ended by limit"],
    ));
});

const throwing = (error: Error): Policy => ({
  name: "throwing",
  next: async () => {
    throw error;
  },
});

test("a policy's fault ends the attempt and is recorded", async () => {
  const { events } = (
    await rollout(await readOnly(), throwing(new PolicyFault("the endpoint answered 503")), catalog)
  ).trajectory;
  expect(events.at(-1)).toEqual({ kind: "ended", by: "fault", fault: "the endpoint answered 503" });
});

test("a bug in a policy is rethrown", async () => {
  await expect(
    rollout(await readOnly(), throwing(new TypeError("x is undefined")), catalog),
  ).rejects.toThrow(TypeError);
});

test("an abort rejects with its reason and releases the policy", async () => {
  const stop = new AbortController();
  const said: string[] = [];
  const policy: Policy = {
    name: "slow",
    next: async () => {
      stop.abort(new Error("enough"));
      return calling(balance);
    },
    release: () => void said.push("ended"),
  };
  await expect(rollout(await readOnly(), policy, catalog, { signal: stop.signal })).rejects.toThrow(
    "enough",
  );
  expect(said).toEqual(["ended"]);
});

test("the header pins fixtures, tools, seed and menu", async () => {
  const task = await readOnly();
  const { header } = (await rollout(task, idlePolicy, catalog, { id: "a1" })).trajectory;
  expect(header).toMatchObject({
    id: "a1",
    task: "t-read",
    servers: task.servers,
    catalog: task.catalog,
    seed: 7,
    policy: "scripted:idle",
  });
  expect(header.menu).toHaveLength(17);
});

test("the teacher policy repeats the teacher's trajectory", async () => {
  const task = await moveTwice();
  const { events } = (await rollout(task, createTeacherPolicy(task), catalog)).trajectory;
  expect(events.map(it => ("digest" in it ? it.digest : it.kind))).toEqual(
    task.trajectory.events.map(it => ("digest" in it ? it.digest : it.kind)),
  );
});

test("a policy sees only the menu, without the stripped enums", async () => {
  const made = await readOnly();
  const task = {
    ...made,
    menu: [
      { name: "banking_list_accounts", enumsStripped: true as const },
      { name: "banking_get_balance" },
    ],
  };
  const seen: unknown[] = [];
  const policy: Policy = {
    name: "looking",
    next: async ({ tools }) => {
      seen.push(
        tools.map(it => [
          it.name,
          (it.inputSchema["properties"] as Record<string, object>)["kind"],
        ]),
      );
      return saying("");
    },
  };
  await rollout(task, policy, catalog);
  expect(seen[0]).toMatchObject([
    ["banking_list_accounts", { type: "string" }],
    ["banking_get_balance", undefined],
  ]);
  expect(JSON.stringify(seen[0])).not.toContain("enum");
});

test("a menu with a tool that no server has is an error that the user can fix", async () => {
  const task = { ...(await readOnly()), menu: [{ name: "banking_rob" }] };
  await expect(rollout(task, idlePolicy, catalog)).rejects.toThrow(
    "task t-read offers banking_rob, which none of its servers has: synthesize the task anew",
  );
});
