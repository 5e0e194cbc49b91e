/**
 * `service-soak`: makes attempts at tasks for a long time, while connections are cut,
 * worker processes are killed, and the clocks of the service jump. Each attempt is compared with
 * the same calls in this process.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { openSessionByName, type Catalog } from "../../src/environment/catalog.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { UserError } from "../../src/userError.ts";
import {
  HttpConnection,
  synthesizeServedTasks,
  useService,
  listRequests,
} from "../../src/app/bench/service.ts";
import { countOf } from "../../src/cli/options.ts";
import { defineCommand, option } from "../../src/cli/command.ts";
import { printFigures } from "./printFigures.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";

/** Clients at the same time, each with a connection of its own. */
const clientCount = 64;
/** A worker is killed this often. */
const killEveryMs = 15_000;
/** The part of requests whose connection is cut before the answer arrives. */
const cutShare = 0.02;
/** The part of attempts whose session is forked. The fork makes the calls after that, too. */
const forkShare = 0.3;
/** Before the first memory figure and before the last one, no process is killed. */
const calmShare = 0.1;

/** Lets `Date` jump by up to a month every second, in the process that imports it. */
const jumpingClock = `data:text/javascript,${encodeURIComponent(
  `const Real = Date; let shift = 0;
setInterval(() => (shift = (Math.random() - 0.5) * 5.2e9), 1000).unref();
globalThis.Date = class extends Real {
  constructor(...all) { if (all.length > 0) super(...all); else super(Real.now() + shift); }
  static now() { return Real.now() + shift; }
};`,
)}`;

/** The options of Node with which the service is started. */
const soakNodeOptions = ["--import", jumpingClock];

interface SoakOptions {
  readonly url: URL;
  readonly service: ChildProcess;
  readonly tasks: readonly Task[];
  readonly catalog: Catalog;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** What a task's attempt must come to. */
interface Expected {
  readonly calls: number;
  readonly digest: string;
}

class Soak {
  readonly #options: SoakOptions;
  readonly #expected: readonly Expected[];
  readonly #counts = {
    attempts: 0,
    calls: 0,
    forks: 0,
    cuts: 0,
    kills: 0,
    refused: 0,
    lost: 0,
    twice: 0,
    different: 0,
  };

  constructor(options: SoakOptions) {
    if (process.platform !== "linux")
      throw new UserError("the soak test needs /proc to find workers", "run it on Linux");
    this.#options = options;
    this.#expected = options.tasks.map(it => execute(it, options.catalog));
  }

  get hasFailed(): boolean {
    const { refused, lost, twice, different } = this.#counts;
    return refused + lost + twice + different > 0;
  }

  async *measure(): AsyncGenerator<BenchmarkRow> {
    const { seconds } = this.#options;
    const calm = seconds * calmShare;
    await this.#run(calm);
    const before = await this.#readMemory();
    const killing = new AbortController();
    const killer = this.#killWorkers(killing.signal);
    await this.#run(seconds - 2 * calm);
    killing.abort();
    await killer;
    await this.#run(calm);
    const after = await this.#readMemory();
    for (const [name, value] of Object.entries(this.#counts)) yield createRow(name, "count", value);
    yield createRow("memory.before", "MB", before);
    yield createRow("memory.after", "MB", after);
    yield createRow("memory.growth", "ratio", after / before);
  }

  /** Makes attempts over all connections for a time, and closes all sessions. */
  async #run(seconds: number): Promise<void> {
    const end = performance.now() + seconds * 1_000;
    await Promise.all(
      Array.from({ length: clientCount }, async () => {
        const client = new SoakClient(this.#options.url, this.#counts);
        while (performance.now() < end) {
          this.#options.signal.throwIfAborted();
          await this.#attempt(client);
        }
        client.close();
      }),
    );
  }

  async #attempt(client: SoakClient): Promise<void> {
    const index = Math.floor(Math.random() * this.#options.tasks.length);
    const task = this.#options.tasks[index]!;
    const expected = this.#expected[index]!;
    if (expected.calls > 0 && Math.random() < forkShare)
      return this.#attemptWithFork(client, task, expected);
    const id = createId();
    await this.#send(client, "PUT", id, "", { task_id: task.id });
    for (const it of listRequests(task))
      await this.#send(client, "POST", id, `/${it.do}`, JSON.parse(it.body) as object);
    await this.#check(client, id, task, expected);
    const { events = [] } = (await this.#send(client, "GET", id, "/trajectory")) as {
      events?: { kind: string }[];
    };
    const made = events.filter(it => it.kind === "call").length;
    if (made < expected.calls) this.#counts.lost += expected.calls - made;
    if (made > expected.calls) this.#counts.twice += made - expected.calls;
    await this.#send(client, "DELETE", id, "");
    this.#counts.attempts++;
  }

  /** Makes the calls without a task, whose sessions cannot be forked, and the last ones twice. */
  async #attemptWithFork(client: SoakClient, task: Task, expected: Expected): Promise<void> {
    const [id, fork] = [createId(), createId()];
    const { seed } = task;
    const servers = task.servers.map(({ name, fixture }) => ({ name, fixture }));
    await this.#send(client, "PUT", id, "", { servers, seed });
    const calls = listRequests(task)
      .filter(it => it.do === "call")
      .map(it => JSON.parse(it.body) as { name: string; arguments: unknown });
    const call = (session: string, made: (typeof calls)[number], seq: number) =>
      this.#send(client, "POST", session, "/call", {
        seq,
        name: made.name,
        arguments: made.arguments,
      });
    const forkAt = Math.floor(Math.random() * calls.length);
    for (const [i, it] of calls.entries()) {
      if (i === forkAt) await this.#send(client, "POST", id, "/fork", { session_id: fork });
      await call(id, it, i + 1);
    }
    for (const [i, it] of calls.slice(forkAt).entries()) await call(fork, it, i + 1);
    for (const it of [id, fork]) {
      await this.#check(client, it, task, expected);
      await this.#send(client, "DELETE", it, "");
    }
    this.#counts.forks++;
  }

  /** Compares the state of a session after all calls. */
  async #check(client: SoakClient, id: string, task: Task, { digest }: Expected): Promise<void> {
    const server = task.servers[0]!.name;
    const state = await this.#send(client, "GET", id, `/state?server=${server}`);
    if ((state as { digest?: string }).digest !== digest) this.#counts.different++;
  }

  async #send(
    client: SoakClient,
    method: string,
    id: string,
    action: string,
    body?: object,
  ): Promise<unknown> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const { status, json } = await client.send(method, `/v1/sessions/${id}${action}`, text);
    if (status >= 400) this.#counts.refused++;
    if (action === "/call") this.#counts.calls++;
    return json;
  }

  async #killWorkers(signal: AbortSignal): Promise<void> {
    for (;;) {
      const isOver = await wait(killEveryMs, false, { signal }).catch(() => true);
      if (isOver) return;
      const pids = listChildren(this.#options.service.pid!);
      const pid = pids[Math.floor(Math.random() * pids.length)];
      // both are being started
      if (pid === undefined) continue;
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        // it has ended since it was listed
        if ((error as NodeJS.ErrnoException).code === "ESRCH") continue;
        throw error;
      }
      this.#counts.kills++;
    }
  }

  /** Megabytes of all processes, with no session open. */
  async #readMemory(): Promise<number> {
    const client = new SoakClient(this.#options.url, { cuts: 0 }, 0);
    const { text } = await client.send("GET", "/metrics", "");
    client.close();
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)![1]) / 1e6;
  }
}

