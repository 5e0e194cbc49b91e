/**
 * The load of `bench service`: clients that repeat what tasks' teachers did, call by call, over
 * connections that are kept open.
 */
import { randomBytes } from "node:crypto";
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { listMessages } from "../../policy/scripted.ts";
import type { Task } from "../../trajectory/task.ts";
import { HttpConnection } from "./httpConnection.ts";

export const sessionCount = 4_096;
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

export interface Run {
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
export interface RunTasks {
  /** Have as many attempts each as there are sessions for. */
  readonly shared: readonly Task[];
  /** Have one attempt each. */
  readonly alone: readonly Task[];
  readonly aloneInBatches: readonly Task[];
}

/** The clients of the service, over connections that are kept open. */
export class Load {
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
