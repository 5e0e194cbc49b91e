/**
 * The chat format: messages that are parsed back, conversations as tokens, results within limits.
 */
import type { Call } from "../../src/environment/outcome.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IdAliases } from "../../src/model/student/idAliases.ts";
import { computeChatDigest } from "../../src/model/student/chatDigest.ts";
import {
  isMessageEnd,
  parseMessage,
  studentLimits,
  encodeMessage,
  encodeOpening,
  encodeResult,
  encodeChat,
} from "../../src/model/student/compactChat.ts";
import { parseArgument, formatArgument } from "../../src/model/student/valueText.ts";
import { marks, trainTokenizer } from "../../src/model/student/tokenizer.ts";
import type { Conversation } from "../../src/policy/policy.ts";

type Tool = Conversation["tools"][number];
const tool = (name: string, properties: object, required: string[], outputSchema: object = {}) =>
  ({
    name,
    inputSchema: { type: "object", properties, required },
    outputSchema,
  }) as unknown as Tool;

const tools = [
  tool(
    "bank_transfer",
    {
      from: { type: "string" },
      to: { type: "string" },
      amount: { type: "number" },
      memo: { type: "string" },
    },
    ["from", "to", "amount"],
  ),
  tool("bank_list", {}, [], {
    properties: {
      accounts: {
        items: {
          properties: {
            kind: { type: "string" },
            name: { "x-label": "account" },
            account_id: { "x-entity": "account" },
          },
        },
      },
    },
  }),
  tool(
    "bank_tag",
    {
      tags: { type: "array", items: { type: "string" } },
      on: { type: "boolean" },
      count: { type: "integer" },
      till: { anyOf: [{ type: "string" }, { type: "null" }] },
      rare_key: { type: "object" },
    },
    [],
  ),
];
const tokenizer = trainTokenizer(
  [],
  ["bank_transfer", "bank_list"],
  ["from", "to", "amount", "tags", "on", "count", "till"],
  600,
);

const header: Conversation["header"] = {
  kind: "header",
  format: "prove/trajectory@1",
  id: "t",
  task: "t",
  servers: [],
  catalog: "",
  seed: 0,
  menu: [],
  policy: "p",
};
const createConversation = (events: Conversation["events"]): Conversation => ({
  header,
  tools,
  now: "2026-03-02T09:00",
  events,
});
const step = (name: string, value: Call["arguments"]) =>
  ({
    kind: "call",
    message: 0,
    name,
    arguments: {},
    outcome: { kind: "ok", value },
    digest: "",
  }) as const;

test("the cards of tools that a user turn adds come with that turn", () => {
  const events: Conversation["events"] = [
    { kind: "user", text: "Move it" },
    { kind: "assistant", message: 0, text: "I can't" },
    { kind: "user", text: "Now you can", adds: ["bank_list"] },
  ];
  const conversation = createConversation(events);
  const without = { ...conversation, tools: tools.filter(it => it.name !== "bank_list") };
  expect(encodeOpening(tokenizer, conversation)).toEqual(encodeOpening(tokenizer, without));
  expect(tokenizer.decode(encodeChat(tokenizer, conversation).ids)).toMatch(
    /bank_transfer.*<user> Move it.*I can't.*<menu> ?bank_list.*<user> Now you can/s,
  );
});

