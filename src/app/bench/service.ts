/**
 * Measures `bench service`: attempts at tasks over HTTP, with the service in a child process and
 * the load from here. An attempt repeats what the task's teacher did, call by call.
 */
import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { createTemporaryFolder } from "../../storage/temporaryFolders.ts";
import { writeFileOver } from "../../storage/writtenFiles.ts";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { synthesize } from "../../synthesis/pipeline/run/synthesize.ts";
import { type Task, formatTaskLine } from "../../trajectory/task.ts";
import { readUrl, rejectOnExit, startProgram, type BenchmarkRow } from "./benchmark.ts";
import type { AppContext } from "../context.ts";
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { listMessages } from "../../policy/scripted.ts";

const taskCount = 256;
const runCount = 5;

export async function* measureServedTasks(
  context: AppContext,
  /** Worker processes of the service. */
  workers: number,
): AsyncGenerator<BenchmarkRow> {
  const tasks = await synthesizeServedTasks(context);
  // the first run compiles the code
  const runTasks = Array.from({ length: runCount + 1 }, (_, run) => createRunTasks(tasks, run));
  const served = runTasks.flatMap(it => Object.values(it).flat());
  yield* useService(context, { tasks: served, workers }, async function* (url, service) {
    const load = new Load(url, context.catalog);
    const runs: Run[] = [];
    for (const [run, own] of runTasks.entries()) {
      context.showProgress(`measuring the service: run ${run} of ${runCount}`);
      runs.push(await Promise.race([load.measure(own), rejectOnExit(service)]));
    }
    load.close();
    yield* createRows(runs.slice(1));
  });
}

interface ServiceOptions {
  readonly tasks: readonly Task[];
  readonly workers: number;
  readonly nodeOptions?: readonly string[];
}

