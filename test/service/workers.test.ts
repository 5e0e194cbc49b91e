/** The service in two worker processes at one address, one of which is killed. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { findProcessIndex } from "../../src/service/peers.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { root } from "../contracts/transports.ts";

const token = "planted-token-0123456789";
const capacity = 24;
const task = "banking-11-1";
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const journal = mkdtempSync(join(tmpdir(), "prove-journal-"));
let service: ChildProcess;
let url = "";
let notes = "";
/** Resolves when the service has ended. */
let ended: Promise<number | null>;

beforeAll(async () => {
  service = spawn(
    process.execPath,
    [
      join(root, "dist/cli.js"),
      "serve",
      "--port=0",
      "--workers=2",
      `--capacity=${capacity}`,
      `--journal=${journal}`,
      "--drain=60",
      `--tasks=${join(root, "resources/example/prove/tasks/example.tasks.jsonl")}`,
    ],
    { env: { ...process.env, PROVE_TOKEN: token } },
  );
  ended = new Promise(resolve => service.once("close", resolve));
  service.stderr!.setEncoding("utf8").on("data", (it: string) => (notes += it));
  url = await new Promise<string>((resolve, reject) => {
    service.stdout!.once("data", it => resolve((JSON.parse(String(it)) as { url: string }).url));
    service.once("close", () => reject(new Error(notes)));
  });
});
afterAll(() => {
  agent.destroy();
  service.kill("SIGKILL");
});

interface Answer {
  readonly status: number;
  // each test reads other fields
  // oxlint-disable-next-line no-explicit-any
  readonly json: any;
  readonly text: string;
}

function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      {
        method,
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          ...(text === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      },
      response => {
        let answer = "";
        response.setEncoding("utf8").on("data", (it: string) => (answer += it));
        response.once("end", () =>
          resolve({
            status: response.statusCode!,
            text: answer,
            get json() {
              return JSON.parse(answer) as unknown;
            },
          }),
        );
        response.once("error", reject);
      },
    );
    sent.once("error", reject);
    sent.end(text);
  });
}

/** As clients do: repeats a request whose connection was lost. */
async function sendUntilAnswered(...args: Parameters<typeof send>): Promise<Answer> {
  for (;;) {
    const answer = await send(...args).catch(() => undefined);
    if (answer && answer.status !== 503) return answer;
  }
}

/** An id whose session is in that worker. */
function createIdOf(worker: number): string {
  for (;;) {
    const id = createSessionId();
    if (findProcessIndex(id, 2) === worker) return id;
  }
}
const open = (id: string, body: object = { servers: ["banking"] }) =>
  send("PUT", `/v1/sessions/${id}`, body);
const transfer = (seq: number) => ({
  seq,
  name: "banking_transfer",
  arguments: { from_account: "acc_101", to_account: "acc_108", amount: 1.25 },
});
const call = (id: string, body: object) => send("POST", `/v1/sessions/${id}/call`, body);
const close = (id: string) => send("DELETE", `/v1/sessions/${id}`);
const both = () => [createIdOf(0), createIdOf(1)] as const;

test("each session is in one process, and all are reached over any connection", async () => {
  const ids = both();
  const digests = new Set<string>();
  for (const id of ids) {
    expect((await open(id)).status).toBe(200);
    // four connections, which are spread over the processes
    const answers = await Promise.all([1, 1, 1, 1].map(seq => call(id, transfer(seq))));
    expect(new Set(answers.map(it => it.text)).size).toBe(1);
    digests.add(answers[0]!.json.digest as string);
  }
  expect(digests.size).toBe(1);
  expect((await send("GET", "/health")).json).toMatchObject({ sessions: 2, capacity, workers: 2 });
  for (const id of ids) await close(id);
  expect((await send("GET", "/health")).json).toMatchObject({ sessions: 0 });
});

