/**
 * A chat model as user and assistant: what it says is held against the plan, what it does against
 * the wishes.
 */
import { describe, expect, test } from "vitest";
import type { ChatAnswer } from "../../../src/policy/chatModel.ts";
import { openEndpoint } from "../../../src/policy/endpoint.ts";
import { EndpointFault } from "../../../src/policy/endpointFault.ts";
import { createLlmRoles } from "../../../src/synthesis/teachers/llmRoles.ts";
import type { RejectedAttempt } from "../../../src/synthesis/pipeline/report.ts";
import { synthesizeConcurrently } from "../../../src/synthesis/pipeline/concurrentSynthesis.ts";
import type { AttemptResult } from "../../../src/synthesis/pipeline/attemptTask.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import { catalog } from "../../contracts/doors.ts";
import {
  callsFor,
  chatServer,
  ownTime,
  says,
  type Asked,
  type ChatBody,
  type Reply,
} from "../../policy/chatServer.ts";
import { askedIn, competentModel } from "../competentModel.ts";
import { synthesis } from "../made.ts";
import type { SynthesisOptions } from "../../../src/synthesis/pipeline/synthesisOptions.ts";

interface Played {
  readonly tasks: Task[];
  readonly rejected: RejectedAttempt[];
  readonly asked: readonly Asked[];
}

type Model = (body: ChatBody, competent: (body: ChatBody) => Reply) => Reply;

const createRoles = (url: string) =>
  createLlmRoles(
    openEndpoint({ url, model: "scripted", time: ownTime(), concurrency: 4 }),
    "endpoint:scripted",
  );

/**
 * As many attempts as make n tasks, or `attempts` of them, by a model that is competent unless it
 * is told otherwise.
 */
async function played(
  n: number,
  model: Model,
  more: Partial<SynthesisOptions> = {},
  { there = [] as readonly AttemptResult[], attempts = 400, concurrency = 3 } = {},
): Promise<Played> {
  const competent = competentModel();
  const server = await chatServer(({ body }) => model(body, competent));
  const [tasks, rejected] = [[] as Task[], [] as RejectedAttempt[]];
  const work = {
    ...synthesis({ servers: ["filesystem"], menu: "full", count: n, crossServerShare: 0, ...more }),
    llmRoles: createRoles(server.url),
  };
  for await (const it of synthesizeConcurrently(work, { concurrency, earlierAttempts: there })) {
    if (it.kind === "accepted") tasks.push(it.task);
    else rejected.push(it.rejected);
    if (tasks.length + rejected.length >= attempts) break;
  }
  return { tasks, rejected, asked: server.asked };
}

const plainly: Model = (body, competent) => competent(body);

/** Says the user's turns in another way; competent otherwise. */
const sayingFirst = (otherwise: (plain: string, n: number) => string): Model => {
  const n = new Map<string, number>();
  return (body, competent) => {
    const asked = askedIn(body);
    const reply = competent(body);
    if (!asked) return reply;
    const before = n.get(asked.plain) ?? 0;
    n.set(asked.plain, before + 1);
    return says(JSON.stringify({ text: otherwise(asked.plain, before) }));
  };
};

