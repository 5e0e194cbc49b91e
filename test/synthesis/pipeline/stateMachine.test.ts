/**
 * The machine's way through a talk, transition by transition, with a speaker and a teacher that say
 * what they are told to.
 */
import { describe, expect, test } from "vitest";
import type { AssistantMessage, Call, Conversation } from "../../../src/policy/policy.ts";
import { createRandom } from "../../../src/environment/random.ts";
import type { ConversationResult } from "../../../src/synthesis/pipeline/conversationSetup.ts";
import { runConversation } from "../../../src/synthesis/pipeline/stateMachine.ts";
import type { SimulatedUser } from "../../../src/synthesis/teachers/simulatedUser.ts";
import type { Recovery, Teacher } from "../../../src/synthesis/teachers/teacher.ts";
import {
  trajectoryFormat,
  getCallFault,
  type CallEvent,
  type Event,
} from "../../../src/trajectory/trajectory.ts";
import { openLibrary } from "../library.ts";

const call = (name: string, args: Record<string, string> = {}): Call => ({
  name: `library_${name}`,
  arguments: args,
});
const asks = (...calls: Call[]): AssistantMessage => ({ text: "", calls });
const says = (text: string): AssistantMessage => ({ text, calls: [] });

interface Script {
  /** What the user says, turn by turn; what begins with `!` is flawed. */
  users: string[];
  messages: AssistantMessage[];
  means?: Recovery[];
  minTurns?: number;
  maxTurns?: number;
  seed?: number;
}

async function hold({
  users,
  messages,
  means = ["give-up"],
  minTurns = 1,
  maxTurns = 1,
  seed = 1,
}: Script): Promise<{
  course: ConversationResult;
  path: string[];
  events: Event[];
  ends: string[];
  recoveries: string[];
}> {
  const session = openLibrary();
  const events: Event[] = [];
  const ends: string[] = [];
  const recoveries: string[] = [];
  const user: SimulatedUser = {
    nextTurn: () => users.shift(),
    stuckReason: undefined,
    findFlaw: text => (text.startsWith("!") ? "flawed" : undefined),
    owesAnswer: false,
    hasMore: false,
    receiveResult: (_, end) => void ends.push(end),
  };
  const teacher: Teacher = {
    name: "told",
    async next(_: Conversation, recovery?: { kind: Recovery; failed: CallEvent }) {
      if (recovery)
        recoveries.push(`${recovery.kind} after ${getCallFault(recovery.failed)?.type}`);
      return messages.shift()!;
    },
    listRecoveries: () => means,
  };
  const header = {
    kind: "header",
    format: trajectoryFormat,
    id: "t/told",
    task: "t",
    servers: [],
    catalog: "",
    seed: 1,
    menu: [],
    policy: "told",
  } as const;
  const conversation = {
    header: { ...header, servers: [], menu: [] },
    tools: [...session.tools.values()],
    now: "2026-03-09T09:00",
    events,
  };
  const course = await runConversation({
    session,
    user,
    teacher,
    conversation,
    random: createRandom(seed),
    minTurns,
    maxTurns,
  });
  return {
    course,
    path: course.log.map(it => `${it.from} -${it.event}> ${it.to}`),
    events,
    ends,
    recoveries,
  };
}

test("a talk of one turn", async () => {
  const { course, path, events, ends } = await hold({
    users: ["Open the desk."],
    messages: [asks(call("open_desk")), says("It is open.")],
  });
  expect(course.rejected).toBeUndefined();
  expect(path).toEqual([
    "query -text> check-query",
    "check-query -sound> turn",
    "turn -said> ask",
    "ask -calls> check-calls",
    "check-calls -well formed> execute",
    "execute -all ok> success",
    "success -on> ask",
    "ask -text> respond",
    "respond -answered> continue",
    "continue -end> finish",
  ]);
  expect(events.map(it => it.kind)).toEqual(["user", "assistant", "call", "assistant"]);
  expect(ends).toEqual(["answered"]);
});

