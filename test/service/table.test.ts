/** The capacity and the time to live of sessions, with a clock that the test controls. */
import { afterEach, describe, expect, test } from "vitest";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import {
  createSessionId,
  SessionTable,
  type SessionChange,
} from "../../src/service/sessions/sessionTable.ts";
import { catalog as everything } from "../contracts/transports.ts";
import { sendRequest, countingCatalog } from "./countingService.ts";

let serving: RunningHttpServer;
afterEach(() => serving?.close());

const minute = 60_000;

async function serveWith(options: { capacity?: number } = {}) {
  let now = 0;
  serving = await startHttpServer({ catalog: countingCatalog(), ...options, clock: () => now });
  const session = (id: string, verb = "") => `${serving.url}/v1/sessions/${id}${verb}`;
  return {
    passes: (ms: number) => void (now += ms),
    open: (id: string, body: object = {}) => sendRequest(session(id), "PUT", { body }),
    add: (id: string, seq: number) =>
      sendRequest(session(id, "/call"), "POST", {
        body: { seq, name: "counting_add", arguments: { counter_id: "cnt_1", by: 1 } },
      }),
    close: (id: string) => sendRequest(session(id), "DELETE"),
  };
}

describe("capacity", () => {
  test("one session too many is refused, and no other is closed for it", async () => {
    const { open, add, close } = await serveWith({ capacity: 2 });
    const [a, b, c] = [createSessionId(), createSessionId(), createSessionId()];
    await open(a);
    await open(b);
    const full = await open(c);
    expect(full.status).toBe(503);
    expect(full.json.error).toEqual({
      code: "CAPACITY_REACHED",
      message: "all 2 sessions are in use: delete one, or try again later",
    });
    expect(full.headers["retry-after"]).toBe("5");
    const forked = await sendRequest(`${serving.url}/v1/sessions/${a}/fork`, "POST", {
      body: { session_id: c },
    });
    expect(forked.status).toBe(503);
    expect((await open(a)).status).toBe(200);
    expect([
      (await add(a, 1)).json.structured.value,
      (await add(b, 1)).json.structured.value,
    ]).toEqual([1, 1]);
    await close(b);
    expect((await open(c)).status).toBe(200);
  });

  test("is 16,384 by default", () => {
    expect(new SessionTable({ catalog: countingCatalog() }).capacity).toBe(16_384);
  });

  test("sessions that are idle for too long make room", async () => {
    const { open, passes } = await serveWith({ capacity: 1 });
    await open(createSessionId());
    passes(31 * minute);
    expect((await open(createSessionId())).status).toBe(200);
  });
});

describe("an idle session", () => {
  test("is closed after half an hour without a call, and the error says so", async () => {
    const { open, add, passes } = await serveWith();
    const id = createSessionId();
    const changes: SessionChange[] = [];
    serving.sessions.onChange(it => changes.push(it));
    await open(id);
    passes(30 * minute);
    expect((await add(id, 1)).status).toBe(200);
    passes(30 * minute);
    serving.sessions.closeIdle();
    expect(serving.sessions.size).toBe(1);
    passes(1);
    serving.sessions.closeIdle();
    expect(serving.sessions.size).toBe(0);
    expect(changes.at(-1)).toMatchObject({ kind: "closed", why: "idle", session: { id } });
    const late = await add(id, 2);
    expect(late.status).toBe(404);
    expect(late.json.error).toEqual({
      code: "UNKNOWN_SESSION",
      message: `session ${id} was idle for longer than its ttl_s and is closed: open it with PUT /v1/sessions/${id}`,
    });
  });

  test("is closed when its time is over, even before the next clean-up", async () => {
    const { open, add, passes } = await serveWith();
    const id = createSessionId();
    await open(id, { ttl_s: 5 });
    passes(5_001);
    expect((await add(id, 1)).status).toBe(404);
  });

  test("opened again is a new session whose calls count from 1", async () => {
    const { open, add, passes } = await serveWith();
    const id = createSessionId();
    await open(id);
    await add(id, 1);
    passes(31 * minute);
    serving.sessions.closeIdle();
    await open(id);
    expect((await add(id, 2)).status).toBe(409);
    expect((await add(id, 1)).json.structured.value).toBe(1);
  });

  test("stays open for the ttl_s of its owner", async () => {
    const { passes } = await serveWith();
    serving.sessions.open({
      owner: "editor",
      servers: [{ name: "counting", fixture: "full" }],
      seed: 1,
      ttlMs: Infinity,
    });
    passes(1e12);
    serving.sessions.closeIdle();
    expect(serving.sessions.all.map(it => it.owner)).toEqual(["editor"]);
  });
});

test("512 sessions at once are independent", async () => {
  const { open, add } = await serveWith();
  const ids = Array.from({ length: 512 }, createSessionId);
  await Promise.all(ids.map(id => open(id)));
  expect(serving.sessions.size).toBe(512);
  // each counts up to a number of its own, all at the same time
  const ends = await Promise.all(
    ids.map(async (id, i) => {
      let value = 0;
      for (let seq = 1; seq <= 1 + (i % 7); seq++)
        value = (await add(id, seq)).json.structured.value;
      return value;
    }),
  );
  expect(ends).toEqual(ids.map((_, i) => 1 + (i % 7)));
  expect(new Set(serving.sessions.all.map(it => it.digest)).size).toBe(7);
});

test("one request opens a session on every server of the catalog", async () => {
  serving = await startHttpServer({ catalog: everything });
  const response = await sendRequest(`${serving.url}/v1/sessions/${createSessionId()}`, "PUT", {
    body: {},
  });
  expect(Object.keys((response.json as unknown as { mcp: object }).mcp)).toEqual([
    ...everything.servers.keys(),
  ]);
});

test("closing the server ends sessions and connections and notifies listeners", async () => {
  const { open } = await serveWith();
  const changes: SessionChange[] = [];
  serving.sessions.onChange(it => changes.push(it));
  await open(createSessionId());
  const { url } = serving;
  await serving.close();
  expect(changes.at(-1)).toMatchObject({ kind: "closed", why: "ended" });
  await expect(sendRequest(`${url}/health`, "GET")).rejects.toThrow(
    /ECONNREFUSED|hang up|ECONNRESET/,
  );
});