/** Starts the service in a child process, which is ended once it has been measured. */
export async function* useService(
  { program, signal }: AppContext,
  { tasks, workers, nodeOptions }: ServiceOptions,
  measure: (url: URL, service: ChildProcess) => AsyncGenerator<BenchmarkRow>,
): AsyncGenerator<BenchmarkRow> {
  const folder = createTemporaryFolder("bench");
  try {
    const file = join(folder, "bench.tasks.jsonl");
    writeFileOver(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
    const options = ["--port", "0", "--tasks", file, "--workers", String(workers)];
    const service = startProgram(
      [program, "serve", "--with-parent", ...options],
      signal,
      nodeOptions,
    );
    service.stderr.resume();
    try {
      yield* measure(await readUrl(service), service);
    } finally {
      service.kill();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Copies of the tasks under ids of their own, so that each part of a run has tasks that the service
 * has not seen, as each step of a training has.
 */
function createRunTasks(tasks: readonly Task[], run: number): RunTasks {
  const copy = (part: string) => tasks.map(it => ({ ...it, id: `${it.id}-${part}-${run}` }));
  return { shared: copy("shared"), alone: copy("alone"), aloneInBatches: copy("batches") };
}

function* createRows(runs: readonly Run[]): Generator<BenchmarkRow> {
  const row = (name: string, unit: string, get: (run: Run) => number): BenchmarkRow => ({
    name: `service.${name}`,
    unit,
    runs: runs.map(get),
  });
  yield row(`open.${sessionCount}`, "s", it => it.openSeconds);
  yield row("open.cpu", "µs", it => it.openCpu);
  yield row("calls.http", "1/s", it => it.http.rate);
  yield row("calls.http.p50", "ms", it => it.http.p50);
  yield row("calls.http.p99", "ms", it => it.http.p99);
  yield row("calls.http.cpu", "µs", it => it.http.cpu);
  yield row("calls.batches", "1/s", it => it.batches.rate);
  yield row("calls.batches.p50", "ms", it => it.batches.p50);
  yield row("calls.batches.p99", "ms", it => it.batches.p99);
  yield row("calls.batches.cpu", "µs", it => it.batches.cpu);
  yield row("calls.http.alone", "1/s", it => it.httpAlone.rate);
  yield row("calls.http.alone.cpu", "µs", it => it.httpAlone.cpu);
  yield row("calls.batches.alone", "1/s", it => it.batchesAlone.rate);
  yield row("calls.batches.alone.cpu", "µs", it => it.batchesAlone.cpu);
  yield row("calls.in-process.cpu", "µs", it => it.inProcessCpu);
  yield row("calls.http.of-in-process", "ratio", it => it.inProcessCpu / it.http.cpu);
  yield row("calls.batches.of-in-process", "ratio", it => it.inProcessCpu / it.batches.cpu);
  yield row("score", "1/s", it => it.scoreRate);
  yield row(`memory.${sessionCount}`, "MB", it => it.memoryFull);
  yield row("memory", "MB", it => it.memoryEmpty);
}

/** Calls of all kinds of tasks on all servers, as the teacher made them. */
export async function synthesizeServedTasks({
  catalog,
  resources,
  signal,
  showProgress,
}: AppContext): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  const servers = [...catalog.servers.keys()];
  for await (const it of synthesize({ catalog, resources, seed: 1, servers, menu: "chain" })) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    showProgress(`synthesizing tasks: ${tasks.length} of ${taskCount}`);
    if (it.kind === "rejected" || listRequests(it.task).length === 0) continue;
    tasks.push(it.task);
    if (tasks.length === taskCount) break;
  }
  return tasks;
}

const sessionCount = 4_096;
const connectionCount = 64;
/** As many sessions have their next request in one batch. */
const batchSize = 256;
/** One trainer waits for the answers to one batch while it prepares another. */
const batchConnectionCount = 2;

/** One session of the load, with what is sent to it. */
interface Client {
  readonly id: string;
  readonly task: Task;
  readonly requests: readonly Request[];
}

interface Request {
  readonly do: "call" | "user";
  /** JSON text. */
  readonly body: string;
}

/** What a client sends that repeats the teacher: each call, and each message without calls. */
export function listRequests(task: Task): readonly Request[] {
  let seq = 0;
  return listMessages(task.trajectory.events).flatMap(({ text, calls }): Request[] =>
    calls.length === 0
      ? [{ do: "user", body: JSON.stringify({ seq: ++seq, assistant_text: text }) }]
      : calls.map((call, i) => ({
          do: "call",
          body: JSON.stringify({ seq: ++seq, ...call, ...(i > 0 ? { parallel: true } : {}) }),
        })),
  );
}

interface Figures {
  /** Calls a second. What the user says in between is part of the time, and is no call. */
  readonly rate: number;
  /** Milliseconds from a request to its response. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds that the service computes for each call. */
  readonly cpu: number;
}

interface Run {
  readonly openSeconds: number;
  /** Microseconds that the service computes for each session. */
  readonly openCpu: number;
  readonly http: Figures;
  readonly batches: Figures;
  /** The same with a single attempt at each task, which shares no calls with others. */
  readonly httpAlone: Figures;
  readonly batchesAlone: Figures;
  /** Microseconds that the same calls take in this process, without a service. */
  readonly inProcessCpu: number;
  /** Scores of finished attempts a second. */
  readonly scoreRate: number;
  /** Megabytes of the service with all sessions open, and with none. */
  readonly memoryFull: number;
  readonly memoryEmpty: number;
}

/** The tasks of a run, which the service has not seen before. */
interface RunTasks {
  /** Have as many attempts each as there are sessions for. */
  readonly shared: readonly Task[];
  /** Have one attempt each. */
  readonly alone: readonly Task[];
  readonly aloneInBatches: readonly Task[];
}

/** The clients of the service, over connections that are kept open. */
class Load {
  readonly #connections: readonly HttpConnection[];
  readonly #catalog: Catalog;

  constructor(url: URL, catalog: Catalog) {
    this.#catalog = catalog;
    this.#connections = Array.from({ length: connectionCount }, () => new HttpConnection(url));
  }

  /** Opens all sessions, makes half of the attempts one way and half the other, and closes. */
  async measure({ shared, alone, aloneInBatches }: RunTasks): Promise<Run> {
    const clients = createClients(shared, sessionCount / shared.length);
    const before = await this.#readMetrics();
    const openSeconds = await this.#open(clients);
    const opened = await this.#readMetrics();
    const http = await this.#measureCalls(clients.slice(0, sessionCount / 2), it =>
      this.#callEach(it),
    );
    const batches = await this.#measureCalls(clients.slice(sessionCount / 2), it =>
      this.#callInBatches(it),
    );
    const inProcessCpu = this.#callInProcess(clients.slice(0, sessionCount / 2));
    const memoryFull = (await this.#readMetrics()).megabytes;
    const scoreSeconds = await this.#forAll(clients, (connection, { id }) =>
      send(connection, "POST", `/v1/sessions/${id}/score`, "{}"),
    );
    await this.#close(clients);
    const memoryEmpty = (await this.#readMetrics()).megabytes;
    const httpAlone = await this.#measureAlone(alone, it => this.#callEach(it));
    const batchesAlone = await this.#measureAlone(aloneInBatches, it => this.#callInBatches(it));
    return {
      openSeconds,
      openCpu: ((opened.seconds - before.seconds) * 1e6) / sessionCount,
      http,
      batches,
      httpAlone,
      batchesAlone,
      inProcessCpu,
      scoreRate: sessionCount / scoreSeconds,
      memoryFull,
      memoryEmpty,
    };
  }

  async #measureAlone(
    tasks: readonly Task[],
    work: (clients: readonly Client[]) => Promise<readonly number[]>,
  ): Promise<Figures> {
    const clients = createClients(tasks, 1);
    await this.#open(clients);
    const figures = await this.#measureCalls(clients, work);
    await this.#close(clients);
    return figures;
  }

  #open(clients: readonly Client[]): Promise<number> {
    return this.#forAll(clients, (connection, { id, task }) =>
      send(connection, "PUT", `/v1/sessions/${id}`, JSON.stringify({ task_id: task.id })),
    );
  }

  #close(clients: readonly Client[]): Promise<number> {
    return this.#forAll(clients, (connection, { id }) =>
      send(connection, "DELETE", `/v1/sessions/${id}`, ""),
    );
  }

  close(): void {
    for (const it of this.#connections) it.close();
  }

  async #measureCalls(
    clients: readonly Client[],
    work: (clients: readonly Client[]) => Promise<readonly number[]>,
  ): Promise<Figures> {
    const calls = clients.reduce(
      (sum, { requests }) => sum + requests.filter(it => it.do === "call").length,
      0,
    );
    const before = await this.#readMetrics();
    const start = performance.now();
    const latencies = (await work(clients)).toSorted((a, b) => a - b);
    const seconds = (performance.now() - start) / 1_000;
    const after = await this.#readMetrics();
    return {
      rate: calls / seconds,
      p50: latencies[latencies.length >> 1]!,
      p99: latencies[Math.floor(latencies.length * 0.99)]!,
      cpu: ((after.seconds - before.seconds) * 1e6) / calls,
    };
  }

  /** Each connection plays one client after the other. Returns milliseconds of each request. */
  async #callEach(clients: readonly Client[]): Promise<readonly number[]> {
    const latencies: number[] = [];
    await this.#forAll(clients, async (connection, { id, requests }) => {
      for (const { do: verb, body } of requests) {
        const start = performance.now();
        await send(connection, "POST", `/v1/sessions/${id}/${verb}`, body);
        latencies.push(performance.now() - start);
      }
    });
    return latencies;
  }

  /** A batch has the next request of each of many clients. Returns milliseconds of each batch. */
  async #callInBatches(clients: readonly Client[]): Promise<readonly number[]> {
    const latencies: number[] = [];
    const waiting = [...clients];
    const size = Math.min(batchSize, clients.length / batchConnectionCount);
    const connections = this.#connections.slice(0, batchConnectionCount);
    await Promise.all(
      connections.map(async connection => {
        for (;;) {
          const group = waiting.splice(0, size);
          if (group.length === 0) return;
          for (const batch of createBatches(group)) {
            const start = performance.now();
            await send(connection, "POST", "/v1/sessions:batch", batch);
            latencies.push(performance.now() - start);
          }
        }
      }),
    );
    return latencies;
  }

  /** Makes the same calls in this process. Returns the microseconds that each takes. */
  #callInProcess(clients: readonly Client[]): number {
    const before = process.cpuUsage();
    let calls = 0;
    for (const { task } of clients) {
      const { servers, seed, trajectory } = task;
      const session = openSessionByName(this.#catalog, { servers, seed });
      for (const it of trajectory.events) {
        if (it.kind !== "call") continue;
        session.call(it.name, it.arguments);
        calls++;
      }
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  }

  /** Shares clients among the connections. Returns the seconds that it took. */
  async #forAll(
    clients: readonly Client[],
    work: (connection: HttpConnection, client: Client) => Promise<void>,
  ): Promise<number> {
    const start = performance.now();
    const rest = clients.values();
    await Promise.all(
      this.#connections.map(async connection => {
        for (const client of rest) await work(connection, client);
      }),
    );
    return (performance.now() - start) / 1_000;
  }

  async #readMetrics(): Promise<{ readonly seconds: number; readonly megabytes: number }> {
    const text = await this.#connections[0]!.request("GET", "/metrics", "");
    const get = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)![1]);
    return {
      seconds: get("process_cpu_seconds_total"),
      megabytes: get("process_resident_memory_bytes") / 1e6,
    };
  }
}

