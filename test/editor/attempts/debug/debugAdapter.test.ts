/** The debugger of trajectories, driven over the debug adapter protocol as an editor does. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { expect, test } from "vitest";
import type { DebugTarget } from "../../../../src/editor/attempts/debug/debugTarget.ts";
import { UserError } from "../../../../src/userError.ts";
import { rollout } from "../../../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../../../src/policy/scripted.ts";
import { checkGolden } from "../../../golden.ts";
import { DebugClient, loadTarget, source } from "./debugClient.ts";
import {
  calling,
  catalog,
  lookUp,
  moveFifty,
  moveTwice,
  saying,
  transfer,
} from "../../../trajectory/sampleTasks.ts";

/** An attempt that transfers too much, and then to the wrong account. */
async function loadFailedAttempt(profile = "paper"): Promise<DebugTarget> {
  const task = await moveFifty();
  const trajectory = (
    await rollout(
      task,
      createScriptedPolicy("student", [
        calling(lookUp),
        calling(transfer("acc_108", 1e5), transfer("acc_115", 50)),
        saying("Moved."),
      ]),
      catalog,
    )
  ).trajectory;
  return loadTarget(task, trajectory, profile);
}

test("each step shows the event, its changes and its reward", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  await editor.start();
  let text = await editor.formatViews();
  for (let n = 0; n < 6; n++) {
    await editor.send("next", { threadId: 1 });
    text += `\nstep over\n${await editor.formatViews()}`;
  }
  checkGolden("debugging.txt", text);
});

test("stepping back shows the previous state", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  await editor.start();
  const balance = async () =>
    (
      (
        await editor.send("evaluate", {
          expression: "banking.world.accounts.acc_101.balance",
          context: "watch",
        })
      ).body as DebugProtocol.EvaluateResponse["body"]
    ).result;
  for (let n = 0; n < 4; n++) await editor.send("next");
  expect(await balance()).toBe("3098.95");
  await editor.send("stepBack");
  expect(await balance()).toBe("3148.95");
  await editor.send("next");
  expect(await balance()).toBe("3098.95");
  await editor.send("reverseContinue");
  expect(editor.stopReason).toBe("entry, Before the first event");
  expect(await balance()).toBe("3148.95");
});

test("a session starts at the event of a line, and goes to others forward and back", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  const { transcript, cursor } = await loadFailedAttempt();
  const calls = cursor.trajectory.events.flatMap((it, i) => (it.kind === "call" ? [i] : []));
  const getLine = (call: number) => transcript.ranges[calls[call]!]!.last + 1;
  await editor.start([], [], { line: getLine(1) });
  expect(editor.stop).toMatchObject({ reason: "goto" });
  expect(await editor.watch("position")).toBe(String(calls[1]! + 1));
  const goTo = async (line: number) => {
    const { targets } = (await editor.send("gotoTargets", { source: { path: source }, line }))
      .body as DebugProtocol.GotoTargetsResponse["body"];
    await editor.send("goto", { threadId: 1, targetId: targets[0]!.id });
    return editor.watch("position");
  };
  expect(await goTo(getLine(0))).toBe(String(calls[0]! + 1));
  expect(await goTo(getLine(2))).toBe(String(calls[2]! + 1));
});

test("breakpoints move to the next event, and stop in both directions if their condition holds", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  const { transcript } = await loadFailedAttempt();
  const lines = transcript.ranges.map(it => it.first + 1);
  const set = await editor.start([
    { line: 1 },
    { line: lines[4]! + 1, condition: 'outcome == "ok"' },
    { line: lines[5]!, condition: "arguments.amount <= 50" },
    { line: 10_000 },
  ]);
  expect(set.map(it => [it.verified, it.line])).toEqual([
    [true, lines[0]],
    [true, lines[4]],
    [true, lines[5]],
    [false, 10_000],
  ]);
  const stops: (number | undefined)[] = [];
  for (const command of [
    "continue",
    "continue",
    "continue",
    "reverseContinue",
    "reverseContinue",
    "reverseContinue",
  ]) {
    await editor.send(command);
    stops.push(await editor.getLine());
  }
  expect(stops).toEqual([lines[0], lines[5], lines.at(-1), lines[5], lines[0], 1]);
});

test("continuing from the end terminates the session", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  await editor.start();
  await editor.send("continue");
  expect(editor.stopReason).toBe("step, At the end of the trajectory");
  expect(editor.events.some(it => it.event === "terminated")).toBe(false);
  await editor.send("continue");
  expect(editor.events.some(it => it.event === "terminated")).toBe(true);
});

