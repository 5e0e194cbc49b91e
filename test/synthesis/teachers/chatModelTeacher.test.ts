/** A chat model as user and assistant: its texts and calls are checked against the plan. */
import { describe, expect, test } from "vitest";
import type { ChatAnswer } from "../../../src/policy/chatModel.ts";
import { openEndpoint } from "../../../src/policy/endpoint.ts";
import { EndpointFault } from "../../../src/policy/endpointFormat.ts";
import { createLlmRoles } from "../../../src/synthesis/teachers/chatModel/roles.ts";
import type { RejectedAttempt } from "../../../src/synthesis/pipeline/report/report.ts";
import { synthesizeConcurrently } from "../../../src/synthesis/pipeline/run/synthesize.ts";
import type { AttemptResult } from "../../../src/synthesis/pipeline/task/attemptTask.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import { catalog } from "../../contracts/transports.ts";
import {
  callsFor,
  chatServer,
  ownTime,
  says,
  type Asked,
  type ChatBody,
  type Reply,
} from "../../policy/chatServer.ts";
import { parseTurnPrompt, createScriptedModel } from "../scriptedChatModel.ts";
import { createSynthesisOptions } from "../synthesizeTasks.ts";
import type { SynthesisOptions } from "../../../src/synthesis/pipeline/synthesisOptions.ts";

interface SynthesisResult {
  readonly tasks: Task[];
  readonly rejected: RejectedAttempt[];
  /** The requests that the model received. */
  readonly requests: readonly Asked[];
}

/** Answers a request; `scripted` is the model that does everything right. */
type Model = (body: ChatBody, scripted: (body: ChatBody) => Reply) => Reply;

const createRoles = (url: string) =>
  createLlmRoles(
    openEndpoint({ url, model: "scripted", time: ownTime(), concurrency: 4 }),
    "endpoint:scripted",
  );

/** Synthesizes `count` tasks with a model, in at most `attempts` attempts. */
async function synthesizeWith(
  count: number,
  model: Model,
  changes: Partial<SynthesisOptions> = {},
  { earlierAttempts = [] as readonly AttemptResult[], attempts = 400, concurrency = 3 } = {},
): Promise<SynthesisResult> {
  const scripted = createScriptedModel();
  const server = await chatServer(({ body }) => model(body, scripted));
  const [tasks, rejected] = [[] as Task[], [] as RejectedAttempt[]];
  const options = {
    ...createSynthesisOptions({
      servers: ["filesystem"],
      menu: "full",
      count,
      crossServerShare: 0,
      ...changes,
    }),
    llmRoles: createRoles(server.url),
  };
  for await (const it of synthesizeConcurrently(options, { concurrency, earlierAttempts })) {
    if (it.kind === "accepted") tasks.push(it.task);
    else rejected.push(it.rejected);
    if (tasks.length + rejected.length >= attempts) break;
  }
  return { tasks, rejected, requests: server.asked };
}

const scriptedModel: Model = (body, scripted) => scripted(body);

/** The scripted model with other texts of the user; `attempt` counts the attempts at a turn. */
const withUserText = (getText: (plain: string, attempt: number) => string): Model => {
  const attempts = new Map<string, number>();
  return (body, scripted) => {
    const prompt = parseTurnPrompt(body);
    const reply = scripted(body);
    if (!prompt) return reply;
    const attempt = attempts.get(prompt.plain) ?? 0;
    attempts.set(prompt.plain, attempt + 1);
    return says(JSON.stringify({ text: getText(prompt.plain, attempt) }));
  };
};