test("an id is the same session however its address is encoded", async () => {
  for (const id of both()) {
    const encoded = id.replaceAll(/./g, it => `%${it.charCodeAt(0).toString(16)}`);
    const half = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`;
    await open(id);
    const addresses = [id, encoded, half, id, encoded, half];
    const answers = await Promise.all(addresses.map(it => call(it, transfer(1))));
    expect(answers.map(it => it.text)).toEqual(answers.map(() => answers[0]!.text));
    expect(answers[0]!.status).toBe(200);
    const states = await Promise.all(
      addresses.map(it => send("GET", `/v1/sessions/${it}/state?server=banking`)),
    );
    expect(new Set(states.map(it => it.json.digest)).size).toBe(1);
    const rpc = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await send("POST", `/s/${encoded}/banking/mcp`, rpc)).status).toBe(200);
    await close(encoded);
    expect((await send("GET", `/v1/sessions/${id}/state`)).status).toBe(404);
  }
});

test("a batch is executed by both and answered in its order", async () => {
  const ids = [createIdOf(1), createIdOf(0), createIdOf(1), createIdOf(0)];
  const requests = [
    ...ids.map(session_id => ({ do: "open", session_id, body: { task_id: task } })),
    ...ids.map((session_id, i) => ({ do: "call", session_id, body: transfer(i === 2 ? 7 : 1) })),
    ...ids.map(session_id => ({ do: "score", session_id })),
    ...ids.map(session_id => ({ do: "delete", session_id })),
  ];
  const { results } = (await send("POST", "/v1/sessions:batch", { requests })).json as {
    results: { status: number; body: { session_id?: string; error?: { code: string } } }[];
  };
  expect(results.map(it => it.status)).toEqual(
    requests.map((_, i) => (i === ids.length + 2 ? 409 : 200)),
  );
  expect(results.slice(0, 4).map(it => it.body.session_id)).toEqual(ids);
  expect(results[6]!.body.error!.code).toBe("OUT_OF_ORDER");
});

test("a session is forked into the process of the new one, and the fork is repeatable", async () => {
  for (const [from, to] of [both(), [...both()].toReversed() as [string, string]]) {
    await open(from);
    const { digest } = (await call(from, transfer(1))).json as { digest: string };
    const fork = () => send("POST", `/v1/sessions/${from}/fork`, { session_id: to });
    expect((await fork()).json).toMatchObject({ session_id: to, digest });
    expect((await fork()).json).toMatchObject({ session_id: to, digest });
    const after = (await call(to, transfer(1))).json as { digest: string };
    expect(after.digest).not.toBe(digest);
    expect((await send("GET", `/v1/sessions/${from}/state`)).json).toMatchObject({ digest });
    // the state that a reset restores is that before the first call
    const reset = await send("POST", `/v1/sessions/${to}/reset`, {});
    expect((await call(to, transfer(2))).json).toMatchObject({ digest });
    expect(reset.status).toBe(200);
    await close(from);
    await close(to);
  }
});

test("MCP and OpenEnv's JSON-RPC reach a session in either process", async () => {
  for (const id of both()) {
    await open(id);
    for (let i = 0; i < 4; i++) {
      const rpc = { jsonrpc: "2.0", id: i, method: "tools/call" };
      const { name, arguments: args } = transfer(1);
      const mcp = await send("POST", `/s/${id}/banking/mcp`, {
        ...rpc,
        params: { name, arguments: args },
      });
      expect(mcp.json).toMatchObject({
        id: i,
        result: { structuredContent: { to_balance: expect.any(Number) } },
      });
      const openEnv = await send("POST", "/mcp", {
        ...rpc,
        params: { session_id: id, name, arguments: args },
      });
      expect(openEnv.json).toMatchObject({ id: i, result: { is_error: false } });
    }
    expect((await send("GET", `/s/${id}/banking/mcp`)).status).toBe(405);
    expect((await send("POST", `/s/${id}/email/mcp`, {})).json.error.code).toBe("UNKNOWN_SERVER");
    await close(id);
  }
});

describe("bad requests", () => {
  test.each([0, 1])("are refused for sessions of worker %i, over any connection", async worker => {
    const id = createIdOf(worker);
    const at = `/v1/sessions/${id}`;
    await open(id);
    for (let i = 0; i < 2; i++) {
      const refused: Record<string, Answer> = {
        UNAUTHORIZED: await send("GET", `${at}/state`, undefined, { authorization: "Bearer no" }),
        NOT_JSON: await send("POST", `${at}/call`, "{}", { "content-type": "text/plain" }),
        INVALID_REQUEST: await send("POST", `${at}/call`, "{"),
        OUT_OF_ORDER: await call(id, transfer(2)),
        UNKNOWN_SESSION: await call(createIdOf(worker), transfer(1)),
        UNKNOWN_TASK: await open(createIdOf(worker), { task_id: "none" }),
        METHOD_NOT_ALLOWED: await send("PATCH", at, {}),
      };
      expect(
        Object.fromEntries(Object.entries(refused).map(([it, { json }]) => [it, json.error.code])),
      ).toEqual(Object.fromEntries(Object.keys(refused).map(it => [it, it])));
      const menu = await open(createIdOf(worker), { servers: ["banking"], menu: ["email_send"] });
      expect(menu.json.error.message).toMatch(/the menu offers email_send, which none/);
      // a body of 50 MB is not read to its end
      const large = await send("POST", `${at}/call`, `"${"x".repeat(50e6)}"`).catch(
        (it: NodeJS.ErrnoException) => it,
      );
      if (large instanceof Error) expect(large.code).toMatch(/EPIPE|RESET/);
      else expect(large.json.error.code).toBe("TOO_LARGE");
    }
    expect((await call(id, transfer(1))).status).toBe(200);
    const other = await call(id, { ...transfer(1), name: "banking_list_payees", arguments: {} });
    expect(other.json.error.code).toBe("OUT_OF_ORDER");
    await close(id);
  });

  test("that never end hold up no other, and end with their connection", async () => {
    const ids = both();
    const sockets = [...ids, ...ids].map(id => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.write(
        `POST /v1/sessions/${id}/call HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      );
      return socket;
    });
    for (const id of ids) {
      expect((await open(id)).status).toBe(200);
      expect((await call(id, transfer(1))).status).toBe(200);
      await close(id);
    }
    for (const it of sockets) it.destroy();
  });
});

