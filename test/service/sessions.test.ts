/** The `/v1` API that trainers use, over real HTTP. */
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId, type SessionChange } from "../../src/service/sessions/sessionTable.ts";
import { sendRequest, countingCatalog, type HttpResponse } from "./countingService.ts";

let serving: RunningHttpServer;
let id: string;
beforeEach(async () => {
  serving = await startHttpServer({ catalog: countingCatalog() });
  id = createSessionId();
});
afterEach(() => serving.close());

const at = (path = "", session = id) => `${serving.url}/v1/sessions/${session}${path}`;
const open = (body: object = {}, session = id) => sendRequest(at("", session), "PUT", { body });
const call = (seq: number, name: string, args: object = {}, session = id) =>
  sendRequest(at("/call", session), "POST", { body: { seq, name, arguments: args } });
const add = (seq: number, by = 1, session = id) =>
  call(seq, "counting_add", { counter_id: "cnt_1", by }, session);
const value = async (session = id): Promise<number> =>
  (await sendRequest(at("/state", session), "GET")).json.state.counting.world.counters.cnt_1.value;
const failure = ({ status, json }: HttpResponse) => ({ status, ...json.error });

describe("opening", () => {
  test("returns the digest and the MCP address of each server; repeating it returns the same session", async () => {
    const opened = await open({ seed: 7, owner: "trl", ttl_s: 60 });
    expect(opened.status).toBe(200);
    expect(opened.json).toEqual({
      session_id: id,
      digest: expect.stringMatching(/^[0-9a-f]{32}$/),
      mcp: { counting: `/s/${id}/counting/mcp` },
    });
    await add(1, 3);
    const again = await open({ seed: 7, servers: ["counting"], fixture: "full" });
    expect(again.json.digest).not.toBe(opened.json.digest);
    expect(await value()).toBe(3);
    expect(serving.sessions.all.map(it => it.owner)).toEqual(["trl"]);
  });

  test("refuses other options for an id that is in use", async () => {
    await open();
    expect(failure(await open({ seed: 2 }))).toMatchObject({
      status: 400,
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/is open already and was opened otherwise/),
    });
  });

  test.each([
    [
      "a server that is not there",
      { servers: ["bank"] },
      "INVALID_REQUEST",
      /there is no server bank.*counting/,
    ],
    [
      "a fixture that is not there",
      { fixture: "huge" },
      "INVALID_REQUEST",
      /no fixture huge.*full/,
    ],
    ["a fixture that is a path", { fixture: "../../secrets" }, "INVALID_REQUEST", /fixture/],
    [
      "a server that is a path",
      { servers: [{ name: "../counting", fixture: "full" }] },
      "INVALID_REQUEST",
      /servers/,
    ],
    ["a server twice", { servers: ["counting", { name: "counting" }] }, "INVALID_REQUEST", /twice/],
    [
      "a tool that no server has",
      { menu: ["counting_list", "counting_fly"] },
      "INVALID_REQUEST",
      /counting_fly/,
    ],
    ["a seed that is no number", { seed: "1" }, "INVALID_REQUEST", /seed/],
    ["an unknown key", { sevrers: [] }, "INVALID_REQUEST", /sevrers/],
    ["an owner with control characters", { owner: "a\u001b[31m" }, "INVALID_REQUEST", /owner/],
    ["no body to speak of", [], "INVALID_REQUEST", /object/],
  ])("refuses %s", async (_, body, code, message) => {
    expect(failure(await open(body))).toMatchObject({
      status: 400,
      code,
      message: expect.stringMatching(message),
    });
    expect(serving.sessions.size).toBe(0);
  });

  test("refuses a task id", async () => {
    expect(failure(await open({ task_id: "T5", seed: 1, turn: 2 }))).toEqual({
      status: 404,
      code: "UNKNOWN_TASK",
      message: "there is no task T5: start the service with --tasks",
    });
  });

  test("with a menu offers only those tools", async () => {
    await open({ menu: ["counting_list"] });
    const response = await add(1);
    expect(response.json).toMatchObject({
      is_error: true,
      structured: { error_type: "unknown_tool", message: "there is no tool counting_add" },
    });
  });
});

