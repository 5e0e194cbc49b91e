/** Sessions on servers at an address, over MCP's streamable HTTP. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { connectServer, type ConnectedSession } from "../../src/mcp/connectedSession.ts";
import { parseServerEntries, type ServerEntry } from "../../src/mcp/mcpConfig.ts";
import { root } from "../contracts/transports.ts";
import { serveFixture } from "./fixtureServer.ts";
import { serveNotes, type RemoteServer } from "./remoteServer.ts";

const secret = "tok-5f2c9b7d41";
const open: ConnectedSession[] = [];
let server: RemoteServer;

beforeEach(async () => {
  server = await serveNotes();
  vi.stubEnv("NOTES_TOKEN", secret);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(it => it.close()));
  await server.close();
  vi.unstubAllEnvs();
});

const createEntry = (changes: object = {}): ServerEntry => {
  const notes = {
    type: "http",
    url: server.url,
    headers: { Authorization: "Bearer ${env:NOTES_TOKEN}" },
    ...changes,
  };
  const { entries, errors } = parseServerEntries(JSON.stringify({ servers: { notes } }), "m", "/");
  for (const it of errors.values()) throw it;
  return entries.get("notes")!;
};

async function connect(changes: object = {}, call = 300_000): Promise<ConnectedSession> {
  const { signal } = new AbortController();
  const session = await connectServer(createEntry(changes), signal, { start: 300_000, call });
  open.push(session);
  return session;
}

const getNote = (session: ConnectedSession) => session.call("get_note", { note_id: "note_1" });

test.each(["", "stream", "around"])("tools are listed and called (%s)", async manner => {
  server.manner = manner;
  const session = await connect({ reads: ["count_notes"] });
  expect(Array.from(session.tools.values(), it => `${it.name} ${it.effect}`)).toEqual([
    "list_notes read",
    "get_note read",
    "count_notes read",
    "delete_note write",
  ]);
  expect(await getNote(session)).toMatchObject({ kind: "ok", value: { title: "Budget 2026" } });
  expect(await session.call("count_notes", { folder: "Nowhere" })).toMatchObject({
    kind: "refused",
    message: "there is no such folder",
  });
  expect(server.requests.every(it => it.authorization === `Bearer ${secret}`)).toBe(true);
  expect(server.requests.at(-1)).toMatchObject({
    "mcp-session-id": "session-1",
    "mcp-protocol-version": "2025-11-25",
  });
});

test("only tools that are known to read are called", async () => {
  const session = await connect();
  for (const name of ["count_notes", "delete_note"])
    expect(await session.call(name, { folder: "Home", note_id: "note_1" })).toMatchObject({
      kind: "refused",
      type: "permission_denied",
      message: `${name} is not marked as read-only, and notes is remote and cannot be reset`,
      hint: expect.stringContaining('add it to "reads"') as string,
    });
  expect(server.calls).toEqual([]);
});

test("long numbers keep their digits, in arguments and results", async () => {
  const session = await connect();
  expect(
    await session.call("get_note", '{"note_id": "note_1", "n": 12345678901234567890}'),
  ).toEqual(expect.objectContaining({ kind: "ok" }));
  expect(server.bodies.join("\n")).toContain('"n": 12345678901234567890');
  server.manner = "tools/call long";
  expect(await getNote(session)).toMatchObject({ value: { size: "98765432109876543210" } });
});

describe("a server that cannot be connected to", () => {
  const cases: [manner: string, what: RegExp, remedy: RegExp][] = [
    ["401", /^notes answers 401 Unauthorized$/, /check headers in entry notes.*variables/],
    ["404", /^notes answers 404 Not Found$/, /check that url in entry notes/],
    ["503", /^notes answers 503 Service Unavailable \(too much to do\)$/, /try again later/],
    ["html", /no MCP message \(Unexpected content type: text\/html\)/, /endpoint of MCP's/],
    ["broken", /answers with what is not JSON/, /check that it is an MCP server/],
    ["elsewhere", /redirects to another place.*http:\/\/localhost:9\/mcp /, /if you trust it/],
    ["400", /is no MCP server that can be spoken to \(a note_id is text\)/, /correct entry/],
    ["huge", /answered with more than 10485760 bytes/, /ask for less/],
    ["huge-stream", /answered with more than 10485760 bytes/, /ask for less/],
    ["half-stream", /ended its answer in the middle/, /try again later/],
    ["cut", /ended its answer in the middle/, /try again later/],
    ["tools/list cut", /ended its answer in the middle/, /try again later/],
    ["tools/list 404", /has ended the session \(answers 404 Not Found\)/, /connect again/],
    ["notifications/initialized 401", /answers 401/, /check headers/],
  ];
  test.each(cases)("%s", async (manner, what, remedy) => {
    server.manner = manner;
    const error: unknown = await connect().catch((it: unknown) => it);
    expect(error).toMatchObject({
      what: expect.stringMatching(what) as string,
      remedy: expect.stringMatching(remedy) as string,
    });
    expect(String((error as Error).stack)).not.toContain(secret);
    expect(server.requests.every(it => it.host === new URL(server.url).host)).toBe(true);
  });

  test.each(["hang", "notifications/initialized hang"])("%s", async manner => {
    server.manner = manner;
    const opened = connectServer(createEntry(), new AbortController().signal, {
      start: 300,
      call: 300,
    });
    await expect(opened).rejects.toThrow(
      /notes did not answer within 0.3 s of its start: check that url in entry notes/,
    );
  });

  test("one that is down", async () => {
    await server.close();
    await expect(connect({ url: `${server.url}?key=${secret}` })).rejects.toThrow(
      /^notes cannot be reached at http:\/\/127\.0\.0\.1:\d+\/mcp\?key=… \(.*ECONNREFUSED.*\): check that it runs/,
    );
  });

  test("a variable that is not set, or has a line break", async () => {
    const headers = { Authorization: "Bearer ${env:NO_SUCH_TOKEN}" };
    await expect(connect({ headers })).rejects.toThrow(
      /^the variable NO_SUCH_TOKEN is not set, which a header of notes takes: set NO_SUCH_TOKEN/,
    );
    vi.stubEnv("NO_SUCH_TOKEN", `${secret}\nX: y`);
    await expect(connect({ headers })).rejects.toThrow(
      /^the header Authorization of notes has a line break or another character/,
    );
  });
});

describe("a server that fails while it is called", () => {
  const cases: [manner: string, message: RegExp][] = [
    ["401", /^notes answers 401 Unauthorized while it answered get_note$/],
    ["404", /^notes has ended the session/],
    ["503", /too much to do/],
    ["html", /no MCP message/],
    ["huge", /more than 10485760 bytes/],
    ["cut", /^notes ended its answer in the middle while it answered get_note$/],
  ];
  test.each(cases)("%s: the call is broken, and works after a restart", async (manner, message) => {
    const session = await connect();
    server.manner = `tools/call ${manner}`;
    const outcome = await getNote(session);
    expect(outcome).toMatchObject({ kind: "broken" });
    expect(outcome.kind !== "ok" && outcome.message).toMatch(message);
    server.manner = "";
    expect(await getNote(session)).toMatchObject({ kind: "broken" });
    await session.restart(0);
    expect(await getNote(session)).toMatchObject({ kind: "ok" });
  });

  test("a request that is refused as such is the server's refusal", async () => {
    const session = await connect();
    server.manner = "tools/call 400";
    expect(await getNote(session)).toEqual({
      kind: "refused",
      type: "invalid_params",
      message: "a note_id is text",
    });
    server.manner = "";
    expect(await getNote(session)).toMatchObject({ kind: "ok" });
  });

  test("a call that is not answered in time", async () => {
    const session = await connect({}, 300);
    server.manner = "tools/call hang";
    expect(await getNote(session)).toMatchObject({
      kind: "broken",
      message: "notes did not answer get_note within 0.3 s",
    });
  });
});

test.each(["tools/call echo", "tools/call 401"])(
  "what the server repeats of a header is hidden (%s)",
  async manner => {
    const session = await connect();
    server.manner = manner;
    const outcome = await getNote(session);
    expect(JSON.stringify(outcome)).not.toContain(secret);
    if (manner.endsWith("echo")) expect(JSON.stringify(outcome)).toContain('"you":"(hidden)"');
  },
);

test("the transport of our own servers is understood", async () => {
  const fixture = await serveFixture();
  onTestFinished(fixture.close);
  const session = await connect({ url: fixture.url, disposable: true });
  expect(await session.call("test_simple_text", {})).toMatchObject({ kind: "ok" });
  expect(await session.call("test_tool_with_progress", {})).toMatchObject({ kind: "ok" });
  expect(await session.call("test_error_handling", {})).toMatchObject({ kind: "refused" });
});

test("a server that others wrote is understood: server-everything", async () => {
  const script = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const port = String((free.address() as AddressInfo).port);
  free.close();
  const child = spawn(process.execPath, [script, "streamableHttp"], {
    env: { ...process.env, PORT: port },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill());
  // it says on stderr that it listens
  await once(child.stderr, "data");
  const session = await connect({ url: `http://127.0.0.1:${port}/mcp`, disposable: true });
  expect(session.tools.size).toBeGreaterThan(8);
  expect(await session.call("echo", { message: "hello" })).toMatchObject({
    kind: "ok",
    value: "Echo: hello",
  });
  expect(await session.call("get-sum", { a: 2, b: 3 })).toMatchObject({ kind: "ok" });
  // it answers in a stream, with notifications before the result
  expect(
    await session.call("trigger-long-running-operation", { duration: 0.2, steps: 2 }),
  ).toMatchObject({ kind: "ok" });
});
