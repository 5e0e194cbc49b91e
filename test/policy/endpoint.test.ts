/** An endpoint with a real HTTP server: requests, answers, retries and every kind of failure. */
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ChatRequest } from "../../src/policy/chatModel.ts";
import { openEndpoint, type EndpointOptions } from "../../src/policy/endpoint.ts";
import { EndpointFault } from "../../src/policy/endpointFormat.ts";
import { PolicyFault } from "../../src/policy/policy.ts";
import { callsFor, chatServer, ownTime, says, type Answering, type Reply } from "./chatServer.ts";

const key = "sk-planted-3f9a77c1";
const hello: ChatRequest = { messages: [{ role: "user", content: "Hello" }] };
const shaped: ChatRequest = {
  ...hello,
  schema: {
    name: "greeting",
    schema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
  },
};

async function openTestEndpoint(answering: Answering, more: Partial<EndpointOptions> = {}) {
  const server = await chatServer(answering);
  const time = ownTime();
  return {
    ...server,
    time,
    endpoint: openEndpoint({ url: server.url, model: "m", time, ...more }),
  };
}

/** The replies in order, the last one again and again. */
const inTurn =
  (...replies: readonly Reply[]): Answering =>
  (_, n) =>
    replies[Math.min(n, replies.length - 1)];

async function catchFault(answer: Promise<unknown>): Promise<EndpointFault> {
  const error = await answer.then(
    () => undefined,
    (it: unknown) => it,
  );
  expect(error).toBeInstanceOf(EndpointFault);
  expect(error).toBeInstanceOf(PolicyFault);
  return error as EndpointFault;
}