describe("a call", () => {
  const check = (calls: Call[]) => {
    const aliases = new IdAliases();
    expect(
      parseMessage(
        tokenizer,
        tools,
        encodeMessage(tokenizer, tools, { text: "", calls }, aliases),
        aliases,
      ),
    ).toEqual({ text: "", calls });
  };

  test("is parsed back as it was written", () => {
    check([{ name: "bank_transfer", arguments: { from: "acc_1", to: "acc 2", amount: 12.5 } }]);
    check([{ name: "bank_list", arguments: {} }]);
    check([
      { name: "bank_list", arguments: {} },
      { name: "bank_transfer", arguments: { from: "a", to: "b", amount: 3, memo: "to= me; [x]" } },
    ]);
    check([
      {
        name: "bank_tag",
        arguments: { tags: ["a", "b, c"], on: true, count: 2, till: null, rare_key: { a: [1] } },
      },
    ]);
    check([{ name: "bank_tag", arguments: { tags: [], till: "null" } }]);
  });

  test("of a tool without an id, or with an undeclared key, is parsed back", () =>
    check([
      { name: "bank_tag", arguments: { zzz: "1" } },
      { name: "other_tool", arguments: {} },
    ]));

  const string = { type: "string" };
  test.each([
    [string, fc.string()],
    [{ type: "number" }, fc.double({ noNaN: true, noDefaultInfinity: true })],
    [{ type: "boolean" }, fc.boolean()],
    [{ type: "array", items: string }, fc.array(fc.string())],
    [
      { anyOf: [string, { type: "null" }, { type: "number" }] },
      fc.oneof(fc.string(), fc.constant(null), fc.integer()),
    ],
    [
      { type: "object" },
      fc.dictionary(
        fc.string().filter(it => it !== "__proto__"),
        fc.integer(),
      ),
    ],
  ])("keeps every value of %j", (schema, values) => {
    fc.assert(
      fc.property(values as fc.Arbitrary<Call["arguments"]>, value => {
        expect(parseArgument(formatArgument(value, schema), schema)).toEqual(
          value === 0 ? 0 : value,
        );
      }),
    );
  });

  test("has arguments of the declared types; text of another type stays a string", () => {
    expect(parseArgument("50", { type: "string" })).toBe("50");
    expect(parseArgument("50", { type: "number" })).toBe(50);
    expect(parseArgument("fifty", { type: "number" })).toBe("fifty");
  });
});

describe("what cannot be parsed", () => {
  const check = (ids: number[]) =>
    expect(parseMessage(tokenizer, tools, ids).calls.map(it => it.name)).toEqual([""]);
  const call = tokenizer.markId("<call>");
  const end = tokenizer.markId("<eoc>");
  const name = tokenizer.nameId("bank_list")!;
  const key = tokenizer.keyId("from")!;

  test("is a call without a name", () => {
    check([name, end]);
    check([call, end]);
    check([call, key, end]);
    check([call, name, name, end]);
    check([call, name, key, ...tokenizer.encode(" a"), key, ...tokenizer.encode(" b"), end]);
    check([call, name, key, tokenizer.markId("<fin>"), end]);
    check([call, name, tokenizer.markId("<res>")]);
    check([tokenizer.markId("<fin>"), call, tokenizer.markId("<eot>")]);
    check([tokenizer.markId("<eot>")]);
  });

  test("never throws, whatever the ids", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(tokenizer.size - 1), { maxLength: 12 }), ids => {
        expect(parseMessage(tokenizer, tools, ids).calls).toBeInstanceOf(Array);
      }),
    );
  });

  test("a message ends at its end mark or at a mark that a policy must not write", () => {
    expect(marks.filter(it => isMessageEnd(tokenizer.markId(it)))).toEqual([
      "<pad>",
      "<menu>",
      "<user>",
      "<asst>",
      "<eoc>",
      "<res>",
      "<eot>",
    ]);
    expect(isMessageEnd(name)).toBe(false);
  });
});