test("metrics are those of all processes", async () => {
  const { text } = await send("GET", "/metrics");
  const get = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
  expect(get("prove_sessions")).toBe(0);
  expect(get("prove_sessions_capacity")).toBe(capacity);
  const opened = get("prove_sessions_opened_total");
  expect(opened).toBeGreaterThan(10);
  // no matter which process is asked
  for (let i = 0; i < 4; i++)
    expect((await send("GET", "/metrics")).text).toContain(
      `prove_sessions_opened_total ${opened}\n`,
    );
});

describe.skipIf(process.platform !== "linux")("when the processes are killed", () => {
  test("their sessions are rebuilt, no call is lost, and none is executed twice", async () => {
    const ids = both();
    const attempt = createIdOf(0);
    for (const id of ids) await open(id);
    await open(attempt, { task_id: task });
    const last = new Map<string, Answer>();
    for (const id of [...ids, attempt])
      for (const seq of [1, 2]) last.set(id, await call(id, transfer(seq)));
    for (const pid of listWorkers()) process.kill(pid, "SIGKILL");
    for (const [id, { text, json }] of last) {
      const repeated = await sendUntilAnswered("POST", `/v1/sessions/${id}/call`, transfer(2));
      expect(repeated.text).toBe(text);
      const state = await sendUntilAnswered("GET", `/v1/sessions/${id}/state`);
      expect(state.json.digest).toBe(json.digest);
    }
    const next = await sendUntilAnswered("POST", `/v1/sessions/${ids[0]}/call`, transfer(3));
    const other = await sendUntilAnswered("POST", `/v1/sessions/${ids[1]}/call`, transfer(3));
    expect(next.json.digest).toBe(other.json.digest);
    const { events } = (await sendUntilAnswered("GET", `/v1/sessions/${attempt}/trajectory`))
      .json as { events: { kind: string }[] };
    expect(events.filter(it => it.kind === "call")).toHaveLength(2);
    expect((await sendUntilAnswered("GET", "/health")).json).toMatchObject({ sessions: 3 });
    expect(notes).toMatch(/worker [01] ended \(SIGKILL\) and is started again/);
    for (const id of last.keys()) await sendUntilAnswered("DELETE", `/v1/sessions/${id}`);
  });

  test("the journal has no file of a session that is closed", () => {
    expect(readdirSync(journal).filter(it => it.endsWith(".jsonl"))).toEqual([]);
  });
});