describe("the scripted model", () => {
  test("makes tasks of several kinds that replay, with its name as their teacher", async () => {
    const { tasks } = await synthesizeWith(12, scriptedModel, {
      servers: ["filesystem", "issue_tracker", "calendar"],
    });
    expect(tasks).toHaveLength(12);
    expect(new Set(tasks.map(it => it.kind)).size).toBeGreaterThan(1);
    for (const task of tasks) {
      expect(task.provenance.teacher).toBe("endpoint:scripted");
      expect(task.trajectory.header).toMatchObject({
        policy: "endpoint:scripted",
        id: `${task.id}/endpoint:scripted`,
      });
      expect(checkReplay(catalog, task.trajectory).verdict).toBe("same");
      expect(task.goals.flatMap(it => it.calls).length).toBe(
        listCalls(task.trajectory).filter(it => it.outcome.kind === "ok").length,
      );
    }
  });

  test("gets plan, persona, day and names as the user, with a schema, and no plan as the assistant", async () => {
    const { requests } = await synthesizeWith(4, scriptedModel, {}, { concurrency: 1 });
    const [first] = requests;
    expect(first!.body).toMatchObject({
      temperature: 0.8,
      response_format: { type: "json_schema", json_schema: { name: "user_message" } },
    });
    const prompts = requests.flatMap(it => parseTurnPrompt(it.body) ?? []);
    expect(prompts.find(it => "names_that_exist" in it)).toMatchObject({
      now: expect.stringMatching(/^\w+day, 2026-/) as string,
      turn: expect.any(String) as string,
      person: { manner: expect.any(String) as string },
      names_that_exist: expect.any(Object) as object,
    });
    const assistantRequest = requests.find(it => it.body.tools !== undefined)!;
    expect(JSON.stringify(assistantRequest.body.messages)).not.toMatch(
      /in_words|names_that_exist|means/,
    );
    expect(assistantRequest.body.messages[0]!.content).toMatch(/^You are an assistant/);
  });

  test("continues after earlier attempts, which come first, and repeats no id", async () => {
    const earlier = await synthesizeWith(3, scriptedModel);
    const earlierAttempts: AttemptResult[] = [
      ...earlier.rejected.map(it => ({ kind: "rejected", rejected: it }) as const),
      ...earlier.tasks.map(it => ({ kind: "accepted", task: it }) as const),
    ];
    const { tasks, rejected } = await synthesizeWith(6, scriptedModel, {}, { earlierAttempts });
    expect(tasks.slice(0, 3)).toEqual(earlier.tasks);
    expect(tasks).toHaveLength(6);
    const ids = [...tasks.map(it => it.id), ...rejected.map(it => it.id)];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("a user text with a flaw", () => {
  test("is requested again with the reason and a higher temperature", async () => {
    const { tasks, requests } = await synthesizeWith(
      1,
      withUserText((plain, attempt) =>
        attempt < 2 ? `${plain} Use filesystem_cat for it.` : plain,
      ),
      {},
      { concurrency: 1 },
    );
    expect(tasks).toHaveLength(1);
    expect(tasks[0]!.provenance.log[0]).toMatch(
      /^query -text-> check-query -names a tool-> query#2 -text-> check-query#2 -names a tool-> query#3 -text-> check-query#3 -sound-> turn/,
    );
    expect(requests.slice(0, 3).map(it => it.body["temperature"])).toEqual([0.8, 0.9, 1]);
    expect(requests[1]!.body.messages.at(-1)!.content).toMatch(
      /^That message cannot be used: it names a tool\. Write it again\./,
    );
  });

  test.each([
    ["a tool name", (plain: string) => `${plain} (banking_pay_bill)`, "names a tool"],
    ["an id", (plain: string) => `${plain} It is about acc_4711.`, "says an id"],
    [
      "a name that does not exist",
      (plain: string) => `${plain} My cousin Zebedee asked.`,
      "makes something up",
    ],
    [
      "a number that was not given",
      (plain: string) => `${plain} That is 98765 in all.`,
      "makes something up",
    ],
    ["no text", () => "", "empty"],
    ["a text without the values", () => "could you see to it?", "loses a value"],
    ["a long text", (plain: string) => `${plain} ${"and so on ".repeat(80)}`, "too long"],
    ["a text with a role", (plain: string) => `User: ${plain}`, "no message"],
    ["invisible characters", (plain: string) => `${plain}\u202e`, "no message"],
  ])("rejects the attempt: %s", async (_, getText, event) => {
    const { tasks, rejected } = await synthesizeWith(
      1,
      withUserText(getText),
      { split: "train" },
      { attempts: 6, concurrency: 1 },
    );
    expect(tasks.filter(it => it.goals.length > 0)).toEqual([]);
    expect(
      rejected.some(
        it => it.reason === "query" && it.log.at(-1)!.endsWith(`check-query#3 -${event}-> reject`),
      ),
    ).toBe(true);
  });

  test.each([
    ["prose", says("Sure! Here is the message."), "the answer is no JSON"],
    ["incomplete JSON", says('{"text": "Could you'), "the answer is no JSON"],
    ["another shape", says('{"message": "Hello"}'), "the answer does not fit"],
    [
      "a truncated message",
      says('{"text": "Could you', { finish_reason: "length" }),
      "the answer was truncated by a limit",
    ],
  ])("rejects the attempt: %s instead of the requested JSON", async (_, reply, why) => {
    const { rejected } = await synthesizeWith(
      1,
      body => (parseTurnPrompt(body) ? reply : says("Hm.")),
      {},
      { attempts: 1 },
    );
    expect(rejected[0]).toMatchObject({
      reason: "query",
      why: expect.stringContaining(why) as string,
    });
    expect(rejected[0]!.log).toEqual([expect.stringMatching(/check-query#3 -unusable-> reject$/)]);
  });
});

describe("an assistant message with a flaw", () => {
  const withAssistantReply =
    (getReply: (body: ChatBody, scripted: Reply) => Reply): Model =>
    (body, scripted) =>
      parseTurnPrompt(body) ? scripted(body) : getReply(body, scripted(body));
  const formatLogs = (it: SynthesisResult) =>
    [...it.rejected.map(of => of.log), ...it.tasks.map(of => of.provenance.log)].flat().join("\n");

  test("is requested again with the reason: a call of an unknown tool", async () => {
    const result = await synthesizeWith(
      1,
      withAssistantReply((body, scripted) =>
        /there is no tool/.test(body.messages.at(-1)!.content)
          ? scripted
          : callsFor(["bakery_bake", "{}"]),
      ),
      {},
      { attempts: 8 },
    );
    expect(formatLogs(result)).toContain("check-calls -no such tool-> regenerate -again-> ask#2");
    expect(
      result.requests.some(
        it =>
          it.body.messages.at(-1)!.content ===
          "(Your last message was not used: there is no tool bakery_bake. Write it again.)",
      ),
    ).toBe(true);
  });

  test.each([
    ["an unknown tool", callsFor(["bakery_bake", "{}"]), "no such tool"],
    [
      "arguments that are not JSON",
      callsFor(["filesystem_cat", '{"path": "~/no']),
      "bad arguments",
    ],
  ])("rejects the attempt after three times: %s", async (_, calls, event) => {
    const { tasks, rejected } = await synthesizeWith(
      1,
      withAssistantReply(() => calls),
      {},
      { attempts: 5 },
    );
    expect(tasks).toEqual([]);
    expect(rejected.find(it => it.reason === "teacher")).toMatchObject({
      why: "no usable message",
      log: [expect.stringContaining(`ask#3 -calls-> check-calls#3 -${event}-> regenerate#3`)],
    });
  });

  test("rejects the attempt: a reply without the requested call", async () => {
    const { rejected } = await synthesizeWith(
      1,
      withAssistantReply(() => says("All done, have a nice day.")),
      {},
      { attempts: 8 },
    );
    expect(rejected.find(it => it.reason === "teacher")?.why).toMatch(
      /^filesystem_\w+ was not called as the user asked$/,
    );
  });

  test("rejects the attempt: a write that the user has not requested", async () => {
    const { rejected, tasks } = await synthesizeWith(
      1,
      withAssistantReply((body, scripted) =>
        body.messages.at(-1)!.role === "user"
          ? callsFor(["filesystem_mkdir", '{"path":"~/mine"}'])
          : scripted,
      ),
      {},
      { attempts: 10 },
    );
    expect(tasks).toEqual([]);
    expect(rejected.filter(it => it.reason === "teacher").map(it => it.why)).toContain(
      "filesystem_mkdir was called, which nobody asked for",
    );
  });

  test("is requested again: a reply that names a tool, says an id or is JSON", async () => {
    for (const leak of [
      "I used filesystem_cat for that.",
      "It is done, see trash_101.",
      '{"done": true}',
    ]) {
      const result = await synthesizeWith(
        1,
        withAssistantReply((body, scripted) =>
          JSON.stringify(scripted).includes('"tool_calls":') ||
          /not used/.test(body.messages.at(-1)!.content)
            ? scripted
            : says(leak),
        ),
      );
      expect(result.tasks).toHaveLength(1);
      expect(formatLogs(result)).toContain("respond -leaks-> regenerate -again-> ask#2");
      expect(JSON.stringify(result.tasks[0]!.turns)).not.toContain(leak);
    }
  });
});

describe("when the model no longer answers", () => {
  test("a single fault costs one attempt", async () => {
    let n = 0;
    const { tasks } = await synthesizeWith(3, (body, scripted) =>
      ++n % 9 === 0 ? { headers: { "content-type": "text/plain" }, body: "busy" } : scripted(body),
    );
    expect(tasks).toHaveLength(3);
  });

  test("the fault is thrown after too many in a row", async () => {
    const attempts: AttemptResult[] = [];
    const model = {
      name: "gone",
      complete: (): Promise<ChatAnswer> =>
        Promise.reject(
          new EndpointFault(
            "spent",
            "the budget of 9 tokens is spent",
            "give a larger budget, or none",
          ),
        ),
    };
    const options = {
      ...createSynthesisOptions({ servers: ["filesystem"], count: 5 }),
      llmRoles: createLlmRoles(model, "endpoint:gone"),
    };
    await expect(
      (async () => {
        for await (const it of synthesizeConcurrently(options, {
          concurrency: 2,
          earlierAttempts: [],
        }))
          attempts.push(it);
      })(),
    ).rejects.toThrow("the budget of 9 tokens is spent");
    expect(attempts).toEqual([]);
  });

  test("an aborted signal ends every running conversation", async () => {
    const controller = new AbortController();
    await expect(
      synthesizeWith(
        50,
        (body, scripted) => {
          controller.abort(new Error("enough"));
          return scripted(body);
        },
        { signal: controller.signal },
      ),
    ).rejects.toThrow("enough");
  });
});