describe("calling", () => {
  beforeEach(() => open());

  test("returns the text for the model, the value and the new digest", async () => {
    const response = await add(1, 2);
    expect(response.status).toBe(200);
    expect(response.json).toEqual({
      is_error: false,
      text: `{"counter_id":"cnt_1","value":2}`,
      structured: { counter_id: "cnt_1", value: 2 },
      digest: (await sendRequest(at("/state"), "GET")).json.digest,
      elapsed_ms: expect.any(Number),
      truncated: false,
    });
  });

  test.each([
    [
      "a refusal",
      "counting_add",
      { counter_id: "cnt_9", by: 1 },
      {
        error_type: "not_found",
        message: "there is no counter cnt_9",
        hint: "counting_list shows them",
      },
    ],
    [
      "an argument too few",
      "counting_add",
      { by: 1 },
      { error_type: "invalid_params", message: "missing required argument counter_id" },
    ],
    [
      "an unknown tool",
      "counting_fly",
      {},
      {
        error_type: "unknown_tool",
        message: "there is no tool counting_fly",
        hint: "call one of the tools on offer",
      },
    ],
  ])(
    "answers %s as a result, not as a failure of the request",
    async (_, name, args, structured) => {
      const response = await call(1, name, args);
      expect(response.status).toBe(200);
      expect(response.json).toMatchObject({
        is_error: true,
        structured,
        text: JSON.stringify(structured),
      });
    },
  );

  test("a tool that throws is an internal error that leaves the state unchanged", async () => {
    await add(1, 4);
    expect(failure(await call(2, "counting_crash"))).toEqual({
      status: 500,
      code: "INTERNAL",
      message: expect.stringMatching(/^counting_crash broke: TypeError: planted: do not score/),
    });
    expect(await value()).toBe(4);
    expect((await add(3, 1)).json.structured.value).toBe(5);
  });

  test("a long result is shortened for the model and complete in `structured`", async () => {
    const response = await call(1, "counting_recite", { lines: 3_000, length: 30 });
    expect(response.json.truncated).toBe(true);
    expect(response.json.text.length).toBeLessThanOrEqual(8_192);
    const shown = JSON.parse(response.json.text) as { lines: string[]; total: number };
    expect(shown.total).toBe(3_000);
    expect(shown.lines.at(-1)).toBe(`… (${3_000 - (shown.lines.length - 1)} more left out)`);
    expect(response.json.structured.lines).toHaveLength(3_000);
  });

  test.each([
    ["arguments that are no object", `[]`, "arguments must be an object, not an array"],
    [
      "a hundred thousand lists in each other",
      `{"counter_id":${"[".repeat(100_000)}${"]".repeat(100_000)},"by":1}`,
      "the arguments are nested more than 64 levels deep",
    ],
    ["a prototype's key", `{"counter_id":"cnt_1","by":1,"__proto__":{"value":7}}`, /__proto__/],
    [
      "a number past all numbers",
      `{"counter_id":"cnt_1","by":1e999}`,
      "1e999 is larger than a number can be: write it as a text",
    ],
    [
      "a number that would be rounded",
      `{"counter_id":"cnt_1","by":9007199254740993}`,
      "9007199254740993 has more digits than a number can keep: write it as a text",
    ],
    [
      "such a number in place of a text",
      `{"by":1,"counter_id":-12345678901234567890}`,
      "-12345678901234567890 has more digits than a number can keep: write it as a text",
    ],
    ["null", "null", "missing required argument counter_id"],
    ["numbers that are kept", `{"by":9007199254740992,"counter_id":"1e400"}`, /by/],
  ])("answers %s as bad arguments and leaves the state unchanged", async (_, args, message) => {
    const response = await sendRequest(at("/call"), "POST", {
      body: `{"seq":1,"name":"counting_add","arguments":${args}}`,
    });
    expect(response.json).toMatchObject({
      is_error: true,
      structured: {
        error_type: "invalid_params",
        message: typeof message === "string" ? message : expect.stringMatching(message),
      },
    });
    expect(await value()).toBe(0);
  });

  test("calls that are sent together on one connection run in order", async () => {
    const bodies = Array.from({ length: 20 }, (_, i) =>
      JSON.stringify({
        seq: i + 1,
        name: "counting_add",
        arguments: { counter_id: "cnt_1", by: 1 },
      }),
    );
    const answers = await pipelined(bodies);
    expect(
      answers.map(it => (JSON.parse(it) as { structured: { value: number } }).structured.value),
    ).toEqual(bodies.map((_, i) => i + 1));
  });
});

