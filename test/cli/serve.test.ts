/** `serve`: its first line, its end, and the options it refuses. */
import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { root } from "../contracts/transports.ts";
import { sendRequest } from "../service/countingService.ts";
import { emptyFolder, run } from "./program.ts";

const example = join(root, "resources/example/prove/tasks/example.tasks.jsonl");

interface RunningService {
  readonly child: ChildProcess;
  readonly url: string;
  readonly printed: () => string;
  readonly ended: Promise<number | null>;
}

const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach(it => it.kill("SIGKILL")));

async function start(
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<RunningService> {
  const child = spawn(
    process.execPath,
    [join(root, "dist/cli.js"), "serve", "--port", "0", ...args],
    { cwd: emptyFolder(), env: { ...process.env, ...env } },
  );
  children.push(child);
  let [stdout, stderr] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (it: string) => (stderr += it));
  const ended = new Promise<number | null>(resolve => child.once("close", resolve));
  const first = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (it: string) => {
      stdout += it;
      if (stdout.includes("\n")) resolve(stdout.split("\n", 1)[0]!);
    });
    child.once("close", () => reject(new Error(stderr)));
  });
  return {
    child,
    url: (JSON.parse(first) as { url: string }).url,
    printed: () => stdout + stderr,
    ended,
  };
}

test("the first line has the address, which serves the API and MCP", async () => {
  const { url, printed } = await start();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const id = createSessionId();
  expect(
    (await sendRequest(`${url}/v1/sessions/${id}`, "PUT", { body: { fixture: "small" } })).status,
  ).toBe(200);
  const called = await sendRequest(`${url}/v1/sessions/${id}/call`, "POST", {
    body: { seq: 1, name: "banking_get_balance", arguments: { account_id: "acc_101" } },
  });
  expect(called.json.is_error).toBe(false);
  expect(
    (
      await sendRequest(`${url}/s/${id}/calendar/mcp`, "POST", {
        body: { jsonrpc: "2.0", id: 1, method: "ping" },
      })
    ).status,
  ).toBe(200);
  expect(printed().split("\n")[0]).toBe(JSON.stringify({ url }));
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends it with sessions open, connections idle and one in the middle of a request",
  async signal => {
    const { child, url, ended } = await start();
    await sendRequest(`${url}/v1/sessions/${createSessionId()}`, "PUT", {
      headers: { connection: "keep-alive" },
      body: {},
    });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const cut = new Promise(resolve => socket.once("close", resolve));
    socket.on("error", () => {});
    await new Promise<void>(resolve =>
      socket.write(
        "POST /v1/sessions/x/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        () => resolve(),
      ),
    );
    child.kill(signal);
    expect(await ended).toBe(0);
    await cut;
  },
);

test("with --drain it opens no more sessions, and ends when the last one is closed", async () => {
  const { child, url, ended, printed } = await start(["--drain", "60", "--tasks", example]);
  const at = `${url}/v1/sessions/${createSessionId()}`;
  await sendRequest(at, "PUT", { body: { task_id: "banking-11-1" } });
  child.kill("SIGTERM");
  await expect
    .poll(async () => (await sendRequest(`${url}/health`, "GET")).json)
    .toMatchObject({ status: "draining", sessions: 1, tasks: 40 });
  const other = await sendRequest(`${url}/v1/sessions/${createSessionId()}`, "PUT", { body: {} });
  expect(other).toMatchObject({ status: 503, json: { error: { code: "DRAINING" } } });
  expect(await sendRequest(`${at}/score`, "POST", { body: {} })).toMatchObject({ status: 200 });
  await sendRequest(at, "DELETE");
  expect(await ended).toBe(0);
  expect(printed()).toMatch(/waiting up to 60 s for 1 open session;/);
});

test.each([
  ["a file without tasks", "empty.tasks.jsonl", "", /empty\.tasks\.jsonl has no tasks/],
  ["a file that does not exist", "none.tasks.jsonl", undefined, /none\.tasks\.jsonl/],
])("refuses %s", async (_, name, text, message) => {
  const cwd = emptyFolder();
  if (text !== undefined) writeFileSync(join(cwd, name), text);
  const { code, stderr } = await run(["serve", "--port", "0", "--tasks", name], { cwd });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});

test("refuses two tasks of one id, and names lines that are not tasks", async () => {
  const { code, stderr } = await run(["serve", "--port", "0", "--tasks", `${example},${example}`]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/is in .* and in /) });
});

test("other machines reach the service under the names in --allow-hosts only", async () => {
  const token = "planted-token-0123456789";
  const { url } = await start(
    ["--host", "0.0.0.0", "--allow-hosts", "prove.internal,trainer.internal"],
    { PROVE_TOKEN: token },
  );
  const getStatus = async (host: string) =>
    (
      await sendRequest(`${url.replace("0.0.0.0", "127.0.0.1")}/health`, "GET", {
        headers: { authorization: `Bearer ${token}`, host },
      })
    ).status;
  expect(await getStatus("prove.internal:8970")).toBe(200);
  expect(await getStatus("trainer.internal")).toBe(200);
  expect(await getStatus("other.internal")).toBe(403);
});

test("a token gives access and is never printed", async () => {
  const token = "planted-token-0123456789";
  const { child, url, printed, ended } = await start([], { PROVE_TOKEN: token });
  expect((await sendRequest(`${url}/health`, "GET")).status).toBe(401);
  expect(
    (await sendRequest(`${url}/health`, "GET", { headers: { authorization: `Bearer ${token}` } }))
      .status,
  ).toBe(200);
  await sendRequest(`${url}/v1/sessions/${token}`, "PUT", {
    headers: { authorization: `Bearer ${token}` },
    body: {},
  });
  child.kill("SIGINT");
  await ended;
  expect(printed()).not.toContain(token);
});

test("a port that is in use is an error", async () => {
  const { url } = await start();
  const { port } = new URL(url);
  expect(await run(["serve", "--port", port])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: `prove-rl: cannot listen on 127.0.0.1:${port} (EADDRINUSE)\n  choose another port, or 0 for any free one\n`,
  });
});

const readable = join(emptyFolder(), "token");
writeFileSync(readable, "a-token-that-all-can-read", { mode: 0o644 });

test.each([
  [
    "another host without a token",
    ["--host", "0.0.0.0"],
    /0\.0\.0\.0 can be reached from other machines and there is no token\n {2}set PROVE_TOKEN/,
  ],
  ["a token as an argument", ["--token", "0123456789abcdef"], /Unknown option '--token'/],
  [
    "a token file that others can read",
    ["--token-file", readable],
    /others can read .*\n {2}make it yours alone: chmod 600/,
  ],
  ["an invalid port", ["--port", "99999"], /--port 99999 is not a whole number from 0 to 65535/],
  ["a capacity of 0", ["--capacity", "0"], /--capacity 0 is not a whole number from 1 to/],
])("refuses %s", async (_, args, message) => {
  const { code, stdout, stderr } = await run(["serve", ...args]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});
