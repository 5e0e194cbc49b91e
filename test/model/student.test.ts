/**
 * A student in company: what it says does not depend on who speaks beside it, how often it was
 * asked, or how many slots there are.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as tf from "@tensorflow/tfjs-core";
import { startBackend } from "../../src/compute/backend.ts";
import { studentLimits } from "../../src/model/chatFormat.ts";
import { openStudent, type Student } from "../../src/model/student.ts";
import { trainTokenizer } from "../../src/model/tokenizer.ts";
import { initializeModel, type Model } from "../../src/model/transformer.ts";
import type { AssistantMessage, Conversation } from "../../src/policy/policy.ts";
import { programs } from "../compute/numbers.ts";

const tokenizer = trainTokenizer([], [], [], 480);
const talkOf = (id: string, ...said: string[]): Conversation => ({
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
  events: said.map(text => ({ kind: "user", text }) as const),
});

describe("a student", () => {
  let model: Model;
  const opened: Student[] = [];
  const open = (temperature: number, slots = 8): Student => {
    const student = openStudent(model, tokenizer, { name: "s", temperature, seed: 5, slots });
    opened.push(student);
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
    // weights large enough that distributions are far from even, so that messages end
    tf.tidy(() =>
      model.parameters.get("embedding")!.assign(tf.mul(model.parameters.get("embedding")!, 25)),
    );
  });
  afterAll(() => {
    for (const it of opened) it.dispose();
    model.dispose();
  });

  const asked = ["Hello", "Hello", "Please move it", "What is there?", "Hello"].map((text, i) =>
    talkOf(`t${i}`, text),
  );

  test.each([0, 1])(
    "at temperature %d says the same alone, together, and with fewer slots than conversations",
    async temperature => {
      const together = open(temperature);
      const all = await Promise.all(asked.map(it => together.next(it)));
      const alone: AssistantMessage[] = [];
      for (const it of asked) {
        const student = open(temperature);
        alone.push(await student.next(it));
        student.release!(it);
      }
      expect(all.map(it => it.tokens)).toEqual(alone.map(it => it.tokens));
      const few = open(temperature, 2);
      const inTurn = await Promise.all(
        asked.map(async it => {
          const said = await few.next(it);
          few.release!(it);
          return said;
        }),
      );
      expect(inTurn.map(it => it.tokens)).toEqual(all.map(it => it.tokens));
    },
  );

  test("says the same when it goes on as when it is asked anew", async () => {
    const [first] = asked as [Conversation];
    const student = open(0);
    const said = await student.next(first);
    const later: Conversation = {
      ...first,
      events: [
        ...first.events,
        {
          kind: "assistant",
          message: 0,
          text: "",
          tokens: [...said.tokens!],
          logprobs: [...said.logprobs!],
        },
        { kind: "user", text: "And now?" },
      ],
    };
    const goesOn = await student.next(later);
    const anew = await open(0).next(later);
    expect(goesOn.tokens).toEqual(anew.tokens);
    expect(goesOn.tokens!.length).toBeGreaterThan(0);
  });

  test("samples other words for another conversation", async () => {
    const student = open(1);
    const [a, b] = await Promise.all([
      student.next(talkOf("one", "Hello")),
      student.next(talkOf("two", "Hello")),
    ]);
    expect(a.tokens).not.toEqual(b.tokens);
  });

  test("reports a log-probability for each token it chose", async () => {
    const { tokens, logprobs, mask } = await open(1).next(talkOf("three", "Hello"));
    expect(logprobs!.length).toBe(tokens!.length);
    expect(logprobs!.every(it => it <= 0 && it > -30)).toBe(true);
    expect(mask).toEqual(tokens!.map(() => 1));
  });

  test("is cut where it has no words left, and where the opening is too long to be read", async () => {
    const student = open(0);
    const used = Array.from({ length: studentLimits.sampled }, () => 20);
    const spent = await student.next({
      ...talkOf("four", "Hello"),
      events: [
        { kind: "user", text: "Hello" },
        { kind: "assistant", message: 0, text: "", tokens: used, logprobs: used.map(() => 0) },
        { kind: "user", text: "More" },
      ],
    });
    expect(spent).toMatchObject({ cut: true, calls: [] });
    expect(await student.next(talkOf("five", "word ".repeat(400)))).toMatchObject({
      cut: true,
      tokens: [],
    });
  });

  test("lets go when it is told to", async () => {
    const student = open(1);
    const stop = new AbortController();
    const asking = student.next(talkOf("six", "Hello"), stop.signal);
    stop.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect((await student.next(talkOf("seven", "Hello"))).tokens!.length).toBeGreaterThan(0);
  });
});