test("the reward of a call expands to its evidence, a total to its parts", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  await editor.start([], ["failed"]);
  await editor.send("continue");
  expect(await editor.listRows("Reward", 2)).toEqual([
    "this call: valid ⅔ · serves goal 2 · 2 of 3 arguments (amount should be 50)",
    "  validity: 0.67, insufficient funds: Everyday has 3448.95 available, 100000 needed",
    "  serves: goal 2",
    "  arguments: 2 of 3 equal",
    "change: +0.150",
    "  validity: 1.000 → 0.833, −0.083",
    "  coverage: 0.500 → 1.000, +0.250",
    "  argument: 1.000 → 0.833, −0.017",
    "paper: 1.200",
    "  validity: 0.833 × 0.5 = 0.417",
    "  coverage: 1.000 × 0.5 = 0.500",
    "  efficiency: no penalty",
    "  name: 1.000 × 0.2 = 0.200",
    "  argument: 0.833 × 0.1 = 0.083",
    "prove-plus: 0.925",
    "  validity: 0.750 × 0.5 = 0.375",
    "  coverage: 0.500 × 0.5 = 0.250",
    "  efficiency: no penalty",
    "  name: 1.000 × 0.2 = 0.200",
    "  argument: 1.000 × 0.1 = 0.100",
    "  success: 0.000 × 1 = 0.000",
    "success: decided at the end",
  ]);
});

test("the reward so far follows the position, in watches and in conditions", async () => {
  const editor = new DebugClient(() => loadFailedAttempt("prove-plus"));
  const { transcript } = await loadFailedAttempt();
  const lines = transcript.ranges.map(it => ({
    line: it.first + 1,
    condition: "reward.change < 0",
  }));
  await editor.start(lines);
  const watch = async (expression: string) =>
    (
      (await editor.send("evaluate", { expression, context: "watch" }))
        .body as DebugProtocol.EvaluateResponse["body"]
    ).result;
  expect(await watch("reward.total")).toBe("0");
  await editor.send("continue");
  // the refused transfer, which covers no goal under this profile
  expect(await watch("outcome")).toBe('"refused"');
  expect(Number(await watch("reward.total"))).toBeCloseTo(0.925, 4);
  expect(Number(await watch("reward.change"))).toBeCloseTo(-0.125, 4);
  expect(await watch("reward.coverage")).toBe("0.5");
  expect((await editor.listRows("Reward", 1)).slice(1, 4)).toEqual([
    "change: −0.125",
    "prove-plus: 0.925",
    "paper: 1.200",
  ]);
});

test("the debugger can stop at failed calls", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  await editor.start([], ["failed"]);
  await editor.send("continue");
  const outcome = await editor.send("evaluate", { expression: "outcome", context: "repl" });
  expect(outcome.body).toMatchObject({ result: '"refused"' });
});

test("hovering over an id shows its entity, and an invalid watch an error", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  await editor.start();
  const hover = await editor.send("evaluate", { expression: "acc_108", context: "hover" });
  expect((hover.body as DebugProtocol.EvaluateResponse["body"]).result).toContain(
    'name: "Savings"',
  );
  const watch = await editor.send("evaluate", {
    expression: "banking.world.cats",
    context: "watch",
  });
  expect(watch).toMatchObject({ success: false, message: "there is no banking.world.cats" });
});

test("a trajectory that cannot be opened fails the launch with a remedy", async () => {
  const editor = new DebugClient(() =>
    Promise.reject(new UserError("there is no server banking", "choose one of calendar")),
  );
  await editor.send("initialize", { adapterID: "prove" });
  expect(await editor.send("launch", { transcript: source })).toMatchObject({
    success: false,
    message: "there is no server banking: choose one of calendar",
  });
});

/** Positions: 1 user, 3 list accounts, 5 refused transfer, 6 transfer, 7 text, 8 end. */
async function startFailedAttempt(profile?: string): Promise<DebugClient> {
  const editor = new DebugClient(() => loadFailedAttempt(profile));
  await editor.start();
  return editor;
}

test("of two breakpoints that move to one event, the second one is not set", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  const { transcript } = await loadFailedAttempt();
  const line = transcript.ranges[3]!.first + 1;
  const set = await editor.start([{ line }, { line: line + 1 }, { line, condition: "true" }]);
  expect(set.map(it => [it.verified, it.message])).toEqual([
    [true, undefined],
    [false, "another breakpoint stops at this event already"],
    [true, undefined],
  ]);
});

