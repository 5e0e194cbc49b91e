/**
 * The rows of `bench` with a wire between: calls over stdio and over HTTP, the server in a process
 * of its own and the client here. The client writes and reads bytes only, so that what is measured
 * is the server.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { startReferenceServer } from "../mcp/referenceServer.ts";
import type { CliContext } from "./command.ts";

/** Five runs of one figure. */
export interface BenchmarkRow {
  readonly name: string;
  readonly unit: string;
  readonly runs: readonly number[];
}

type Mix = readonly (readonly [string, object])[];

/** A trajectory's calls on `banking`, in a session of its own. */
const mix: Mix = [
  ["banking_list_accounts", { name: "Savings" }],
  ["banking_get_balance", { account_id: "acc_108" }],
  ["banking_transfer", { from_account: "acc_101", to_account: "acc_108", amount: 1.25 }],
  ["banking_list_payees", {}],
  ["banking_transfer", { from_account: "acc_108", to_account: "acc_101", amount: 1.25 }],
];
const runs = 5;

/**
 * All rows; children end with the signal. `reference` is what starts the SDK's own server with an
 * empty tool.
 */
export async function* measureServing(
  signal: AbortSignal,
  reference: readonly string[],
): AsyncGenerator<BenchmarkRow> {
  const program = (args: readonly string[]) => {
    const child = spawn(process.execPath, [process.argv[1]!, ...args], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    signal.addEventListener("abort", () => child.kill(), { once: true });
    return child;
  };
  const lines = program(["stdio", "banking"]);
  yield await Promise.race([overStdio(lines), ending(lines)]);
  const [ours, theirs] = [program(["serve", "--port", "0"]), program(reference)];
  yield* await Promise.race([overHttp(ours, theirs), ending(ours), ending(theirs)]);
}

/** The SDK's own server with an empty tool, until the signal aborts. */
export async function serveEmptyTool({ print, signal }: CliContext): Promise<number> {
  const { url, close } = await startReferenceServer();
  print(JSON.stringify({ url }));
  await once(signal, "abort");
  close();
  return 0;
}

/** Rejects when a server ends, which is before its time as long as somebody waits for it. */
async function ending(child: ChildProcess): Promise<never> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  throw new Error(`a server that was measured ended by itself (${code ?? signal})`);
}

const request = (id: number | string, method: string, params: object) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const initialize = request("hello", "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
});

async function overStdio(child: ChildProcess): Promise<BenchmarkRow> {
  const [stdin, stdout] = [child.stdin!, child.stdout!];
  let [sent, answered] = [0, 0];
  let look = () => {};
  stdout.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) answered++;
    look();
  });
  const inFlightAtMost = (n: number) =>
    new Promise<void>(resolve => {
      look = () => sent - answered <= n && resolve();
      look();
    });
  const send = (lines: readonly string[]) => {
    sent += lines.length;
    stdin.write(`${lines.join("\n")}\n`);
  };
  const trajectory = (n: number) => {
    const params = { _meta: { "prove/sessionId": `bench${n}` } };
    return [
      request(n, "prove/open", { ...params, seed: n }),
      ...mix.map(([name, args]) => request(n, "tools/call", { ...params, name, arguments: args })),
      request(n, "prove/close", params),
    ];
  };
  const work = async (n: number) => {
    for (let i = 0; i < n; i += 20 * mix.length) {
      send(Array.from({ length: 20 }, (_, k) => trajectory(i + k)).flat());
      await inFlightAtMost(256);
    }
    await inFlightAtMost(0);
  };
  send([initialize]);
  await inFlightAtMost(0);
  await work(2_000);
  const rates: number[] = [];
  for (let i = 0; i < runs; i++) rates.push(await rate(10_000, work));
  stdin.end();
  return { name: "environment.calls.stdio", unit: "1/s", runs: rates };
}

/** Ours and the SDK's in turns, so that both meet the same weather. */
async function overHttp(ours: ChildProcess, theirs: ChildProcess): Promise<BenchmarkRow[]> {
  const [ourUrl, theirUrl] = await Promise.all([urlOf(ours), urlOf(theirs)]);
  const hands = (url: URL) => Array.from({ length: 32 }, () => new Hand(url));
  const [our, their] = [hands(ourUrl), hands(theirUrl)];
  const greeted = await their[0]!.ask("POST", theirUrl.pathname, initialize);
  const session = /mcp-session-id: (\S+)/i.exec(greeted)![1]!;
  const shared = async (all: readonly Hand[], n: number, each: (hand: Hand) => Promise<number>) => {
    await Promise.all(
      all.map(async hand => {
        for (let done = 0; done < n / all.length;) done += await each(hand);
      }),
    );
  };
  const trajectory = async (hand: Hand) => {
    const id = randomBytes(16).toString("base64url");
    await hand.ask("PUT", `/v1/sessions/${id}`, `{"servers":["banking"]}`);
    for (const [name, args] of mix)
      await hand.ask(
        "POST",
        `/s/${id}/banking/mcp`,
        request(1, "tools/call", { name, arguments: args }),
      );
    await hand.ask("DELETE", `/v1/sessions/${id}`, "");
    return mix.length;
  };
  let number = 0;
  const empty = async (hand: Hand) => {
    await hand.ask(
      "POST",
      theirUrl.pathname,
      request(++number, "tools/call", { name: "empty", arguments: {} }),
      `Mcp-Session-Id: ${session}\r\n`,
    );
    return 1;
  };
  const [ourRates, theirRates]: [number[], number[]] = [[], []];
  for (let i = 0; i <= runs; i++) {
    ourRates.push(await rate(4_000, n => shared(our, n, trajectory)));
    theirRates.push(await rate(4_000, n => shared(their, n, empty)));
  }
  for (const it of [...our, ...their]) it.close();
  for (const it of [ours, theirs]) it.kill();
  // the first run of each warmed up
  const [mine, sdk] = [ourRates.slice(1), theirRates.slice(1)];
  return [
    { name: "environment.calls.http", unit: "1/s", runs: mine },
    { name: "environment.calls.http.sdk-empty-tool", unit: "1/s", runs: sdk },
    {
      name: "environment.calls.http.of-sdk",
      unit: "ratio",
      runs: mine.map((it, i) => it / sdk[i]!),
    },
  ];
}

async function rate(n: number, work: (n: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  await work(n);
  return n / ((performance.now() - start) / 1000);
}

async function urlOf(child: ChildProcess): Promise<URL> {
  let text = "";
  while (!text.includes("\n")) text += String((await once(child.stdout!, "data"))[0]);
  return new URL((JSON.parse(text.split("\n")[0]!) as { url: string }).url);
}

/** A connection that asks one thing at a time. */
class Hand {
  readonly #socket: Socket;
  #text = "";
  #done: (answer: string) => void = () => {};

  constructor({ hostname, port }: URL) {
    this.#socket = connect(Number(port), hostname).setNoDelay(true).setEncoding("latin1");
    this.#socket.on("data", (chunk: string) => this.#take(chunk));
  }

  ask(method: string, path: string, body: string, more = ""): Promise<string> {
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    return new Promise(resolve => (this.#done = resolve));
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: string): void {
    this.#text += chunk;
    const head = this.#text.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#text.slice(0, head))?.[1];
    const isWhole =
      length === undefined
        ? this.#text.endsWith("0\r\n\r\n")
        : this.#text.length >= head + 4 + Number(length);
    if (!isWhole) return;
    const answer = this.#text;
    this.#text = "";
    this.#done(answer);
  }
}