describe("the capacity", () => {
  const ids = Array.from({ length: capacity }, (_, i) => createIdOf(i < capacity - 2 ? 1 : 0));

  /** Opens sessions until a worker has most of the capacity, and closes them. */
  async function fill(worker: number): Promise<void> {
    const own = Array.from({ length: capacity - 2 }, () => createIdOf(worker));
    for (const it of own) expect((await open(it)).status).toBe(200);
    for (const it of own) await close(it);
  }

  test("is that of all processes for forks", async () => {
    await fill(1);
    const source = createIdOf(1);
    const forks = Array.from({ length: capacity - 1 }, () => createIdOf(0));
    await open(source);
    const fork = (session_id: string) =>
      send("POST", `/v1/sessions/${source}/fork`, { session_id });
    for (const it of forks) expect((await fork(it)).status).toBe(200);
    expect((await fork(forks[0]!)).status).toBe(200);
    expect((await fork(createIdOf(0))).json.error.code).toBe("CAPACITY_REACHED");
    for (const it of [source, ...forks]) await close(it);
  });

  test.each([0, 1])("is that of all for OpenEnv if worker %i had most of it", async worker => {
    await fill(worker);
    const sockets: WebSocket[] = [];
    const sessions: string[] = [];
    // each connection is to another process than the one before
    for (let i = 0; i < capacity / 2; i++) {
      const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, {
        headers: { authorization: `Bearer ${token}` },
      });
      sockets.push(socket);
      await once(socket, "open");
      socket.send(JSON.stringify({ type: "reset", data: { task_id: task } }));
      const [answer] = (await once(socket, "message")) as [Buffer];
      expect(JSON.parse(answer.toString())).toMatchObject({ type: "observation" });
    }
    const rpc = { jsonrpc: "2.0", id: 1 };
    const { name, arguments: args } = transfer(1);
    for (let i = 0; i < capacity / 2; i++) {
      const alone = { connection: "close" };
      const called = { ...rpc, method: "tools/call", params: { name, arguments: args } };
      expect((await send("POST", "/mcp", called, alone)).json).toMatchObject({
        result: { is_error: false },
      });
      const create = { ...rpc, method: "openenv/session/create" };
      const { result } = (await send("POST", "/mcp", create, alone)).json;
      sessions.push(result.session_id as string);
    }
    for (const it of sessions) await close(it);
    for (const it of sockets) it.close();
    await expect
      .poll(async () => (await send("GET", "/health")).json as object)
      .toMatchObject({ sessions: 0 });
  });

  test("is that of all processes together", async () => {
    // one process gets far more than half of the sessions
    const opened = await Promise.all(ids.map(id => open(id)));
    expect(opened.map(it => it.status)).toEqual(ids.map(() => 200));
    for (const id of both())
      expect((await open(id)).json.error).toEqual({
        code: "CAPACITY_REACHED",
        message: `all ${capacity} sessions are in use: delete one, or try again later`,
      });
    await close(ids[0]!);
    ids[0] = createIdOf(0);
    expect((await open(ids[0])).status).toBe(200);
  });

  test("is free when the service ends, which waits for that with --drain", async () => {
    service.kill("SIGTERM");
    await expect
      .poll(async () => (await send("GET", "/health")).json as object)
      .toMatchObject({ status: "draining", sessions: capacity });
    expect((await open(createIdOf(1))).json.error.code).toBe("DRAINING");
    for (const id of ids) expect((await close(id)).status).toBe(200);
    expect(await ended).toBe(0);
  });
});

/** The worker processes of the service. */
const listWorkers = (): readonly number[] =>
  readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, "utf8")
    .trim()
    .split(" ")
    .map(Number);