test("a breakpoint on a tool counts its calls, the same in both directions", async () => {
  const editor = await startFailedAttempt();
  const set = async (breakpoint: DebugProtocol.FunctionBreakpoint) =>
    (
      (await editor.send("setFunctionBreakpoints", { breakpoints: [breakpoint] }))
        .body as DebugProtocol.SetFunctionBreakpointsResponse["body"]
    ).breakpoints[0];
  for (const name of ["banking_transfer", "banking.transfer", "transfer"]) {
    expect(await set({ name })).toMatchObject({ verified: true });
    expect(await editor.listStops("continue", 3)).toEqual(["5", "6", "8"]);
    expect(await editor.listStops("reverseContinue", 3)).toEqual(["6", "5", "0"]);
  }
  expect(editor.stop).toMatchObject({ description: "Before the first event" });
  for (const hitCondition of ["2", ">= 2", "> 1", "% 2"]) {
    await set({ name: "transfer", hitCondition });
    expect(await editor.listStops("continue", 2)).toEqual(["6", "8"]);
    expect(await editor.listStops("reverseContinue", 2)).toEqual(["6", "0"]);
  }
  await set({ name: "transfer", condition: 'outcome == "ok"', hitCondition: "1" });
  expect(await editor.listStops("continue", 1)).toEqual(["6"]);
  expect(editor.stop).toMatchObject({
    reason: "function breakpoint",
    text: "call of banking_transfer",
  });
  expect(await set({ name: "fly" })).toMatchObject({
    verified: false,
    message: "no tool with the name fly is offered or called",
  });
  expect(await set({ name: "transfer", hitCondition: "often" })).toMatchObject({
    verified: false,
    message: '"often" is not a hit count: write 3, >= 2 or % 3',
  });
});

test("a logpoint prints values and does not stop, in both directions", async () => {
  const { transcript } = await loadFailedAttempt();
  const editor = new DebugClient(() => loadFailedAttempt());
  const lines = [4, 5].map(it => transcript.ranges[it]!.first + 1);
  const logMessage = "{call.name} of {arguments.amount}: {outcome} {value.transaction_id}";
  await editor.start(lines.map(line => ({ line, logMessage })));
  await editor.send("continue");
  expect(editor.stop).toMatchObject({ description: "At the end of the trajectory" });
  expect(editor.printed.split("\n")).toEqual([
    "banking_transfer of 100000: refused (there is no value.transaction_id)",
    "banking_transfer of 50: ok txn_3260",
    "",
  ]);
  await editor.send("reverseContinue");
  expect(editor.printed.split("\n").slice(2, 4)).toEqual([
    "banking_transfer of 50: ok txn_3260",
    "banking_transfer of 100000: refused (there is no value.transaction_id)",
  ]);
});

test("a line breakpoint with an invalid condition says why it does not stop", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  const set = await editor.start([
    { line: 5, condition: "outcome ==" },
    { line: 5, logMessage: "{}" },
    { line: 5, hitCondition: "2" },
  ]);
  expect(set.map(it => [it.verified, it.message])).toEqual([
    [false, '"" is not a path'],
    [false, '"" is not a path'],
    [false, "a line is reached once: use a function breakpoint to count the calls of a tool"],
  ]);
});

test("breakpoints of another transcript do not stop, and those of this one are kept", async () => {
  const editor = new DebugClient(() => loadFailedAttempt());
  const { transcript } = await loadFailedAttempt();
  await editor.start([{ line: transcript.ranges[4]!.first + 1 }]);
  const other = await editor.send("setBreakpoints", {
    source: { path: "prove:/transcripts/made/other.transcript" },
    breakpoints: [{ line: 5 }],
  });
  expect(other.body).toEqual({ breakpoints: [{ verified: false, line: 5 }] });
  expect(await editor.listStops("continue", 2)).toEqual(["5", "8"]);
});

