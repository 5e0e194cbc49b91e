/**
 * The transitions of the state machine in conversations of a scripted user and a scripted teacher.
 */
import type { Call } from "../../../src/environment/outcome.ts";
import { describe, expect, test } from "vitest";
import type { AssistantMessage, Conversation } from "../../../src/policy/policy.ts";
import { createRandom } from "../../../src/environment/random.ts";
import type { ConversationResult } from "../../../src/synthesis/pipeline/conversation/conversation.ts";
import { runConversation } from "../../../src/synthesis/pipeline/conversation/stateMachine.ts";
import type { SimulatedUser, Recovery, Teacher } from "../../../src/synthesis/teachers/teacher.ts";
import {
  trajectoryFormat,
  getCallFault,
  type CallEvent,
  type Event,
} from "../../../src/trajectory/trajectory.ts";
import { openLibrarySession } from "../libraryServer.ts";

const call = (name: string, args: Record<string, string> = {}): Call => ({
  name: `library_${name}`,
  arguments: args,
});
const createCalls = (...calls: Call[]): AssistantMessage => ({ text: "", calls });
const createReply = (text: string): AssistantMessage => ({ text, calls: [] });

interface Script {
  /** The user's turns; a text that begins with `!` has a flaw. */
  users: string[];
  messages: AssistantMessage[];
  /** The recoveries that the teacher can carry out. */
  possibleRecoveries?: Recovery[];
  minTurns?: number;
  maxTurns?: number;
  seed?: number;
}

async function runScript({
  users,
  messages,
  possibleRecoveries = ["give-up"],
  minTurns = 1,
  maxTurns = 1,
  seed = 1,
}: Script): Promise<{
  result: ConversationResult;
  path: string[];
  events: Event[];
  ends: string[];
  recoveries: string[];
}> {
  const session = openLibrarySession();
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
    name: "scripted",
    async next(_: Conversation, recovery?: { kind: Recovery; failed: CallEvent }) {
      if (recovery)
        recoveries.push(`${recovery.kind} after ${getCallFault(recovery.failed)?.type}`);
      return messages.shift()!;
    },
    listRecoveries: () => possibleRecoveries,
  };
  const header = {
    kind: "header",
    format: trajectoryFormat,
    id: "t/scripted",
    task: "t",
    servers: [],
    catalog: "",
    seed: 1,
    menu: [],
    policy: "scripted",
  } as const;
  const conversation = {
    header: { ...header, servers: [], menu: [] },
    tools: [...session.tools.values()],
    now: "2026-03-09T09:00",
    events,
  };
  const result = await runConversation({
    session,
    user,
    teacher,
    conversation,
    random: createRandom(seed),
    minTurns,
    maxTurns,
  });
  return {
    result,
    path: result.log.map(it => `${it.from} -${it.event}> ${it.to}`),
    events,
    ends,
    recoveries,
  };
}