describe("a conversation", () => {
  const user = { kind: "user", text: "move 5 from acc_1" } as const;
  const calling = { kind: "assistant", message: 0, text: "" } as const;
  const listed = step("bank_list", {
    accounts: [{ kind: "checking", name: "Everyday", account_id: "acc_1" }],
  });

  test("opens with compact tool cards, with optional keys after a question mark", () => {
    expect(tokenizer.decode(encodeOpening(tokenizer, createConversation([user])))).toBe(
      "<menu> bank_transfer from= to= amount=#?<arg> memo= bank_list<arg> bank_tag? tags=* on=! count=# till=<arg> rare_key= now 2026-03-02 09:00<user> move 5 from acc_1",
    );
  });

  test("has the assistant mark after user turns and results, and a mask of what the policy wrote", () => {
    const it = encodeChat(
      tokenizer,
      createConversation([
        user,
        calling,
        listed,
        { kind: "assistant", message: 1, text: "Done" },
        user,
      ]),
    );
    expect(tokenizer.decode(it.ids.slice(it.opening - 1))).toBe(
      "<asst><call> bank_list<eoc><res> Everyday acc_1 kind checking<asst><fin> Done<eot><user> move 5 from acc_1<asst>",
    );
    expect(tokenizer.decode(it.ids.filter((_, i) => it.mask[i]))).toBe(
      "<call> bank_list<eoc><fin> Done<eot>",
    );
    expect(it.message.filter((_, i) => it.mask[i])).toEqual([
      ...Array(3).fill(0),
      ...Array(it.mask.filter(Boolean).length - 3).fill(1),
    ]);
  });

  test("has a student's own tokens as they were sampled", () => {
    const sampled = {
      ...calling,
      tokens: [tokenizer.markId("<call>"), tokenizer.markId("<res>")],
      logprobs: [-0.5, -2],
    };
    const it = encodeChat(
      tokenizer,
      createConversation([
        user,
        sampled,
        {
          ...listed,
          name: "",
          outcome: { kind: "unknown-tool", message: "there is no tool " },
        },
      ]),
    );
    expect(it.ids.filter((_, i) => it.mask[i])).toEqual(sampled.tokens);
    expect(it.logprobs.filter((_, i) => it.mask[i])).toEqual([-0.5, -2]);
    expect(tokenizer.decode(it.ids).endsWith("<res> error there is no tool <asst>")).toBe(true);
  });

  test("of one turn has the turns before it as they are, and the mask of what the policy wrote after them", () => {
    const reply = { kind: "assistant", message: 1, text: "Done" } as const;
    const own = { kind: "assistant", message: 2, text: "Bye" } as const;
    const all = createConversation([user, calling, listed, reply, user, own]);
    const it = encodeChat(tokenizer, { ...all, header: { ...all.header, turn: 1 } });
    expect(it.ids).toEqual(encodeChat(tokenizer, all).ids);
    expect(it.opening).toBe(encodeChat(tokenizer, all).opening);
    expect(tokenizer.decode(it.ids.slice(it.given))).toBe("<fin> Bye<eot>");
    expect(tokenizer.decode(it.ids.filter((_, i) => it.mask[i]))).toBe("<fin> Bye<eot>");
  });

  test("of one turn has replies of the teacher that are as short as a student's", () => {
    const text = "The first sentence is rather long, but it is there. The second one is left out.";
    const events = [user, { kind: "assistant", message: 0, text } as const, user];
    const all = createConversation(events);
    const { ids } = encodeChat(tokenizer, { ...all, header: { ...all.header, turn: 1 } });
    expect(tokenizer.decode(ids)).toContain("it is there.<eot>");
  });

  test("begins with the same tokens at every later turn, so that a cache stays valid", () => {
    const events = [
      user,
      calling,
      listed,
      { kind: "assistant", message: 1, text: "Done" } as const,
      user,
    ];
    const whole = encodeChat(tokenizer, createConversation(events)).ids;
    for (const n of [1, 3, 5])
      expect(
        whole.slice(0, encodeChat(tokenizer, createConversation(events.slice(0, n))).ids.length),
      ).toEqual(encodeChat(tokenizer, createConversation(events.slice(0, n))).ids);
  });

  test("has a digest that changes with the tokenizer", () =>
    expect(computeChatDigest(trainTokenizer([], [], [], 600))).not.toBe(
      computeChatDigest(tokenizer),
    ));
});

describe("a result", () => {
  const rows = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      kind: "checking",
      name: `Account ${i}`,
      account_id: `acc_${i}`,
    }));
  const encodeRows = (n: number) =>
    tokenizer.decode(encodeResult(tokenizer, tools, step("bank_list", { accounts: rows(n) })));
  const compactTokenizer = trainTokenizer(
    [" Account acc_checking kind; more"].concat(
      Array(9).fill(" Account acc_1 kind checking; more"),
    ),
    [],
    [],
    600,
  );
  const encodeCompactly = (n: number) =>
    compactTokenizer.decode(
      encodeResult(compactTokenizer, tools, step("bank_list", { accounts: rows(n) })),
    );

  test("has the name first, then the id, then the rest", () =>
    expect(encodeRows(1)).toBe("<res> Account 0 acc_0 kind checking"));
  test("without rows is none", () => expect(encodeRows(0)).toBe("<res> none"));
  test("that is too long keeps only names and ids, then says how many rows are left out", () => {
    expect(encodeCompactly(5)).toContain("kind checking");
    expect(encodeCompactly(12)).toBe(
      `<res> ${rows(12)
        .map(it => `${it.name} ${it.account_id}`)
        .join("; ")}`,
    );
    expect(encodeCompactly(40)).toMatch(/acc_\d+; \d+ more$/);
  });
  test("is never longer than the limit", () => {
    for (const n of [0, 1, 5, 9, 40])
      expect(
        encodeResult(tokenizer, tools, step("bank_list", { accounts: rows(n) })).length,
      ).toBeLessThanOrEqual(studentLimits.result);
    expect(
      encodeResult(tokenizer, tools, step("bank_list", "x".repeat(5000))).length,
    ).toBeLessThanOrEqual(studentLimits.result);
  });
});