describe("seq", () => {
  beforeEach(() => open());

  test("returns the last response again without running the call", async () => {
    const first = await add(1, 10);
    expect((await add(1, 10)).text).toBe(first.text);
    expect(await value()).toBe(10);
  });

  test.each([
    ["skips one", 3, "seq 3 is out of order: the next number is 2, and 1 may be repeated"],
    ["goes back", 0, undefined],
    [
      "comes far too late",
      1_000,
      "seq 1000 is out of order: the next number is 2, and 1 may be repeated",
    ],
  ])("that %s is refused and changes nothing", async (_, seq, message) => {
    await add(1);
    const response = failure(await add(seq));
    if (message) expect(response).toEqual({ status: 409, code: "OUT_OF_ORDER", message });
    else expect(response).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    expect(await value()).toBe(1);
  });

  test("does not keep older responses", async () => {
    await add(1);
    await add(2);
    expect(failure(await add(1))).toMatchObject({ status: 409, code: "OUT_OF_ORDER" });
    expect(await value()).toBe(2);
  });

  test("returns the error of a broken call again", async () => {
    const first = await call(1, "counting_crash");
    expect(await call(1, "counting_crash")).toMatchObject({ status: 500, text: first.text });
  });

  test("a refused or malformed call counts like any other", async () => {
    await call(1, "counting_add", { counter_id: "nobody", by: 1 });
    expect((await add(2)).json.is_error).toBe(false);
  });

  test("runs a call exactly once if the connection is lost before the response", async () => {
    for (let seq = 1; seq <= 20; seq++) {
      const ran = new Promise<void>(resolve => {
        const off = serving.sessions.onChange(it => {
          if (it.kind !== "called") return;
          off();
          resolve();
        });
      });
      const socket = connect(Number(new URL(serving.url).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.write(
        posted(
          JSON.stringify({ seq, name: "counting_add", arguments: { counter_id: "cnt_1", by: 1 } }),
        ),
      );
      serving.sessions.onChange(it => it.kind === "called" && socket.destroy());
      await ran;
      expect((await add(seq)).json.structured.value).toBe(seq);
    }
    expect(await value()).toBe(20);
    expect(serving.sessions.all[0]!.callCount).toBe(20);
  });

  test("does not run a call whose body is incomplete", async () => {
    const socket = connect(Number(new URL(serving.url).port), "127.0.0.1");
    const whole = posted(
      JSON.stringify({ seq: 1, name: "counting_add", arguments: { counter_id: "cnt_1", by: 1 } }),
    );
    await new Promise<void>(resolve => socket.write(whole.slice(0, -3), () => resolve()));
    socket.destroy();
    expect((await add(1, 7)).json.structured.value).toBe(7);
  });
});

describe("the other requests of a session", () => {
  beforeEach(() => open());

  test("a fork starts from the current state and is independent", async () => {
    await add(1, 10);
    const other = createSessionId();
    const forked = await sendRequest(at("/fork"), "POST", { body: { session_id: other } });
    expect(forked.json).toEqual({
      session_id: other,
      digest: (await sendRequest(at("/state"), "GET")).json.digest,
      mcp: { counting: `/s/${other}/counting/mcp` },
    });
    expect((await sendRequest(at("/fork"), "POST", { body: { session_id: other } })).json).toEqual(
      forked.json,
    );
    await add(1, 1, other);
    await add(2, 5);
    expect([await value(), await value(other)]).toEqual([15, 11]);
    // back to the fixture, not to where it was forked
    await sendRequest(at("/reset", other), "POST", { body: {} });
    expect([await value(), await value(other)]).toEqual([15, 0]);
    expect(
      failure(await sendRequest(at("/fork"), "POST", { body: { session_id: other } })),
    ).toMatchObject({
      status: 400,
      code: "INVALID_REQUEST",
    });
  });

  test("a state can be restored, in the same session and in another one", async () => {
    await add(1, 10);
    const { state, digest } = (await sendRequest(at("/state"), "GET")).json;
    await add(2, 10);
    expect((await sendRequest(at("/restore"), "POST", { body: { state } })).json.digest).toBe(
      digest,
    );
    expect((await add(3, 1)).json.structured.value).toBe(11);
    const other = createSessionId();
    await open({}, other);
    expect(
      (await sendRequest(at("/restore", other), "POST", { body: { state } })).json.digest,
    ).toBe(digest);
  });

  test.each([
    [
      "a value of another type",
      {
        counting: {
          world: { counters: { cnt_1: { value: "10" } }, limit: 100 },
          clock: "2026-03-09T09:00",
          draws: 0,
        },
      },
      "/counting/world/counters/cnt_1/value",
    ],
    ["another server's state", { banking: {} }, "/counting"],
    [
      "an impossible time",
      { counting: { world: { counters: {}, limit: 100 }, clock: "2026-02-30T09:00", draws: 0 } },
      "/counting/clock",
    ],
  ])("refuses to restore %s", async (_, state, place) => {
    const response = failure(await sendRequest(at("/restore"), "POST", { body: { state } }));
    expect(response).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    expect(response.message).toContain(place);
    expect(await value()).toBe(0);
  });

  test("a reset restores the fixture, and the numbering continues", async () => {
    const first = (await sendRequest(at("/state"), "GET")).json;
    await add(1, 10);
    await sendRequest(at("/reset"), "POST", { body: {} });
    expect((await sendRequest(at("/state"), "GET")).json).toEqual(first);
    expect((await add(2, 1)).json.structured.value).toBe(1);
  });

  test("tools can be added to the menu until a reset, and MCP lists them", async () => {
    const own = createSessionId();
    const list = async () => {
      const { text } = await sendRequest(`${serving.url}/s/${own}/counting/mcp`, "POST", {
        body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
        headers: { accept: "application/json, text/event-stream" },
      });
      return [...text.matchAll(/"name":"(counting_\w+)"/g)].map(it => it[1]);
    };
    const opened = await open({ menu: ["counting_list"] }, own);
    expect((await add(1, 1, own)).json).toMatchObject({ is_error: true });
    const added = await sendRequest(at("/tools", own), "POST", { body: { add: ["counting_add"] } });
    expect(added.json).toEqual(opened.json);
    expect((await add(2, 1, own)).json.structured.value).toBe(1);
    expect(await list()).toEqual(["counting_list", "counting_add"]);
    await sendRequest(at("/reset", own), "POST", { body: {} });
    expect(await list()).toEqual(["counting_list"]);
    expect(
      failure(await sendRequest(at("/tools", own), "POST", { body: { add: ["counting_fly"] } })),
    ).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
  });

  test("the state of one server can be read", async () => {
    const response = await sendRequest(at("/state?server=counting"), "GET");
    expect(Object.keys(response.json.state)).toEqual(["counting"]);
    expect(failure(await sendRequest(at("/state?server=__proto__"), "GET"))).toMatchObject({
      status: 404,
      code: "UNKNOWN_SERVER",
    });
  });

  test("a deleted session is gone, and deleting it twice is allowed", async () => {
    expect((await sendRequest(at(), "DELETE")).json).toEqual({});
    expect((await sendRequest(at(), "DELETE")).json).toEqual({});
    expect(failure(await add(1))).toEqual({
      status: 404,
      code: "UNKNOWN_SESSION",
      message: `there is no session ${id}: open it with PUT /v1/sessions/${id}`,
    });
  });
});

test("listeners receive the changes of a session with the states before and after", async () => {
  const changes: SessionChange[] = [];
  serving.sessions.onChange(it => changes.push(it));
  await open({ owner: "verl" });
  await add(1, 2);
  await sendRequest(at("/reset"), "POST", { body: {} });
  await sendRequest(at(), "DELETE");
  expect(changes.map(it => [it.kind, it.session.owner])).toEqual([
    ["opened", "verl"],
    ["called", "verl"],
    ["restored", "verl"],
    ["closed", "verl"],
  ]);
  const called = changes[1] as Extract<SessionChange, { kind: "called" }>;
  expect(called.call).toMatchObject({
    number: 1,
    name: "counting_add",
    arguments: { counter_id: "cnt_1", by: 2 },
    outcome: { kind: "ok" },
  });
  expect(called.call.before["counting"]!.world).toMatchObject({
    counters: { cnt_1: { value: 0 } },
  });
  expect(called.call.after["counting"]!.world).toMatchObject({ counters: { cnt_1: { value: 2 } } });
});

test("unknown addresses and methods have different errors", async () => {
  await open();
  expect(failure(await sendRequest(`${serving.url}/v2/sessions`, "GET"))).toMatchObject({
    status: 404,
    code: "UNKNOWN_ROUTE",
  });
  expect(failure(await sendRequest(at("/wait"), "GET"))).toMatchObject({
    status: 404,
    code: "UNKNOWN_ROUTE",
  });
  const response = await sendRequest(at("/call"), "GET");
  expect(failure(response)).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
  expect(response.headers["allow"]).toBe("POST");
});

test("health counts the sessions, and the catalog lists servers and tools", async () => {
  await open();
  const health = (await sendRequest(`${serving.url}/health`, "GET")).json;
  expect(health).toEqual({
    status: "healthy",
    sessions: 1,
    capacity: 16_384,
    workers: 1,
    tasks: 0,
    version: expect.stringMatching(/^\d/),
    catalog_hash: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  const catalog = (await sendRequest(`${serving.url}/v1/catalog`, "GET")).json;
  expect(catalog).toMatchObject({
    protocol: "prove/1",
    servers: [
      {
        name: "counting",
        tools: ["counting_add", "counting_list", "counting_recite", "counting_crash"],
        fixtures: ["full"],
      },
    ],
    components: ["validity", "coverage", "efficiency", "name", "argument", "answer"],
    catalog_hash: health.catalog_hash,
  });
  expect(catalog.tools[0]).toEqual({
    type: "function",
    function: {
      name: "counting_add",
      description: "Add to a counter.",
      parameters: expect.objectContaining({ type: "object", required: ["counter_id", "by"] }),
    },
  });
});

const posted = (body: string) =>
  `POST /v1/sessions/${id}/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** The answers' bodies to requests that are all written at once. */
function pipelined(bodies: readonly string[]): Promise<string[]> {
  const socket = connect(Number(new URL(serving.url).port), "127.0.0.1").setEncoding("utf8");
  socket.write(bodies.map(posted).join(""));
  return new Promise(resolve => {
    let text = "";
    socket.on("data", (chunk: string) => {
      text += chunk;
      const answers = [...text.matchAll(/\r\n\r\n(\{.*?\})(?=HTTP|$)/gs)].map(it => it[1]!);
      if (answers.length < bodies.length || !text.endsWith("}")) return;
      socket.destroy();
      resolve(answers);
    });
  });
}
