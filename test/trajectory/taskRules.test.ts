/** The rules of a task: which calls they are about, when they are broken, and who is told. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/environment/json.ts";
import type { ChatModel } from "../../src/policy/chatModel.ts";
import {
  createChatMessages,
  createConversation,
  createEndpointPolicy,
} from "../../src/policy/chatMessages.ts";
import { createRules, type AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { parseTask } from "../../src/trajectory/file.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import { appliesTo, type RuleCondition, type TaskRule } from "../../src/trajectory/taskRules.ts";
import { formatTranscript } from "../../src/trajectory/transcript.ts";
import { calling, catalog, lookUp, moveFifty, saying, transfer } from "./sampleTasks.ts";

const move = transfer("acc_108", 50);

const createRule = (demands: TaskRule["demands"], condition?: RuleCondition): TaskRule => ({
  id: "transfers",
  text: "Ask the user to confirm transfers.",
  because: "a transfer needs your confirmation",
  tools: ["banking_transfer"],
  ...(condition ? { if: condition } : {}),
  demands,
});

describe("a rule", () => {
  test.each<[string, RuleCondition | undefined, JsonObject, boolean]>([
    ["without a condition", undefined, {}, true],
    ["about numbers above a limit", { argument: "amount", above: 50 }, { amount: 51 }, true],
    [
      "about numbers above it, of the limit",
      { argument: "amount", above: 50 },
      { amount: 50 },
      false,
    ],
    ["about lists of more items", { argument: "to", above: 1 }, { to: ["a", "b"] }, true],
    ["about an argument that is left out", { argument: "amount", above: 50 }, {}, false],
    ["about values", { argument: "mode", is: ["sport"] }, { mode: "sport" }, true],
    ["about values, of another", { argument: "mode", is: ["sport"] }, { mode: "eco" }, false],
    [
      "about hours, before the first",
      { argument: "start", outsideHours: ["08:00", "18:00"] },
      { start: "2026-03-09T07:59" },
      true,
    ],
    [
      "about hours, between them",
      { argument: "start", outsideHours: ["08:00", "18:00"] },
      { start: "2026-03-09T18:00" },
      false,
    ],
    [
      "about hours, of a time alone",
      { argument: "at", outsideHours: ["08:00", "18:00"] },
      { at: "22:30" },
      true,
    ],
    [
      "about days of the week",
      { argument: "date", onDays: ["Saturday", "Sunday"] },
      { date: "2026-03-14" },
      true,
    ],
    [
      "about days of the week, on a Monday",
      { argument: "date", onDays: ["Saturday", "Sunday"] },
      { date: "2026-03-09" },
      false,
    ],
  ])("%s", (_, condition, args, expected) => {
    const rule = createRule("never", condition);
    expect(appliesTo(rule, { name: "banking_transfer", arguments: args })).toBe(expected);
    expect(appliesTo(rule, { name: "banking_deposit", arguments: args })).toBe(false);
  });
});

const createRuledTask = async (rule: TaskRule): Promise<Task> => ({
  ...(await moveFifty()),
  policy: { rules: [rule] },
});

async function judge(task: Task, ...messages: AssistantMessage[]) {
  const { trajectory, finalState } = await rollout(
    task,
    createScriptedPolicy("test", messages),
    catalog,
  );
  return getSuccess(createAttemptFactory(catalog)(task, trajectory, finalState));
}

describe("success", () => {
  const confirm = createRule("confirm");

  test("needs a confirmation before the call", async () => {
    const task = await createRuledTask(confirm);
    expect(await judge(task, calling(lookUp), calling(move), saying("Done."))).toMatchObject({
      achieved: false,
      isGoalState: true,
      hasKeptRules: false,
      reasons: [
        'call 2, banking_transfer, breaks the rule "transfers": the user did not confirm it (Ask the user to confirm transfers.)',
      ],
    });
    expect(
      await judge(
        task,
        calling(lookUp),
        saying("Shall I move 50 euros to Savings?"),
        calling(move),
        saying("Done."),
      ),
    ).toMatchObject({ achieved: true, hasKeptRules: true, reasons: [] });
  });

  test("does not take just any answer for a confirmation", async () => {
    const task = await createRuledTask(confirm);
    const success = await judge(
      task,
      calling(lookUp),
      saying("Which account do you mean?"),
      calling(move),
      saying("Done."),
    );
    expect(success).toMatchObject({ achieved: false, hasKeptRules: false });
  });

  const judgeQuestion = async (question: string) => {
    const task = await createRuledTask(confirm);
    return judge(task, calling(lookUp), saying(question), calling(move), saying("Done."));
  };

  test.each([
    "May I?",
    "Is that OK?",
    "Shall I go ahead?",
    "Would you like me to do nothing at all and keep everything as it is?",
    "Shall I not transfer it?",
    "Shall I not make the transfer of 50 euros to Savings?",
    "I won't transfer the 50 euros to Savings. Shall I go ahead?",
    "Shall I leave the 50 euros where they are and not move them?",
    "Shall I do nothing or transfer the money?",
    'Shall I transfer money to "Holiday fund"?',
    "Shall I delete the account of Zebedee?",
    "Shall I transfer it to acc_999?",
  ])("takes no agreement to another question for one: %s", async question => {
    expect(await judgeQuestion(question)).toMatchObject({ achieved: false, hasKeptRules: false });
  });

  test.each([
    "Just to confirm: I'll transfer 50 euros from Everyday to Savings, ok?",
    "Do you want me to make that transfer?",
    "Are you sure you want to move the 50 euros? This cannot be undone.",
    "A transfer can't be taken back. Shall I go ahead?",
    "No problem. Should I send the money to acc_108 now?",
    "Shall I transfer it, or not?",
    "I have not transferred anything yet. Shall I move 50 euros to Savings?",
    "**Transfer**: 50 EUR\n- to: Savings\n\nDo you confirm?",
  ])("takes an agreement in plain words: %s", async question => {
    expect(await judgeQuestion(question)).toMatchObject({ achieved: true, hasKeptRules: true });
  });

  test("allows no forbidden call, even if the user agrees", async () => {
    const task = await createRuledTask(createRule("never"));
    const success = await judge(
      task,
      calling(lookUp),
      saying("Shall I move 50 euros to Savings?"),
      calling(move),
      saying("Done."),
    );
    expect(success.hasKeptRules).toBe(false);
    expect(success.reasons[0]).toContain("it is forbidden");
  });

  test("is not concerned with rules about other calls", async () => {
    const task = await createRuledTask(createRule("never", { argument: "amount", above: 50 }));
    expect(await judge(task, calling(lookUp), calling(move), saying("Done."))).toMatchObject({
      achieved: true,
      hasKeptRules: true,
    });
  });
});

describe("a rule that wants to know something first", () => {
  const reason = {
    rule: "transfers",
    about: ["why", "reason"],
    say: "It is for the rent.",
    isAccepted: true as const,
  };

  const createProvenTask = async (changes: object): Promise<Task> => {
    const task = await createRuledTask(createRule("proof"));
    const proof = { ...reason, ...changes };
    return {
      ...task,
      turns: task.turns.map((it, i) => (i === 0 ? { ...it, proofs: [proof] } : it)),
    };
  };

  const judgeAsking = async (task: Task, question: string) =>
    judge(task, calling(lookUp), saying(question), calling(move), saying("Done."));

  test("is broken by a call before the user has said it", async () => {
    const task = await createProvenTask({});
    expect(await judge(task, calling(lookUp), calling(move), saying("Done."))).toMatchObject({
      achieved: false,
      isGoalState: true,
      hasKeptRules: false,
    });
  });

  test.each([
    "Why do you want to move it?",
    "May I ask for the reason?",
    "What is it for?",
    "Before I do that, please tell me the reason for the transfer.",
    "I need to know the reason first.",
    "Shall I move 50 euros to Savings, and what is the reason?",
  ])("is kept when the user has: %s", async question => {
    const task = await createProvenTask({});
    expect(await judgeAsking(task, question)).toMatchObject({
      achieved: true,
      hasKeptRules: true,
      reasons: [],
    });
  });

  test("is broken by a call after a reason that it does not accept", async () => {
    const { isAccepted: _, ...refused } = reason;
    const task = await createProvenTask({ isAccepted: undefined });
    expect(task.turns[0]!.proofs).toEqual([{ ...refused, isAccepted: undefined }]);
    const success = await judgeAsking(task, "Why do you want to move it?");
    expect(success).toMatchObject({ achieved: false, hasKeptRules: false });
    expect(success.reasons[0]).toContain("the user has not said what the rule accepts");
  });

  test("is broken by a call after a yes alone", async () => {
    const task = await createProvenTask({});
    expect(await judgeAsking(task, "Shall I move 50 euros to Savings?")).toMatchObject({
      hasKeptRules: false,
    });
  });

  test("makes the user say it once, and not after a refusal", async () => {
    const task = await createProvenTask({});
    const play = async (...messages: AssistantMessage[]) =>
      (
        await rollout(task, createScriptedPolicy("test", messages), catalog)
      ).trajectory.events.flatMap(it => (it.kind === "user" && it.answers ? [it.text] : []));
    expect(await play(saying("Why?"), saying("And what is the reason?"))).toEqual([
      "It is for the rent.",
      "I don't know more than that. Please use what you have.",
    ]);
    expect(await play(saying("I can't do that: I need the reason for it."))).toEqual([]);
    expect(await play(saying("May I go ahead? I'd also like to hear the reason."))).toEqual([
      "Yes, please. It is for the rent.",
    ]);
  });
});

test("a page is the end of the system message, and is read from it again", async () => {
  const page = "# Policy\n\n## Bank\n\n- Ask the user to confirm transfers.";
  const task = { ...(await moveFifty()), policy: { rules: [createRule("confirm")], page } };
  const messages = createChatMessages({ now: task.now, events: [], ...createRules(task) });
  expect(messages[0]!.content.endsWith(`\n\n${page}`)).toBe(true);
  const options = { catalog, now: task.now, id: "a" };
  expect(createConversation({ messages, tools: [] }, options).rules).toEqual([page]);
  expect(formatTranscript(task.trajectory, { task }).text).toContain(
    "\npolicy: - Ask the user to confirm transfers.\n",
  );
});

test("the system message and the transcript say the rules, and a file keeps them", async () => {
  const task = await createRuledTask(createRule("confirm"));
  const systems: string[] = [];
  const model: ChatModel = {
    name: "fake",
    complete: async ({ messages }) => {
      systems.push(messages[0]!.content);
      return { text: "I can't.", calls: [], tokens: { read: 0, written: 0 } };
    },
  };
  await rollout(task, createEndpointPolicy(model), catalog);
  expect(systems[0]).toMatch(/\n\nThese rules hold:\n- Ask the user to confirm transfers\.$/);
  expect(formatTranscript(task.trajectory, { task }).text).toContain(
    "\nrule: Ask the user to confirm transfers.\n",
  );
  const line = formatTaskLine(task);
  const read = parseTask(JSON.parse(line), { file: "a.tasks.jsonl", line: 1 });
  expect(read.policy).toEqual(task.policy);
});
