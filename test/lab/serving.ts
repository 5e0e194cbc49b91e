/**
 * `serving`: measures calls between processes, over stdio and over HTTP, with the server
 * in a child process and a client here that does little more than write and read bytes.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { startReferenceServer } from "./referenceServer.ts";
import { HttpConnection } from "../../src/app/bench/service.ts";
import {
  readUrl,
  rejectOnExit,
  startProgram,
  type BenchmarkRow,
} from "../../src/app/bench/benchmark.ts";
import { defineCommand, flag, type CliContext } from "../../src/cli/command.ts";
import { printFigures } from "./printFigures.ts";
import type { AppContext } from "../../src/app/context.ts";

/** The calls of one session on `banking`. */
const mix: readonly (readonly [name: string, args: object])[] = [
  ["banking_list_accounts", { name: "Savings" }],
  ["banking_get_balance", { account_id: "acc_108" }],
  ["banking_transfer", { from_account: "acc_101", to_account: "acc_108", amount: 1.25 }],
  ["banking_list_payees", {}],
  ["banking_transfer", { from_account: "acc_108", to_account: "acc_101", amount: 1.25 }],
];
const runs = 5;

/** Measures all rows, with servers in child processes that end with the signal. */
async function* measureServing({ program, signal }: AppContext): AsyncGenerator<BenchmarkRow> {
  const startServer = (...args: readonly [string, ...string[]]) => {
    const child = startProgram(args, signal);
    child.stderr.resume();
    return child;
  };
  const stdio = startServer(program, "stdio", "banking");
  yield await Promise.race([measureStdio(stdio), rejectOnExit(stdio)]);
  const [own, sdk] = [
    startServer(program, "serve", "--with-parent", "--port", "0"),
    startServer(process.argv[1]!, "serving", "--reference"),
  ];
  try {
    yield* await Promise.race([measureHttp(own, sdk), rejectOnExit(own), rejectOnExit(sdk)]);
  } finally {
    for (const it of [own, sdk]) it.kill();
  }
}

/** Serves the SDK's empty tool until the signal aborts. Runs in a child process. */
async function serveEmptyTool({ print, signal }: CliContext): Promise<number> {
  const { url, close } = await startReferenceServer();
  print(JSON.stringify({ url }));
  await once(signal, "abort");
  close();
  return 0;
}

const request = (id: number | string, method: string, params: object) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const initialize = request("hello", "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
});

async function measureStdio(child: ChildProcess): Promise<BenchmarkRow> {
  const [stdin, stdout] = [child.stdin!, child.stdout!];
  let [sent, answered] = [0, 0];
  let checkInFlight = () => {};
  stdout.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) answered++;
    checkInFlight();
  });
  const waitForInFlight = (n: number) =>
    new Promise<void>(resolve => {
      checkInFlight = () => sent - answered <= n && resolve();
      checkInFlight();
    });
  const send = (lines: readonly string[]) => {
    sent += lines.length;
    stdin.write(`${lines.join("\n")}\n`);
  };
  const createSession = (n: number) => {
    const params = { _meta: { "prove/sessionId": `bench${n}` } };
    return [
      request(n, "prove/open", { ...params, seed: n }),
      ...mix.map(([name, args]) => request(n, "tools/call", { ...params, name, arguments: args })),
      request(n, "prove/close", params),
    ];
  };
  const work = async (n: number) => {
    for (let i = 0; i < n; i += 20 * mix.length) {
      send(Array.from({ length: 20 }, (_, k) => createSession(i + k)).flat());
      await waitForInFlight(256);
    }
    await waitForInFlight(0);
  };
  send([initialize]);
  await waitForInFlight(0);
  await work(2_000);
  const rates: number[] = [];
  for (let i = 0; i < runs; i++) rates.push(await measureRate(10_000, work));
  stdin.end();
  return { name: "environment.calls.stdio", unit: "1/s", runs: rates };
}

/** Measures our server and the SDK's in turns, so that other load on the machine affects both. */
async function measureHttp(own: ChildProcess, sdk: ChildProcess): Promise<BenchmarkRow[]> {
  const [ownUrl, sdkUrl] = await Promise.all([readUrl(own), readUrl(sdk)]);
  const [ownConnections, sdkConnections] = [openConnections(ownUrl), openConnections(sdkUrl)];
  const answer = await sdkConnections[0]!.request("POST", sdkUrl.pathname, initialize);
  const session = /mcp-session-id: (\S+)/i.exec(answer)![1]!;
  let id = 0;
  const callEmptyTool = async (connection: HttpConnection) => {
    const body = request(++id, "tools/call", { name: "empty", arguments: {} });
    await connection.request("POST", sdkUrl.pathname, body, `Mcp-Session-Id: ${session}\r\n`);
    return 1;
  };
  const [ownRates, sdkRates]: [number[], number[]] = [[], []];
  for (let i = 0; i <= runs; i++) {
    ownRates.push(await measureRate(4_000, n => share(n, ownConnections, useSession)));
    sdkRates.push(await measureRate(4_000, n => share(n, sdkConnections, callEmptyTool)));
  }
  for (const it of [...ownConnections, ...sdkConnections]) it.close();
  // the first run was the warm-up
  const [ownRuns, sdkRuns] = [ownRates.slice(1), sdkRates.slice(1)];
  return [
    { name: "environment.calls.http", unit: "1/s", runs: ownRuns },
    { name: "environment.calls.http.sdk-empty-tool", unit: "1/s", runs: sdkRuns },
    {
      name: "environment.calls.http.of-sdk",
      unit: "ratio",
      runs: ownRuns.map((it, i) => it / sdkRuns[i]!),
    },
  ];
}

const openConnections = (url: URL) => Array.from({ length: 32 }, () => new HttpConnection(url));

/** Shares `n` calls among connections. `work` returns how many calls it has made. */
async function share(
  n: number,
  connections: readonly HttpConnection[],
  work: (connection: HttpConnection) => Promise<number>,
): Promise<void> {
  await Promise.all(
    connections.map(async connection => {
      for (let calls = 0; calls < n / connections.length;) calls += await work(connection);
    }),
  );
}

/** Opens a session, makes its calls over MCP, and closes it. */
async function useSession(connection: HttpConnection): Promise<number> {
  const id = randomBytes(16).toString("base64url");
  await connection.request("PUT", `/v1/sessions/${id}`, `{"servers":["banking"]}`);
  for (const [name, args] of mix) {
    const body = request(1, "tools/call", { name, arguments: args });
    await connection.request("POST", `/s/${id}/banking/mcp`, body);
  }
  await connection.request("DELETE", `/v1/sessions/${id}`, "");
  return mix.length;
}

async function measureRate(n: number, work: (n: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  await work(n);
  return n / ((performance.now() - start) / 1000);
}

export const serving = defineCommand({
  name: "serving",
  description:
    "Measure calls over stdio and over HTTP, and the SDK's own HTTP transport with an empty tool in turns with ours.",
  arguments: [],
  options: {
    reference: flag("--reference", "serve the SDK's empty tool", { isHidden: true }),
  },
  examples: ["serving"],
  run: (context, _positionals, { reference }) =>
    reference ? serveEmptyTool(context) : printFigures(measureServing(context), context),
});