describe("what the user may not say", () => {
  test("is said again", async () => {
    const { course, events } = await hold({ users: ["!", "Hello."], messages: [says("Hello.")] });
    expect(course.rejected).toBeUndefined();
    expect(events[0]).toMatchObject({ kind: "user", text: "Hello." });
  });

  test("three times is the end", async () => {
    const { course, path } = await hold({ users: ["!", "!", "!", "Hello."], messages: [] });
    expect(course.rejected?.reason).toBe("query");
    expect(path.at(-1)).toBe("check-query -flawed> reject");
  });
});

describe("a message that cannot be used", () => {
  test("is asked for anew", async () => {
    const { course, path, events } = await hold({
      users: ["Go."],
      messages: [asks(call("fly")), says(" "), says("There.")],
    });
    expect(course.rejected).toBeUndefined();
    expect(path).toContain("check-calls -no such tool> regenerate");
    expect(path).toContain("ask -empty> regenerate");
    expect(events.map(it => it.kind)).toEqual(["user", "assistant"]);
  });

  test("three times is the end", async () => {
    const { course } = await hold({
      users: ["Go."],
      messages: [says(""), asks(call("fly")), { ...says("half"), cut: true }],
    });
    expect(course.rejected?.reason).toBe("teacher");
  });
});

const lend = call("lend", { book_id: "book_11", member_id: "mem_21", pin: "4321" });

describe("a call that fails", () => {
  test("is tried another way where there is one", async () => {
    const { course, path, recoveries } = await hold({
      users: ["Who is Adda?"],
      messages: [
        asks(call("find_member", { name: "Adda" })),
        asks(call("find_member", { name: "Ada" })),
        says("It is Ada."),
      ],
      means: ["retry", "give-up"],
    });
    expect(course.rejected).toBeUndefined();
    expect(path).toContain("failure -not_found> recover");
    expect(path).toContain("recover -retry> ask");
    expect(recoveries).toEqual(["retry after not_found"]);
  });

  test("is given up with an explanation where there is none", async () => {
    const { course, path, ends, events } = await hold({
      users: ["Lend Emma to Ada."],
      messages: [asks(lend), says("The desk is closed.")],
    });
    expect(course.rejected).toBeUndefined();
    expect(path).toContain("failure -precondition_failed> recover");
    expect(path).toContain("recover -give-up> respond");
    expect(ends).toEqual(["given-up"]);
    expect(events.at(-1)).toMatchObject({ kind: "assistant", text: "The desk is closed." });
  });

  test("for how things are, another tool is wished for before another try", async () => {
    const { recoveries } = await hold({
      users: ["Lend Emma to Ada."],
      messages: [asks(lend), asks(call("open_desk")), says("Open now.")],
      means: ["retry", "alternative", "give-up"],
    });
    expect(recoveries).toEqual(["alternative after precondition_failed"]);
  });

  test("the same way a third time is given up", async () => {
    const { recoveries } = await hold({
      users: ["Lend Emma to Ada."],
      messages: [asks(lend), asks(lend), asks(lend), says("The desk is closed.")],
      means: ["retry"],
    });
    expect(recoveries).toEqual([
      "retry after precondition_failed",
      "retry after precondition_failed",
      "give-up after precondition_failed",
    ]);
  });

  test("beside one that succeeds is a partial success", async () => {
    const { path } = await hold({
      users: ["Look."],
      messages: [
        asks(call("list_books"), call("find_member", { name: "Bo" })),
        says("There is no Bo."),
      ],
    });
    expect(path).toContain("execute -some ok> partial");
  });
});

test("ten calls in a turn are too many", async () => {
  const { course } = await hold({
    users: ["Look."],
    messages: [asks(...Array.from({ length: 10 }, () => call("list_books")))],
  });
  expect(course.rejected?.reason).toBe("length");
});

test("a talk of two to three turns goes on at least once and never a fourth time", async () => {
  const lengths = await Promise.all(
    Array.from({ length: 20 }, async (_, seed) => {
      const { events } = await hold({
        users: ["a", "b", "c", "d"],
        messages: Array.from({ length: 4 }, () => says("Yes.")),
        minTurns: 2,
        maxTurns: 3,
        seed,
      });
      return events.filter(it => it.kind === "user").length;
    }),
  );
  expect([...new Set(lengths)].toSorted((a, b) => a - b)).toEqual([2, 3]);
});