test("the debugger stops at calls that serve no goal and where the reward drops", async () => {
  const editor = await startFailedAttempt("prove-plus");
  const explain = async (filters: string[], condition?: string) => {
    await editor.send("restart");
    await editor.send("setExceptionBreakpoints", {
      filters: [],
      filterOptions: filters.map(filterId => ({ filterId, ...(condition ? { condition } : {}) })),
    });
    await editor.send("continue");
    const { exceptionId, description } = (await editor.send("exceptionInfo", { threadId: 1 }))
      .body as DebugProtocol.ExceptionInfoResponse["body"];
    return [editor.stop.reason, exceptionId, ...(description ?? "").split("\n")];
  };
  expect(await explain(["failed"])).toEqual([
    "exception",
    "refused (precondition_failed)",
    "insufficient funds: Everyday has 3448.95 available, 100000 needed",
    "Hint: choose a smaller amount or another account",
    'Call: banking_transfer(from_account: "acc_101", to_account: "acc_108", amount: 100000)',
  ]);
  expect(await explain(["reward-drops"])).toEqual([
    "exception",
    "reward drops",
    "prove-plus: 1.050 → 0.925, −0.125",
    "validity 1.000 → 0.750 (−0.125)",
  ]);
  expect(await editor.listStops("continue", 1, "outcome")).toEqual(["there is no outcome"]);
  expect(await editor.listStops("reverseContinue", 1, "outcome")).toEqual(['"refused"']);
  // this profile counts no refused call for a goal
  expect(await explain(["no-goal"], "arguments.amount > 50")).toEqual([
    "exception",
    "no goal",
    "valid ⅔ · named by a goal, serves none",
    'Call: banking_transfer(from_account: "acc_101", to_account: "acc_108", amount: 100000)',
  ]);
  expect((await explain(["no-goal"], "arguments.amount == 50"))[0]).toBe("step");
});

test("a data breakpoint stops where a value of the state changes, in both directions", async () => {
  const editor = await startFailedAttempt();
  const dataId = "banking.world.accounts.acc_101.balance";
  const set = await editor.send("setDataBreakpoints", { breakpoints: [{ dataId }] });
  expect(set.body).toMatchObject({ breakpoints: [{ verified: true }] });
  expect(await editor.listStops("continue", 2)).toEqual(["6", "8"]);
  expect(await editor.listStops("reverseContinue", 1)).toEqual(["6"]);
  expect(editor.stop).toMatchObject({
    reason: "data breakpoint",
    text: `${dataId}: 3148.95 → 3098.95`,
  });
  await editor.send("setDataBreakpoints", {
    breakpoints: [{ dataId: "banking.world.transactions.txn_3260.amount" }],
  });
  expect(await editor.listStops("reverseContinue", 1)).toEqual(["0"]);
  expect(await editor.listStops("continue", 1)).toEqual(["6"]);
});

test("values of the state and of the reward can be watched for changes, those of a call not", async () => {
  const editor = await startFailedAttempt();
  await editor.listStops("continue", 1);
  await editor.send("stepBack");
  await editor.send("stepBack");
  const { scopes } = (await editor.send("scopes", { frameId: 0 }))
    .body as DebugProtocol.ScopesResponse["body"];
  const find = async (heading: string, name: string) =>
    (
      (
        await editor.send("dataBreakpointInfo", {
          name,
          variablesReference: scopes.find(it => it.name === heading)!.variablesReference,
        })
      ).body as DebugProtocol.DataBreakpointInfoResponse["body"]
    ).dataId;
  expect(await find("State", "accounts")).toBe("banking.world.accounts");
  expect(await find("Step", "Δ accounts.acc_101.balance")).toBe(
    "banking.world.accounts.acc_101.balance",
  );
  expect(await find("Reward", "paper")).toBe("reward.total");
  expect(await find("Step", "arguments")).toBeNull();
});