describe("requests and answers", () => {
  test("a request contains messages, tools, temperature and limit in the endpoint's format, and the key", async () => {
    const { endpoint, asked } = await openTestEndpoint(inTurn(says("Hi.")), { key: ` ${key}\n` });
    const answer = await endpoint.complete({
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          content: "",
          calls: [{ id: "call00002", name: "banking_list_accounts", arguments: {} }],
        },
        { role: "tool", call: "call00002", content: "[]" },
      ],
      tools: [
        {
          name: "banking_list_accounts",
          description: "List accounts.",
          parameters: { type: "object", properties: {} },
        },
      ],
      temperature: 0.3,
      maxTokens: 50,
    });
    expect(answer).toEqual({ text: "Hi.", calls: [], tokens: { read: 10, written: 5 } });
    expect(asked[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${key}` },
    });
    expect(asked[0]!.body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          content: "",
          tool_calls: [
            {
              id: "call00002",
              type: "function",
              function: { name: "banking_list_accounts", arguments: "{}" },
            },
          ],
        },
        { role: "tool", tool_call_id: "call00002", content: "[]" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "banking_list_accounts",
            description: "List accounts.",
            parameters: { type: "object", properties: {} },
          },
        },
      ],
      temperature: 0.3,
      max_tokens: 50,
    });
  });

  test.each([
    ["an object", '{"city":"Graz"}', { city: "Graz" }],
    ["nothing", "", {}],
    ["half a JSON, which fits no tool", '{"city":"Gr', '{"city":"Gr'],
    ["prose, which fits no tool", "the city of Graz", "the city of Graz"],
    ["a list, which fits no tool", "[1]", [1]],
  ])("a call's arguments may be %s", async (_, text, args) => {
    const { endpoint } = await openTestEndpoint(inTurn(callsFor(["maps_geocode", text])));
    expect((await endpoint.complete(hello)).calls).toEqual([
      { id: "c0", name: "maps_geocode", arguments: args },
    ]);
  });

  test("an answer that was cut off is marked, and thinking is removed", async () => {
    const { endpoint } = await openTestEndpoint(
      inTurn(says("<think>hm, well</think>\nIt is", { finish_reason: "length" })),
    );
    expect(await endpoint.complete(hello)).toMatchObject({ text: "It is", cut: true });
  });

  test("structured output uses a schema; an endpoint that rejects it gets the schema in the prompt from then on", async () => {
    const { endpoint, asked } = await openTestEndpoint(({ body }) =>
      "response_format" in body
        ? { status: 400, body: { error: { message: "unknown field" } } }
        : says('{"text":"Hi"}'),
    );
    await endpoint.complete(shaped);
    await endpoint.complete(shaped);
    expect(asked.map(it => "response_format" in it.body)).toEqual([true, false, false]);
    expect(asked[0]!.body["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "greeting", schema: shaped.schema!.schema, strict: true },
    });
    expect(asked[1]!.body.messages.at(-1)!.content).toMatch(
      /^Hello\n\nAnswer with one JSON value and nothing else[\s\S]*"required":\["text"\]/,
    );
  });

  test("an option that a model rejects is left out from then on", async () => {
    const { endpoint, asked } = await openTestEndpoint(({ body }) =>
      "temperature" in body || "max_tokens" in body
        ? {
            status: 400,
            body: {
              error: {
                message: `Unsupported: ${"temperature" in body ? "temperature" : "max_tokens"}`,
              },
            },
          }
        : says("Hi"),
    );
    await endpoint.complete({ ...hello, temperature: 0, maxTokens: 9 });
    await endpoint.complete({ ...hello, temperature: 0, maxTokens: 9 });
    expect(asked).toHaveLength(4);
    expect(asked[3]!.body).toMatchObject({ max_completion_tokens: 9 });
  });

  test("a 400 for another reason is a fault and changes no later request", async () => {
    const { endpoint, asked } = await openTestEndpoint((_, n) =>
      n < 2 ? { status: 400, body: { error: { message: "the prompt is too long" } } } : says("{}"),
    );
    expect(await catchFault(endpoint.complete(shaped))).toMatchObject({
      kind: "declined",
      message: expect.stringContaining("400 (the prompt is too long)") as string,
    });
    await endpoint.complete(shaped);
    expect("response_format" in asked[2]!.body).toBe(true);
  });
});

describe("temporary failures are retried", () => {
  test.each([
    ["500 then fine", { status: 500, body: "oops" }],
    [
      "502 with a page, then fine",
      { status: 502, headers: { "content-type": "text/html" }, body: "<html>bad gateway</html>" },
    ],
    ["half a JSON, then fine", { body: '{"choices":[{"mess' }],
    ["no choices, then fine", { body: { choices: [] } }],
  ] satisfies [string, Reply][])("%s", async (_, reply) => {
    const { endpoint, asked, time } = await openTestEndpoint(inTurn(reply, says("Hi.")));
    expect((await endpoint.complete(hello)).text).toBe("Hi.");
    expect(asked).toHaveLength(2);
    expect(time.waits).toHaveLength(1);
  });

  test("with growing pauses, which depend on the seed only", async () => {
    const waits = async (seed: number) => {
      const { endpoint, time } = await openTestEndpoint(inTurn({ status: 503 }), { seed });
      expect((await catchFault(endpoint.complete(hello))).kind).toBe("overloaded");
      return time.waits;
    };
    const [first, again, other] = [await waits(1), await waits(1), await waits(2)];
    expect(first).toHaveLength(4);
    for (const [i, it] of first.entries()) {
      expect(it).toBeGreaterThanOrEqual(250 * 2 ** i);
      expect(it).toBeLessThan(750 * 2 ** i);
    }
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test.each([
    ["seconds", "7", 7000],
    ["a date", new Date(Date.UTC(2026, 2, 2, 9, 0, 30)).toUTCString(), 30_000],
  ])("Retry-After in %s delays all requests", async (_, asks, pause) => {
    const { endpoint, time, asked } = await openTestEndpoint(
      inTurn({ status: 429, headers: { "retry-after": asks } }, says("Hi.")),
      { concurrency: 1 },
    );
    await Promise.all([endpoint.complete(hello), endpoint.complete(hello)]);
    expect(time.waits).toEqual([pause]);
    expect(asked).toHaveLength(3);
  });

  test("a Retry-After of an hour is a fault", async () => {
    const { endpoint, time } = await openTestEndpoint(
      inTurn({ status: 429, headers: { "retry-after": "3600" } }),
    );
    expect((await catchFault(endpoint.complete(hello))).message).toContain(
      "cannot answer at present: 429, and asks for 3600 s of quiet",
    );
    expect(time.waits).toEqual([]);
  });

  test("an endpoint that never answered is a permanent fault after two attempts", async () => {
    const { endpoint, url, close, time } = await openTestEndpoint(inTurn(says("Hi.")));
    await close();
    const fault = await catchFault(endpoint.complete(hello));
    expect(fault).toMatchObject({
      kind: "unreachable",
      message: `nobody answers at ${url} (ECONNREFUSED)`,
      remedy: expect.stringContaining("correct its base URL") as string,
    });
    expect(fault.cause).toBeDefined();
    await catchFault(endpoint.complete(hello));
    expect(time.waits).toHaveLength(1);
  });

  test("an endpoint that stops answering is a permanent fault after several failed requests", async () => {
    const { endpoint, close, time } = await openTestEndpoint(inTurn(says("Hi.")));
    await endpoint.complete(hello);
    await close();
    for (let i = 0; i < 8; i++)
      expect((await catchFault(endpoint.complete(hello))).kind).toBe("unreachable");
    expect(time.waits).toHaveLength(32);
    await catchFault(endpoint.complete(hello));
    expect(time.waits).toHaveLength(32);
  });

  test("a slow answer is retried", async () => {
    const { endpoint, asked } = await openTestEndpoint(
      (_, n, response) => {
        // the second one begins to answer and never ends
        if (n === 1)
          response.writeHead(200, { "content-type": "application/json" }).write('{"choices":');
        return n < 2 ? undefined : says("Hi.");
      },
      { timeout: 500 },
    );
    expect((await endpoint.complete(hello)).text).toBe("Hi.");
    // on a busy machine, the third answer may be late, too
    expect(asked.length).toBeGreaterThanOrEqual(3);
  });

  test("an endpoint that is always slow is a fault", async () => {
    const { endpoint } = await openTestEndpoint(() => undefined, { timeout: 20 });
    expect(await catchFault(endpoint.complete(hello))).toMatchObject({
      kind: "timed-out",
      message: expect.stringContaining("gave no whole answer within 0.02 s") as string,
    });
  });
});

describe("permanent failures are faults at once", () => {
  test.each([
    [
      "prose",
      { headers: { "content-type": "text/plain" }, body: "I am afraid I cannot.\u001b[2J" },
      "not-json",
      /answered with text\/plain, not JSON \(I am afraid I cannot\. \[2J\)$/,
    ],
    [
      "a page",
      { headers: { "content-type": "text/html" }, body: "<html><body>Sign in</body></html>" },
      "not-json",
      /text\/html, not JSON \(<html>/,
    ],
    [
      "JSON of another kind",
      { body: { result: "Hi" } },
      "not-a-completion",
      /no chat completion \(choices/,
    ],
    [
      "kept back",
      says("", { finish_reason: "content_filter" }),
      "withheld",
      /filter kept the answer back/,
    ],
    [
      "no key",
      { status: 401, body: { error: { message: "Incorrect API key provided" } } },
      "declined",
      /does not let us in: 401 \(Incorrect API key provided\)/,
    ],
    [
      "no such model",
      { status: 404, body: { error: "model not found" } },
      "declined",
      /no such page or model: 404 \(model not found\)/,
    ],
  ] satisfies [string, Reply, string, RegExp][])("%s", async (_, reply, kind, message) => {
    const { endpoint, asked } = await openTestEndpoint(inTurn(reply));
    const fault = await catchFault(endpoint.complete(hello));
    expect(fault).toMatchObject({ kind, message: expect.stringMatching(message) as string });
    expect(asked).toHaveLength(1);
  });

  test("a redirect to another origin is not followed, and the key is not sent there", async () => {
    const elsewhere = await chatServer(inTurn(says("give me the key")));
    const { endpoint, asked } = await openTestEndpoint(
      inTurn({ status: 307, headers: { location: `${elsewhere.url}/chat/completions` } }),
      { key },
    );
    expect(await catchFault(endpoint.complete(hello))).toMatchObject({
      kind: "redirected",
      message: expect.stringContaining(
        `points to ${new URL(elsewhere.url).origin}, where nothing was sent`,
      ) as string,
    });
    await catchFault(endpoint.complete(hello));
    expect(elsewhere.asked).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ["words", "the usual place", /the usual place is no address of an endpoint: give a base URL/],
    ["a file", "file:///etc/passwd", /not reached by file:/],
    [
      "a password in it",
      "https://me:secret@host.example/v1",
      /^the address of the endpoint at host\.example holds a name or a password/,
    ],
  ])("an address that is %s is an error", (_, url, message) => {
    expect(() => openEndpoint({ url, model: "m" })).toThrow(message);
  });
});

describe("limits", () => {
  test("no more concurrent requests than allowed", async () => {
    let [now, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const { endpoint } = await openTestEndpoint(
      async () => {
        most = Math.max(most, ++now);
        await new Promise<void>(resolve => {
          waiting.push(resolve);
          // answered three by three
          if (waiting.length === 3) for (const it of waiting.splice(0)) it();
        });
        now--;
        return says("Hi.");
      },
      { concurrency: 3 },
    );
    await Promise.all(Array.from({ length: 6 }, () => endpoint.complete(hello)));
    expect(most).toBe(3);
  });

  test("30 requests a minute are two seconds apart", async () => {
    const { endpoint, time } = await openTestEndpoint(inTurn(says("Hi.")), {
      perMinute: 30,
      concurrency: 1,
    });
    for (let i = 0; i < 3; i++) await endpoint.complete(hello);
    expect(time.waits).toEqual([2000, 2000]);
  });

  test("a clock that is set back by an hour does not delay the next request by an hour", async () => {
    const { url } = await chatServer(inTurn(says("Hi.")));
    const endpoint = openEndpoint({ url, model: "m", perMinute: 1200 });
    await endpoint.complete(hello);
    const hourAgo = Date.now() - 3_600_000;
    vi.spyOn(Date, "now").mockReturnValue(hourAgo);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await endpoint.complete(hello)).toMatchObject({ text: "Hi." });
  });

  test("after the token budget is spent, requests fail without being sent", async () => {
    const { endpoint, asked } = await openTestEndpoint(inTurn(says("Hi.")), { tokens: 30 });
    await endpoint.complete(hello);
    await endpoint.complete(hello);
    expect(endpoint.usedTokens).toBe(30);
    expect(await catchFault(endpoint.complete(hello))).toMatchObject({
      kind: "spent",
      message: "the budget of 30 tokens is spent (30 were read and written)",
    });
    expect(asked).toHaveLength(2);
  });

  test("the budget holds even if the endpoint does not report usage", async () => {
    const { endpoint } = await openTestEndpoint(
      inTurn({ body: { choices: [{ message: { content: "Hi." } }] } }),
      { tokens: 10 },
    );
    await endpoint.complete(hello);
    expect((await catchFault(endpoint.complete(hello))).kind).toBe("spent");
  });

  test("cancelling ends running and queued requests", async () => {
    const stop = new AbortController();
    const { endpoint, asked } = await openTestEndpoint(
      () => {
        stop.abort(new Error("enough"));
        return undefined;
      },
      { concurrency: 1 },
    );
    const answers = await Promise.allSettled([
      endpoint.complete(hello, stop.signal),
      endpoint.complete(hello, stop.signal),
    ]);
    for (const it of answers)
      expect(it).toMatchObject({ status: "rejected", reason: { message: "enough" } });
    expect(asked).toHaveLength(1);
  });
});

describe("the key", () => {
  test("is removed from every response and does not appear in printed values", async () => {
    const { endpoint } = await openTestEndpoint(
      inTurn(says(`Your key is ${key}.`), callsFor(["mail_send", `{"body":"${key}"}`]), {
        status: 401,
        body: { error: { message: `Incorrect API key: ${key}` } },
      }),
      { key },
    );
    const [text, calls] = [await endpoint.complete(hello), await endpoint.complete(hello)];
    expect(text.text).toBe("Your key is [key].");
    expect(calls.calls[0]!.arguments).toEqual({ body: "[key]" });
    const fault = await catchFault(endpoint.complete(hello));
    expect(fault.message).toContain("Incorrect API key: [key]");
    expect(inspect([endpoint, fault], { depth: 10, showHidden: true })).not.toContain(key);
    expect(JSON.stringify([endpoint, fault])).not.toContain(key);
  });

  test.each(["EMPTY", "none", "lm-studio"])("%s is not secret and is not removed", async word => {
    const { endpoint, asked } = await openTestEndpoint(inTurn(says(`It is ${word}.`)), {
      key: word,
    });
    expect((await endpoint.complete(hello)).text).toBe(`It is ${word}.`);
    expect(asked[0]!.headers.authorization).toBe(`Bearer ${word}`);
  });

  test("with a line break is an error that does not repeat it", () => {
    expect(() =>
      openEndpoint({ url: "http://127.0.0.1:1/v1", model: "m", key: `${key}\nx: y` }),
    ).toThrow(/^the endpoint's key holds characters that no key has/);
    expect(() =>
      openEndpoint({ url: "http://127.0.0.1:1/v1", model: "m", key: `${key}\nx: y` }),
    ).not.toThrow(key);
  });
});
