/** The text of transcripts, and the mapping between lines and events. */
import { describe, expect, test } from "vitest";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { paperProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { describeTotals, describeCall } from "../../src/reward/breakdownText.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { createCallEvent, type Trajectory } from "../../src/trajectory/trajectory.ts";
import {
  formatCall,
  isCallOnlyMessage,
  formatTranscript,
} from "../../src/trajectory/transcript.ts";
import { escapeInvisible } from "../../src/trajectory/invisibleText.ts";
import { checkGolden } from "../golden.ts";
import {
  abstain,
  balance,
  call,
  calling,
  catalog,
  lookUp,
  moveFifty,
  moveTwice,
  saying,
  transfer,
} from "./sampleTasks.ts";

/** An attempt at moving fifty euros in which nearly everything goes wrong once. */
const stumbling = async () => {
  const task = await moveFifty();
  const messages = [
    {
      ...calling(lookUp, call("list_transactions", { account_id: "acc_101", limit: 4 })),
      text: "Let me look.\nOne moment.",
    },
    calling(transfer("acc_108", 1e5)),
    calling({ name: "", arguments: "<tool_call>{oops\u001b[31m" }),
    calling(transfer("acc_115", 50), call("rob", { x: [1, 2] }), {
      name: "banking_get_balance",
      arguments: "acc",
    }),
    saying("Done\u202e!"),
  ];
  return {
    task,
    trajectory: (await rollout(task, createScriptedPolicy("student", messages), catalog))
      .trajectory,
  };
};

test("a task with its teacher's trajectory", async () => {
  const task = await moveTwice();
  checkGolden("transcript-task.txt", formatTranscript(task.trajectory, { task }).text);
});

test("an attempt with a note on each call", async () => {
  const { task, trajectory } = await stumbling();
  const breakdown = scoreAttempt(createAttemptFactory(catalog)(task, trajectory), paperProfile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  checkGolden(
    "transcript-attempt.txt",
    formatTranscript(trajectory, {
      task,
      describeCall: it => describeCall(breakdown, it),
      closing: describeTotals(breakdown),
    }).text,
  );
});

test("a task without goals, and an attempt that makes a call", async () => {
  const task = await abstain();
  const trajectory = (
    await rollout(task, createScriptedPolicy("eager", [calling(balance)]), catalog)
  ).trajectory;
  const breakdown = scoreAttempt(createAttemptFactory(catalog)(task, trajectory), paperProfile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  checkGolden(
    "transcript-abstain.txt",
    formatTranscript(trajectory, {
      task,
      describeCall: it => describeCall(breakdown, it),
      closing: describeTotals(breakdown),
    }).text,
  );
});

describe("lines and events", async () => {
  const { trajectory } = await stumbling();
  const transcript = formatTranscript(trajectory);
  const lines = transcript.text.split("\n");
  const lineWith = (part: string) => lines.findIndex(it => it.includes(part));
  const eventWith = (part: string) =>
    trajectory.events.findIndex(it => JSON.stringify(it).includes(part));

  test("every event has lines that map back to it", () => {
    const shown = [...trajectory.events.entries()].filter(
      ([i]) => !isCallOnlyMessage(trajectory.events, i),
    );
    const linesOf = (i: number) =>
      lines.map((_, line) => line).filter(it => transcript.eventAt(it) === i);
    expect(shown.map(([i]) => [linesOf(i)[0], linesOf(i).at(-1)])).toEqual(
      shown.map(([i]) => [transcript.ranges[i]!.first, transcript.ranges[i]!.last]),
    );
    expect(lines[transcript.ranges[eventWith('"limit":4')]!.first]).toContain(
      "banking_list_transactions",
    );
  });
  test("a message that only makes calls has the line of its first call", () => {
    const at = trajectory.events.findIndex(it => it.kind === "assistant" && it.text === "");
    expect(transcript.ranges[at]!.first).toBe(transcript.ranges[at + 1]!.first);
  });
  test("lines between events belong to no event", () =>
    expect(transcript.eventAt(lineWith("✗ banking_transfer") - 1)).toBeUndefined());
  test("a breakpoint between events moves to the next event", () => {
    const line = lineWith("✗ banking_transfer") - 1;
    const event = transcript.eventFrom(line)!;
    expect(transcript.ranges[event]!.first).toBe(line + 1);
  });
  test("a breakpoint on a call's first line is on the call, not on its message", () => {
    const event = eventWith('"limit":4');
    expect(transcript.eventFrom(transcript.ranges[event]!.first)).toBe(event);
  });
  test("a breakpoint on a call's result is on the call", () => {
    const event = eventWith('"limit":4');
    expect(transcript.eventFrom(transcript.ranges[event]!.first + 2)).toBe(event);
  });
  test("a breakpoint after the end is on no event", () =>
    expect(transcript.eventFrom(lines.length)).toBeUndefined());
});

describe("invisible characters are escaped", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["an escape", "\u001b[2J", "␛[2J"],
    ["line breaks and tabs in a line", "a\n\tb\r", "a␊␉b␍"],
    ["text that runs the other way", "gpj\u202eexe", "gpj⟨U+202E⟩exe"],
    ["isolates and marks", "\u2066a\u2069\u200f", "⟨U+2066⟩a⟨U+2069⟩⟨U+200F⟩"],
    ["a space of no width", "a\u200bb", "a⟨U+200B⟩b"],
    ["a byte order mark", "\ufeffa", "⟨U+FEFF⟩a"],
    ["other line separators", "a\u2028b", "a⟨U+2028⟩b"],
    ["C1 controls", "\u009b31m", "⟨U+009B⟩31m"],
    ["tags", "a\u{e0041}", "a⟨U+E0041⟩"],
    ["half a character", "\ud83d", "⟨U+D83D⟩"],
    ["delete", "\u007f", "␡"],
    ["letters of all kinds are as they are", "größer 日本 👩‍👩‍👧 עברית", "größer 日本 👩‍👩‍👧 עברית"],
  ];
  for (const [name, text, expected] of cases)
    test(name, () => expect(escapeInvisible(text)).toBe(expected));

  test("everywhere in a trajectory", async () => {
    const evil = "\u202e\u001b[31m";
    const { header } = (await moveFifty()).trajectory;
    const refusal = { kind: "refused", type: "not_found", message: evil, hint: evil } as const;
    const digest = "0" as never;
    const trajectory: Trajectory = {
      header: { ...header, id: evil, policy: evil },
      events: [
        { kind: "user", text: evil },
        { kind: "assistant", message: 0, text: evil },
        createCallEvent(
          0,
          evil,
          { [evil]: evil },
          {
            outcome: { kind: "ok", value: { [evil]: [evil, `${evil}\n${evil}`] } },
            patches: [],
            digest,
          },
        ),
        createCallEvent(0, "x", evil, { outcome: refusal, patches: [], digest }),
        { kind: "ended", by: "fault", fault: evil },
      ],
    };
    const { text } = formatTranscript(trajectory, { describeCall: () => evil, closing: [evil] });
    expect(text).not.toContain("\u202e");
    expect(text).not.toContain("\u001b");
    expect(text.match(/⟨U\+202E⟩/g)!.length).toBeGreaterThan(12);
  });
});

describe("the text of a call", () => {
  test("keys and values", () =>
    expect(formatCall("f", { a: 1, b: ["x", null], c: {} })).toBe('f(a: 1, b: ["x",null], c: {})'));
  test("no arguments", () => expect(formatCall("f", {})).toBe("f()"));
  test("arguments that are not an object", () => expect(formatCall("f", [1])).toBe("f([1])"));
  test("a block that could not be parsed", () =>
    expect(formatCall("", "{oops")).toBe("(not parsed) {oops"));
});

test("a long result is shortened, and text of several lines stays on several lines", async () => {
  const { header } = (await moveFifty()).trajectory;
  const value = {
    content: "first\nsecond",
    many: Array.from(
      { length: 100 },
      (_, i) => `a rather long item, number ${i}, so that no line holds them all`,
    ),
  };
  const events = [
    createCallEvent(
      0,
      "x",
      {},
      { outcome: { kind: "ok", value }, patches: [], digest: "0" as never },
    ),
  ];
  const { text } = formatTranscript({ header, events });
  expect(text).toContain("content: |\n        first\n        second\n");
  expect(text).toContain("… 48 more lines");
});