test("the console calls a tool on a copy of the state, and shows its outcome and its changes", async () => {
  const editor = await startFailedAttempt();
  const balance = "banking.world.accounts.acc_101.balance";
  const evaluate = async (expression: string) => {
    const response = await editor.send("evaluate", { expression, context: "repl" });
    return response.success
      ? (response.body as DebugProtocol.EvaluateResponse["body"])
      : { result: response.message!, variablesReference: 0 };
  };
  const call = 'transfer(from_account: "acc_101", to_account: "acc_108", amount: 50)';
  const result = await evaluate(call);
  expect(result.result).toMatch(/^ok, 6 changes: \{ transaction_id: "txn_3260"/);
  expect(await evaluate(balance)).toMatchObject({ result: "3148.95" });
  // what was printed can still be expanded after a step
  await editor.send("next");
  const rows = (await editor.send("variables", { variablesReference: result.variablesReference }))
    .body as DebugProtocol.VariablesResponse["body"];
  expect(rows.variables).toContainEqual(
    expect.objectContaining({ name: "Δ accounts.acc_101.balance", value: "3148.95 → 3098.95" }),
  );
  expect(
    (await evaluate('banking_transfer({"from_account": "acc_101", "amount": 5})')).result,
  ).toMatch(/^bad-arguments: /);
  expect((await evaluate("banking.list_accounts()")).result).toMatch(/^ok, 0 changes: /);
  expect((await evaluate("banking_fly()")).result).toMatch(/^unknown-tool: there is no tool/);
  for (const it of ["accounts", "world.accounts"])
    expect((await evaluate(`${it}.acc_101.balance`)).result).toBe("3148.95");
  expect((await evaluate("transfer(5)")).result).toMatch(/^the arguments are not JSON/);
  await editor.send("continue");
  expect(editor.stop).toMatchObject({ description: "At the end of the trajectory" });
  expect((await evaluate(call)).result).toMatch(/^ok, 6 changes/);
  expect((await evaluate(balance)).result).toBe("3098.95");
});

test("the console says of a tool that exists that it is not on offer", async () => {
  const whole = await moveFifty();
  const menu = whole.trajectory.header.menu.filter(it => it !== "banking_unfreeze_card");
  const header = { ...whole.trajectory.header, menu };
  const editor = new DebugClient(async () => loadTarget(whole, { ...whole.trajectory, header }));
  await editor.start();
  const { body } = await editor.send("evaluate", {
    expression: "unfreeze_card()",
    context: "repl",
  });
  expect(body).toMatchObject({
    result: "unknown-tool: banking_unfreeze_card is not on offer in this attempt",
  });
});

test("the console completes paths, tools, parameters and values", async () => {
  const editor = await startFailedAttempt();
  const complete = async (text: string) =>
    (
      (await editor.send("completions", { text, column: text.length + 1 }))
        .body as DebugProtocol.CompletionsResponse["body"]
    ).targets;
  const listLabels = async (text: string) => (await complete(text)).map(it => it.label);
  expect(await complete("call.name == banking.world.acc")).toContainEqual({
    label: "accounts",
    length: 3,
    type: "property",
    detail: "5 entries",
  });
  expect(await listLabels("banking.world.accounts.acc_101.")).toContain("balance");
  expect(await listLabels("rew")).toEqual(
    expect.arrayContaining(["banking", "reward", "position", "banking_transfer"]),
  );
  expect((await complete("banking_trans")).find(it => it.label === "banking_transfer")).toEqual({
    label: "banking_transfer",
    text: "banking_transfer(",
    length: 13,
    type: "function",
    detail: "(from_account, to_account, amount)",
  });
  expect(await listLabels('transfer(from_account: "acc_101", ')).toEqual(["to_account", "amount"]);
  expect((await complete('banking_transfer({"am'))[2]).toMatchObject({
    label: "amount",
    text: '"amount": ',
    length: 3,
  });
  expect(await complete("nothing.here.")).toEqual([]);
  expect(await complete("1 + ")).not.toEqual([]);
});

test("restarting a frame returns to before its call, its message or its turn", async () => {
  const editor = await startFailedAttempt();
  const restart = async (frameId: number) => {
    await editor.send("restart");
    for (let n = 0; n < 4; n++) await editor.send("next");
    expect(await editor.watch("arguments.amount")).toBe("50");
    await editor.send("restartFrame", { frameId });
    return editor.watch("position");
  };
  expect(await restart(0)).toBe("5");
  expect(await restart(1)).toBe("3");
  expect(await restart(2)).toBe("0");
  expect(editor.stopReason).toBe("entry, Before the first event");
});

test("stepping out goes to the end of the turn, unless a breakpoint is before it", async () => {
  const editor = new DebugClient(async () => loadTarget(await moveTwice()));
  await editor.start();
  const stepOut = async () => {
    await editor.send("stepOut");
    const { stackFrames } = (await editor.send("stackTrace", { threadId: 1 }))
      .body as DebugProtocol.StackTraceResponse["body"];
    return [editor.stop.reason, await editor.watch("position"), stackFrames.at(-1)!.name];
  };
  const { events } = (await moveTwice()).trajectory;
  const second = events.findLastIndex(it => it.kind === "user");
  expect(await stepOut()).toEqual(["step", String(second), expect.stringMatching(/^turn 1/)]);
  expect(await stepOut()).toEqual([
    "step",
    String(events.length),
    expect.stringMatching(/^turn 2/),
  ]);
  await editor.send("restart");
  await editor.send("setFunctionBreakpoints", { breakpoints: [{ name: "transfer" }] });
  expect(await stepOut()).toEqual(["function breakpoint", "3", expect.stringMatching(/^turn 1/)]);
});