test("a conversation of one turn", async () => {
  const { result, path, events, ends } = await runScript({
    users: ["Open the desk."],
    messages: [createCalls(call("open_desk")), createReply("It is open.")],
  });
  expect(result.rejected).toBeUndefined();
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

describe("a user turn with a flaw", () => {
  test("is generated again", async () => {
    const { result, events } = await runScript({
      users: ["!", "Hello."],
      messages: [createReply("Hello.")],
    });
    expect(result.rejected).toBeUndefined();
    expect(events[0]).toMatchObject({ kind: "user", text: "Hello." });
  });

  test("rejects the conversation after three attempts", async () => {
    const { result, path } = await runScript({ users: ["!", "!", "!", "Hello."], messages: [] });
    expect(result.rejected?.reason).toBe("query");
    expect(path.at(-1)).toBe("check-query -flawed> reject");
  });
});

describe("an unusable message of the teacher", () => {
  test("is requested again", async () => {
    const { result, path, events } = await runScript({
      users: ["Go."],
      messages: [createCalls(call("fly")), createReply(" "), createReply("There.")],
    });
    expect(result.rejected).toBeUndefined();
    expect(path).toContain("check-calls -no such tool> regenerate");
    expect(path).toContain("ask -empty> regenerate");
    expect(events.map(it => it.kind)).toEqual(["user", "assistant"]);
  });

  test("rejects the conversation after three attempts", async () => {
    const { result } = await runScript({
      users: ["Go."],
      messages: [createReply(""), createCalls(call("fly")), { ...createReply("half"), cut: true }],
    });
    expect(result.rejected?.reason).toBe("teacher");
  });
});

const lend = call("lend", { book_id: "book_11", member_id: "mem_21", pin: "4321" });

describe("a call that fails", () => {
  test("is retried if the teacher can", async () => {
    const { result, path, recoveries } = await runScript({
      users: ["Who is Adda?"],
      messages: [
        createCalls(call("find_member", { name: "Adda" })),
        createCalls(call("find_member", { name: "Ada" })),
        createReply("It is Ada."),
      ],
      possibleRecoveries: ["retry", "give-up"],
    });
    expect(result.rejected).toBeUndefined();
    expect(path).toContain("failure -not_found> recover");
    expect(path).toContain("recover -retry> ask");
    expect(recoveries).toEqual(["retry after not_found"]);
  });

  test("is given up with an explanation otherwise", async () => {
    const { result, path, ends, events } = await runScript({
      users: ["Lend Emma to Ada."],
      messages: [createCalls(lend), createReply("The desk is closed.")],
    });
    expect(result.rejected).toBeUndefined();
    expect(path).toContain("failure -precondition_failed> recover");
    expect(path).toContain("recover -give-up> respond");
    expect(ends).toEqual(["given-up"]);
    expect(events.at(-1)).toMatchObject({ kind: "assistant", text: "The desk is closed." });
  });

  test("because of the state leads to another tool rather than a retry", async () => {
    const { recoveries } = await runScript({
      users: ["Lend Emma to Ada."],
      messages: [createCalls(lend), createCalls(call("open_desk")), createReply("Open now.")],
      possibleRecoveries: ["retry", "alternative", "give-up"],
    });
    expect(recoveries).toEqual(["alternative after precondition_failed"]);
  });

  test("is given up when it has failed three times", async () => {
    const { recoveries } = await runScript({
      users: ["Lend Emma to Ada."],
      messages: [
        createCalls(lend),
        createCalls(lend),
        createCalls(lend),
        createReply("The desk is closed."),
      ],
      possibleRecoveries: ["retry"],
    });
    expect(recoveries).toEqual([
      "retry after precondition_failed",
      "retry after precondition_failed",
      "give-up after precondition_failed",
    ]);
  });

  test("together with one that succeeds is a partial success", async () => {
    const { path } = await runScript({
      users: ["Look."],
      messages: [
        createCalls(call("list_books"), call("find_member", { name: "Bo" })),
        createReply("There is no Bo."),
      ],
    });
    expect(path).toContain("execute -some ok> partial");
  });
});

test("ten calls in one turn reject the conversation", async () => {
  const { result } = await runScript({
    users: ["Look."],
    messages: [createCalls(...Array.from({ length: 10 }, () => call("list_books")))],
  });
  expect(result.rejected?.reason).toBe("length");
});

test("a conversation of two to three turns has two or three turns", async () => {
  const lengths = await Promise.all(
    Array.from({ length: 20 }, async (_, seed) => {
      const { events } = await runScript({
        users: ["a", "b", "c", "d"],
        messages: Array.from({ length: 4 }, () => createReply("Yes.")),
        minTurns: 2,
        maxTurns: 3,
        seed,
      });
      return events.filter(it => it.kind === "user").length;
    }),
  );
  expect([...new Set(lengths)].toSorted((a, b) => a - b)).toEqual([2, 3]);
});
