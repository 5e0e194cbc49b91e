/**
 * The example for HAProxy in front of two services: single requests, batches and the Python client
 * over its one address.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { findFreePort } from "../freePort.ts";

const root = join(import.meta.dirname, "../..");
const tasks = join(root, "resources/example/prove/tasks/example.tasks.jsonl");
const task = "banking-11-1";
const children: ChildProcess[] = [];
let url = "";
let machines: readonly string[] = [];

beforeAll(async () => {
  machines = await Promise.all([startMachine(), startMachine()]);
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  const example = readFileSync(join(root, "resources/many-machines/haproxy.cfg"), "utf8");
  const config = join(mkdtempSync(join(tmpdir(), "prove-haproxy-")), "haproxy.cfg");
  writeFileSync(
    config,
    [port, ...machines.map(it => Number(new URL(it).port))].reduce(
      (text, own, i) => text.replace(`127.0.0.1:897${i}`, `127.0.0.1:${own}`),
      example,
    ),
  );
  children.push(spawn("haproxy", ["-db", "-q", "-f", config], { stdio: "inherit" }));
  await vi.waitFor(async () => expect((await fetch(`${url}/health`)).status).toBe(200), {
    timeout: 240_000,
  });
});
afterAll(() => {
  for (const it of children) it.kill("SIGKILL");
});

async function startMachine(): Promise<string> {
  const child = spawn(process.execPath, ["dist/cli.js", "serve", "--port", "0", "--tasks", tasks], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return (JSON.parse(String(line)) as { url: string }).url;
}

async function send(method: string, path: string, body?: object, group?: string) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body ? { "content-type": "application/json" } : {}),
      ...(group === undefined ? {} : { "x-prove-group": group }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const countSessions = () =>
  Promise.all(
    machines.map(
      async it => ((await (await fetch(`${it}/health`)).json()) as { sessions: number }).sessions,
    ),
  );
const listAccounts = (seq: number) => ({ seq, name: "banking_list_accounts", arguments: {} });

test("all requests of a session reach its machine, and sessions are spread over both", async () => {
  const ids = Array.from({ length: 32 }, createSessionId);
  for (const id of ids) {
    const at = `/v1/sessions/${id}`;
    expect((await send("PUT", at, { task_id: task })).status).toBe(200);
    for (const seq of [1, 2, 2, 3])
      expect((await send("POST", `${at}/call`, listAccounts(seq))).status).toBe(200);
    const rpc = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await send("POST", `/s/${id}/banking/mcp`, rpc)).status).toBe(200);
    expect((await send("POST", `${at}/score`, {})).json).toMatchObject({ task_id: task });
  }
  const counts = await countSessions();
  expect(counts[0]! + counts[1]!).toBe(ids.length);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  for (const id of ids) await send("DELETE", `/v1/sessions/${id}`);
  expect(await countSessions()).toEqual([0, 0]);
});

test("a client that names its group can send batches", async () => {
  const ids = Array.from({ length: 16 }, createSessionId);
  const requests = ids.flatMap(session_id => [
    { do: "open", session_id, body: { task_id: task } },
    { do: "call", session_id, body: listAccounts(1) },
  ]);
  const { json } = await send("POST", "/v1/sessions:batch", { requests }, "trainer-7");
  const results = json["results"] as { status: number }[];
  expect(results.map(it => it.status)).toEqual(requests.map(() => 200));
  for (const id of ids) {
    const call = await send("POST", `/v1/sessions/${id}/call`, listAccounts(1), "trainer-7");
    expect(call.status).toBe(200);
    await send("DELETE", `/v1/sessions/${id}`, undefined, "trainer-7");
  }
  expect(await countSessions()).toEqual([0, 0]);
});

test("the Python client makes attempts over the one address", async () => {
  const program = `
import sys
from prove_rl import Client
client = Client(sys.argv[1])
for _ in range(8):
    with client.open("${task}") as session:
        session.message({"role": "assistant", "content": "I am done."})
        assert session.score()["task_id"] == "${task}"
client.close()
`;
  await promisify(execFile)("python3", ["-c", program, url], {
    env: { ...process.env, PYTHONPATH: join(root, "resources/python") },
  });
  expect(await countSessions()).toEqual([0, 0]);
});