/** New attempts at all tasks; those at one follow one another, as in the batches of an engine. */
const createClients = (tasks: readonly Task[], perTask: number): readonly Client[] =>
  tasks.flatMap(task => {
    const requests = listRequests(task);
    return Array.from({ length: perTask }, () => ({
      id: randomBytes(16).toString("base64url"),
      task,
      requests,
    }));
  });

/** The first requests of all clients, then the second ones, … */
function* createBatches(clients: readonly Client[]): Generator<string> {
  for (let i = 0; ; i++) {
    const requests = clients.flatMap(({ id, requests: own }) => {
      const next = own[i];
      return next ? [`{"do":"${next.do}","session_id":"${id}","body":${next.body}}`] : [];
    });
    if (requests.length === 0) return;
    yield `{"requests":[${requests.join(",")}]}`;
  }
}

async function send(
  connection: HttpConnection,
  method: string,
  path: string,
  body: string,
): Promise<void> {
  const answer = await connection.request(method, path, body);
  if (!answer.startsWith("HTTP/1.1 200 ") || /\{"status":[45]/.test(answer))
    throw new Error(`the service refused a request: ${answer.slice(0, 500)}`);
}

/** A connection with one request at a time, which is opened again if the server has closed it. */
export class HttpConnection {
  readonly #url: URL;
  #socket: Socket;
  #text = "";
  #resolve: (answer: string) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(url: URL) {
    this.#url = url;
    this.#socket = this.#connect();
  }

  request(method: string, path: string, body: string, more = ""): Promise<string> {
    // servers close connections that are idle, as these are while the other server is measured
    if (!this.#socket.writable) this.#socket = this.#connect();
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #connect(): Socket {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
      .setNoDelay(true)
      .setEncoding("latin1");
    this.#text = "";
    // an earlier connection may report its end after the next one was opened
    const rejectIfCurrent = (error: Error) => {
      if (socket === this.#socket) this.#reject(error);
    };
    socket.on("data", (chunk: string) => {
      if (socket === this.#socket) this.#read(chunk);
    });
    socket.on("error", rejectIfCurrent);
    socket.on("close", () =>
      rejectIfCurrent(new Error(`${this.#url.host} closed the connection before it answered`)),
    );
    return socket;
  }

  #read(chunk: string): void {
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
    this.#resolve(answer);
  }
}
