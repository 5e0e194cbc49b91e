/**
 * A student's messages do not depend on other conversations, earlier requests or the number of
 * slots; limits and cancellation.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as tf from "@tensorflow/tfjs-core";
import { startBackend } from "../../src/compute/backend.ts";
import { studentLimits, createCompactFormat } from "../../src/model/student/compactChat.ts";
import { openStudent, type Student, type StudentOptions } from "../../src/model/student.ts";
import { trainTokenizer } from "../../src/model/student/tokenizer.ts";
import { initializeModel, type Model } from "../../src/model/transformer/transformer.ts";
import type { AssistantMessage, Conversation } from "../../src/policy/policy.ts";
import { programs } from "../compute/numbers.ts";

const tokenizer = trainTokenizer([], [], [], 480);
const createConversation = (id: string, ...userTurns: string[]): Conversation => ({
  header: {
    kind: "header",
    format: "prove/trajectory@1",
    id,
    task: id,
    servers: [],
    catalog: "",
    seed: 0,
    menu: [],
    policy: "",
  },
  tools: [],
  now: "2026-03-02T09:00",
  events: userTurns.map(text => ({ kind: "user", text }) as const),
});

describe("a student", () => {
  let model: Model;
  const students: Student[] = [];
  const open = (temperature: number, options: Partial<StudentOptions> = {}): Student => {
    const student = openStudent(model, createCompactFormat(tokenizer), {
      name: "s",
      temperature,
      seed: 5,
      slots: 8,
      ...options,
    });
    students.push(student);
    return student;
  };
  beforeAll(async () => {
    await startBackend("wasm", { programs });
    model = initializeModel(
      {
        vocabulary: tokenizer.size,
        width: 32,
        layers: 2,
        heads: 2,
        kvHeads: 1,
        headWidth: 16,
        hidden: 64,
        context: studentLimits.context,
        ropeBase: 10_000,
      },
      9,
    );
    // large weights, so that distributions are far from uniform and messages end
    tf.tidy(() =>
      model.parameters.get("embedding")!.assign(tf.mul(model.parameters.get("embedding")!, 25)),
    );
  });
  afterAll(() => {
    for (const it of students) it.dispose();
    model.dispose();
  });

  const conversations = ["Hello", "Hello", "Please move it", "What is there?", "Hello"].map(
    (text, i) => createConversation(`t${i}`, text),
  );

  test.each([0, 1])(
    "at temperature %d writes the same alone, together, and with fewer slots than conversations",
    async temperature => {
      const together = open(temperature);
      const all = await Promise.all(conversations.map(it => together.next(it)));
      const alone: AssistantMessage[] = [];
      for (const it of conversations) {
        const student = open(temperature);
        alone.push(await student.next(it));
        student.release!(it);
      }
      expect(all.map(it => it.tokens)).toEqual(alone.map(it => it.tokens));
      const withFewSlots = open(temperature, { slots: 2 });
      const inTurn = await Promise.all(
        conversations.map(async it => {
          const message = await withFewSlots.next(it);
          withFewSlots.release!(it);
          return message;
        }),
      );
      expect(inTurn.map(it => it.tokens)).toEqual(all.map(it => it.tokens));
    },
  );

  test("with constrained decoding, even random weights call only offered tools", async () => {
    const student = open(1, { slots: 64, isConstrained: true });
    expect(student.decoding).toBe("constrained");
    const inputSchema = {
      type: "object",
      properties: { kind: { enum: ["a", "b"] }, count: { type: "integer" } },
      required: ["kind"],
    };
    const offered = [
      { name: "list", inputSchema },
      { name: "mark", inputSchema },
    ];
    const messages = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        student.next({
          ...createConversation(`constrained ${i}`, "Which are there?"),
          tools: offered as unknown as Conversation["tools"],
        }),
      ),
    );
    const calls = messages.flatMap(it => it.calls);
    expect(calls.length).toBeGreaterThan(5);
    for (const it of calls) {
      expect(["list", "mark"]).toContain(it.name);
      expect(it.arguments).toMatchObject({ kind: expect.stringMatching(/^[ab]$/) });
    }
  });

  test("with constrained decoding, a schema that cannot be followed ends only its own conversation", async () => {
    const student = open(1, { slots: 64, isConstrained: true });
    const offer = (id: string, mode: object) => {
      const inputSchema = { type: "object", properties: { mode }, required: ["mode"] };
      const tools = [{ name: "t", inputSchema }] as unknown as Conversation["tools"];
      return { ...createConversation(id, "Hello"), tools };
    };
    const results = await Promise.allSettled([
      student.next(offer("a", { type: "string", enum: [] }), undefined, { tool: "required" }),
      student.next(offer("b", { type: "integer", enum: [] }), undefined, { tool: "required" }),
      student.next(offer("c", { type: "string", enum: ["x"] }), undefined, { tool: "required" }),
    ]);
    for (const it of results.slice(0, 2))
      expect(it).toMatchObject({ reason: { name: "PolicyFault" } });
    expect(results[2]).toMatchObject({
      value: { calls: [{ name: "t", arguments: { mode: "x" } }] },
    });
  });

  test("writes the same with a cached conversation as without", async () => {
    const [first] = conversations as [Conversation];
    const student = open(0);
    const message = await student.next(first);
    const later: Conversation = {
      ...first,
      events: [
        ...first.events,
        {
          kind: "assistant",
          message: 0,
          text: "",
          tokens: [...message.tokens!],
          logprobs: [...message.logprobs!],
        },
        { kind: "user", text: "And now?" },
      ],
    };
    const cached = await student.next(later);
    const uncached = await open(0).next(later);
    expect(cached.tokens).toEqual(uncached.tokens);
    expect(cached.tokens!.length).toBeGreaterThan(0);
  });

  test("samples different tokens for conversations with different ids", async () => {
    const student = open(1);
    const [a, b] = await Promise.all([
      student.next(createConversation("one", "Hello")),
      student.next(createConversation("two", "Hello")),
    ]);
    expect(a.tokens).not.toEqual(b.tokens);
  });

  test("reports a log-probability for each token it chose", async () => {
    const { tokens, logprobs, mask } = await open(1).next(createConversation("three", "Hello"));
    expect(logprobs!.length).toBe(tokens!.length);
    expect(logprobs!.every(it => it <= 0 && it > -30)).toBe(true);
    expect(mask).toEqual(tokens!.map(() => 1));
  });

  test("is cut at its limit of sampled tokens, and if the opening is too long", async () => {
    const student = open(0);
    const used = Array.from({ length: studentLimits.sampled }, () => 20);
    const atLimit = await student.next({
      ...createConversation("four", "Hello"),
      events: [
        { kind: "user", text: "Hello" },
        { kind: "assistant", message: 0, text: "", tokens: used, logprobs: used.map(() => 0) },
        { kind: "user", text: "More" },
      ],
    });
    expect(atLimit).toMatchObject({
      cut: true,
      calls: [],
      excess: { part: "student's messages", limit: studentLimits.sampled },
    });
    expect(await student.next(createConversation("five", "word ".repeat(400)))).toMatchObject({
      cut: true,
      tokens: [],
    });
  });

  test("can be canceled", async () => {
    const student = open(1);
    const controller = new AbortController();
    const pending = student.next(createConversation("six", "Hello"), controller.signal);
    controller.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
    expect(
      (await student.next(createConversation("seven", "Hello"))).tokens!.length,
    ).toBeGreaterThan(0);
  });
});