/** A client that repeats a request until it is answered, and at times cuts its connection. */
class SoakClient {
  readonly #connection: HttpConnection;
  readonly #counts: { cuts: number };
  readonly #cutShare: number;

  constructor(url: URL, counts: { cuts: number }, share = cutShare) {
    this.#connection = new HttpConnection(url);
    this.#counts = counts;
    this.#cutShare = share;
  }

  async send(
    method: string,
    path: string,
    body: string,
  ): Promise<{ readonly status: number; readonly text: string; readonly json: unknown }> {
    for (;;) {
      const answering = this.#connection.request(method, path, body);
      if (Math.random() < this.#cutShare) {
        this.#counts.cuts++;
        setTimeout(() => this.#connection.close(), Math.random() * 5);
      }
      const answer = await answering.catch(() => undefined);
      const status = Number(answer?.slice(9, 12));
      if (answer !== undefined && status !== 503) {
        // the connection reads bytes as Latin-1
        const text = Buffer.from(answer.slice(answer.indexOf("\r\n\r\n") + 4), "latin1").toString();
        return { status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined };
      }
      await wait(20);
    }
  }

  close(): void {
    this.#connection.close();
  }
}

const createId = (): string => randomBytes(16).toString("base64url");

/** Makes the teacher's calls in this process. */
function execute({ servers, seed, trajectory, menu, turns }: Task, catalog: Catalog): Expected {
  const tools = [...menu, ...turns.flatMap(it => it.adds ?? [])].map(it =>
    typeof it === "string" ? it : it.name,
  );
  const session = openSessionByName(catalog, { servers, seed, menu: tools });
  const calls = trajectory.events.filter(it => it.kind === "call");
  for (const it of calls) session.call(it.name, it.arguments);
  return { calls: calls.length, digest: session.digest };
}

const listChildren = (pid: number): readonly number[] =>
  (readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").match(/\d+/g) ?? []).map(Number);

const createRow = (name: string, unit: string, value: number): BenchmarkRow => ({
  name: `service.soak.${name}`,
  unit,
  runs: [value],
});

export const serviceSoak = defineCommand({
  name: "service-soak",
  description:
    "Use the service for a long time while connections are cut, sessions are forked, workers are killed and clocks jump. Exits with 1 if a call was refused, lost or made twice, or a state is different.",
  arguments: [],
  options: {
    seconds: option("--seconds <n>", "how long", {
      parser: countOf("a number of seconds"),
      default: 300,
    }),
    workers: option("--workers <n>", "worker processes of the service", {
      parser: countOf("a number of processes"),
      default: 3,
    }),
  },
  examples: ["service-soak", "service-soak --seconds 60 --workers 1"],
  async run(context, _positionals, { seconds, workers }) {
    const { catalog, signal, showProgress } = context;
    const tasks = await synthesizeServedTasks(context);
    const options = { tasks, workers, nodeOptions: soakNodeOptions };
    let hasFailed = false;
    const rows = useService(context, options, async function* (url, service) {
      showProgress(`using the service for ${seconds} s`);
      const soak = new Soak({ url, service, tasks, catalog, seconds, signal });
      yield* soak.measure();
      hasFailed = soak.hasFailed;
    });
    await printFigures(rows, context);
    return hasFailed ? 1 : 0;
  },
});