describe("a competent model", () => {
  test("makes tasks of every kind that replay, in the order of the file, under its own name", async () => {
    const { tasks } = await played(12, plainly, {
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

  test("is asked for the user's words with plan, person, day and names, by schema; and as the assistant sees no plan", async () => {
    const { asked } = await played(4, plainly, {}, { concurrency: 1 });
    const [first] = asked;
    expect(first!.body).toMatchObject({
      temperature: 0.8,
      response_format: { type: "json_schema", json_schema: { name: "user_message" } },
    });
    const briefs = asked.flatMap(it => askedIn(it.body) ?? []);
    expect(briefs.find(it => "names_that_exist" in it)).toMatchObject({
      now: expect.stringMatching(/^\w+day, 2026-/) as string,
      turn: expect.any(String) as string,
      person: { manner: expect.any(String) as string },
      names_that_exist: expect.any(Object) as object,
    });
    const assistant = asked.find(it => it.body.tools !== undefined)!;
    expect(JSON.stringify(assistant.body.messages)).not.toMatch(/in_words|names_that_exist|means/);
    expect(assistant.body.messages[0]!.content).toMatch(/^You are an assistant/);
  });

  test("goes on after what is there: it comes first as it is, and no id comes twice", async () => {
    const begun = await played(3, plainly);
    const there: AttemptResult[] = [
      ...begun.rejected.map(rejected => ({ kind: "rejected", rejected }) as const),
      ...begun.tasks.map(task => ({ kind: "accepted", task }) as const),
    ];
    const { tasks, rejected } = await played(6, plainly, {}, { there });
    expect(tasks.slice(0, 3)).toEqual(begun.tasks);
    expect(tasks).toHaveLength(6);
    const ids = [...tasks.map(it => it.id), ...rejected.map(it => it.id)];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("what the user must not say", () => {
  test("is sent back with the reason, more freely each time, until it is right", async () => {
    const { tasks, asked } = await played(
      1,
      sayingFirst((plain, n) => (n < 2 ? `${plain} Use filesystem_cat for it.` : plain)),
      {},
      { concurrency: 1 },
    );
    expect(tasks).toHaveLength(1);
    expect(tasks[0]!.provenance.log[0]).toMatch(
      /^query -text-> check-query -names a tool-> query#2 -text-> check-query#2 -names a tool-> query#3 -text-> check-query#3 -sound-> turn/,
    );
    expect(asked.slice(0, 3).map(it => it.body["temperature"])).toEqual([0.8, 0.9, 1]);
    expect(asked[1]!.body.messages.at(-1)!.content).toMatch(
      /^That message cannot be used: it names a tool\. Write it again\./,
    );
  });

  test.each([
    ["a tool's name", (plain: string) => `${plain} (banking_pay_bill)`, "names a tool"],
    ["an id", (plain: string) => `${plain} It is about acc_4711.`, "says an id"],
    [
      "a place that is not there",
      (plain: string) => `${plain} My cousin Zebedee asked.`,
      "makes something up",
    ],
    [
      "a number that nobody gave",
      (plain: string) => `${plain} That is 98765 in all.`,
      "makes something up",
    ],
    ["nothing", () => "", "empty"],
    ["too little", () => "could you see to it?", "loses a value"],
    ["a speech", (plain: string) => `${plain} ${"and so on ".repeat(80)}`, "too long"],
    ["a script", (plain: string) => `User: ${plain}`, "no message"],
    ["what nobody sees", (plain: string) => `${plain}\u202e`, "no message"],
  ])("%s", async (_, otherwise, event) => {
    const { tasks, rejected } = await played(
      1,
      sayingFirst(otherwise),
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
    ["half a JSON", says('{"text": "Could you'), "the answer is no JSON"],
    ["another shape", says('{"message": "Hello"}'), "the answer does not fit"],
    [
      "half a message",
      says('{"text": "Could you', { finish_reason: "length" }),
      "the answer was cut by a limit",
    ],
  ])("%s instead of JSON", async (_, reply, why) => {
    const { rejected } = await played(
      1,
      body => (askedIn(body) ? reply : says("Hm.")),
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

describe("what the assistant must not do", () => {
  const assisting =
    (otherwise: (body: ChatBody, competent: Reply) => Reply): Model =>
    (body, competent) =>
      askedIn(body) ? competent(body) : otherwise(body, competent(body));
  const logs = (it: Played) =>
    [...it.rejected.map(of => of.log), ...it.tasks.map(of => of.provenance.log)].flat().join("\n");

  test("a tool that is not on offer is said to it, and it may try again", async () => {
    const shown = await played(
      1,
      assisting((body, competent) =>
        /there is no tool/.test(body.messages.at(-1)!.content)
          ? competent
          : callsFor(["bakery_bake", "{}"]),
      ),
      {},
      { attempts: 8 },
    );
    expect(logs(shown)).toContain("check-calls -no such tool-> regenerate -again-> ask#2");
    expect(
      shown.asked.some(
        it =>
          it.body.messages.at(-1)!.content ===
          "(Your last message was not used: there is no tool bakery_bake. Write it again.)",
      ),
    ).toBe(true);
  });

  test.each([
    ["a wrong tool", callsFor(["bakery_bake", "{}"]), "no such tool"],
    ["arguments that are no JSON", callsFor(["filesystem_cat", '{"path": "~/no']), "bad arguments"],
  ])("always %s: the talk is turned down", async (_, calls, event) => {
    const { tasks, rejected } = await played(
      1,
      assisting(() => calls),
      {},
      { attempts: 5 },
    );
    expect(tasks).toEqual([]);
    expect(rejected.find(it => it.reason === "teacher")).toMatchObject({
      why: "no usable message",
      log: [expect.stringContaining(`ask#3 -calls-> check-calls#3 -${event}-> regenerate#3`)],
    });
  });

  test("talk without a call where something was asked for is turned down, with what was not done", async () => {
    const { rejected } = await played(
      1,
      assisting(() => says("All done, have a nice day.")),
      {},
      { attempts: 8 },
    );
    expect(rejected.find(it => it.reason === "teacher")?.why).toMatch(
      /^filesystem_\w+ was not called as the user asked$/,
    );
  });

  test("a change that nobody asked for is turned down", async () => {
    const { rejected, tasks } = await played(
      1,
      assisting((body, competent) =>
        body.messages.at(-1)!.role === "user"
          ? callsFor(["filesystem_mkdir", '{"path":"~/mine"}'])
          : competent,
      ),
      {},
      { attempts: 10 },
    );
    expect(tasks).toEqual([]);
    expect(rejected.filter(it => it.reason === "teacher").map(it => it.why)).toContain(
      "filesystem_mkdir was called, which nobody asked for",
    );
  });

  test("a reply that names a tool, says an id or is JSON is asked for again", async () => {
    for (const leak of [
      "I used filesystem_cat for that.",
      "It is done, see trash_101.",
      '{"done": true}',
    ]) {
      const shown = await played(
        1,
        assisting((body, competent) =>
          JSON.stringify(competent).includes('"tool_calls":') ||
          /not used/.test(body.messages.at(-1)!.content)
            ? competent
            : says(leak),
        ),
      );
      expect(shown.tasks).toHaveLength(1);
      expect(logs(shown)).toContain("respond -leaks-> regenerate -again-> ask#2");
      expect(JSON.stringify(shown.tasks[0]!.turns)).not.toContain(leak);
    }
  });
});

describe("when the model no longer answers", () => {
  test("a fault now and then costs an attempt, and the next one goes on", async () => {
    let n = 0;
    const { tasks } = await played(3, (body, competent) =>
      ++n % 9 === 0 ? { headers: { "content-type": "text/plain" }, body: "busy" } : competent(body),
    );
    expect(tasks).toHaveLength(3);
  });

  test("faults without end go up, with what was made before", async () => {
    const made: AttemptResult[] = [];
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
    const work = {
      ...synthesis({ servers: ["filesystem"], count: 5 }),
      llmRoles: createLlmRoles(model, "endpoint:gone"),
    };
    await expect(
      (async () => {
        for await (const it of synthesizeConcurrently(work, {
          concurrency: 2,
          earlierAttempts: [],
        }))
          made.push(it);
      })(),
    ).rejects.toThrow("the budget of 9 tokens is spent");
    expect(made).toEqual([]);
  });

  test("a cancel ends every talk that is under way", async () => {
    const stop = new AbortController();
    await expect(
      played(
        50,
        (body, competent) => {
          stop.abort(new Error("enough"));
          return competent(body);
        },
        { signal: stop.signal },
      ),
    ).rejects.toThrow("enough");
  });
});
