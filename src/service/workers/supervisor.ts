/**
 * Runs a service in several worker processes at one address: accepts the connections of clients,
 * passes each to a worker, starts a worker that has ended again, and shares the capacity among
 * them. A worker that has opened as many sessions as it may asks for more, which the others give up
 * if they do not need them.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { checkHost, formatUrl, listen } from "../httpServer.ts";
import { createTemporaryFolder } from "../../storage/temporaryFolders.ts";
import { UserError } from "../../userError.ts";
import type { SupervisorMessage, WorkerMessage } from "./workerProcess.ts";

interface SupervisorOptions {
  readonly workers: number;
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  readonly capacity: number;
  /** The folder of the journal; a temporary one if absent. */
  readonly journal: string | undefined;
  /** Starts the program of a worker, with a channel for messages. */
  readonly startProgram: () => ChildProcess;
  /** Tells the user that a worker has ended. */
  readonly onNote: (text: string) => void;
}

/** A worker that ends this often before it is ready will not be ready the next time either. */
const maxFailedStarts = 3;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #folder = createTemporaryFolder("serve");
  readonly #shares: CapacityShares;
  readonly #workers: Worker[];
  readonly #server: Server;
  /** Connections that came while no worker was ready. */
  readonly #waiting: Socket[] = [];
  #next = 0;
  #isEnding = false;
  #isDraining = false;
  #fail: (error: Error) => void = () => {};
  /** Rejects when a worker cannot be started again. */
  readonly failed = new Promise<never>((_, reject) => (this.#fail = reject));

  private constructor(options: SupervisorOptions) {
    this.#options = options;
    const { workers, capacity } = options;
    this.#shares = new CapacityShares(capacity, workers);
    this.#workers = Array.from({ length: workers }, (_, index) => new Worker(index));
    // a socket must not be read from here
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, socket => {
      // the client has disconnected before a worker had the connection
      socket.on("error", () => socket.destroy());
      this.#pass(socket);
    });
    this.failed.catch(() => {});
  }

  /** Starts all workers. Rejects with a `UserError` if the port is in use or a worker fails. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    checkHost(options.host, options.token);
    const supervisor = new Supervisor(options);
    try {
      await listen(supervisor.#server, options.host, options.port);
      const ready = supervisor.#workers.map(it => supervisor.#startWorker(it));
      await Promise.race([Promise.all(ready), supervisor.failed]);
      return supervisor;
    } catch (error) {
      await supervisor.close();
      throw error;
    }
  }

  get url(): string {
    return formatUrl(this.#options.host, (this.#server.address() as AddressInfo).port);
  }

  /** Opens no more sessions. Resolves when none is open any more, or the time is over. */
  async drain(milliseconds: number): Promise<void> {
    this.#isDraining = true;
    const isEmpty = Promise.all(this.#workers.map(it => it.waitUntilEmpty()));
    for (const it of this.#workers) it.send({ kind: "drain" });
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise(resolve => (timer = setTimeout(resolve, milliseconds)));
    await Promise.race([isEmpty, isLate]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()));
    for (const it of this.#waiting) it.destroy();
    await Promise.all(this.#workers.map(it => it.end()));
    if (this.#server.listening) await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Resolves when the worker is ready. */
  #startWorker(worker: Worker, failedStarts = 0): Promise<void> {
    const { startProgram, onNote } = this.#options;
    return new Promise(resolve => {
      let isReady = false;
      const program = startProgram();
      worker.attach(program, message => {
        if (message.kind === "room")
          void this.#shares
            .grow(worker.index, this.#workers)
            .then(sessions => worker.send({ kind: "granted", sessions }));
        if (message.kind !== "ready") return;
        isReady = worker.isReady = true;
        if (this.#isDraining) worker.send({ kind: "drain" });
        for (const it of this.#waiting.splice(0)) this.#pass(it);
        resolve();
      });
      program.once("exit", (code, signal) => {
        worker.detach();
        if (this.#isEnding) return;
        // one that was killed says nothing about the next one
        const failures = isReady ? 0 : failedStarts + (signal === null ? 1 : 0);
        if (failures >= maxFailedStarts)
          return this.#fail(
            new UserError(
              `worker ${worker.index} ends before it is ready (${signal ?? code})`,
              "see its message above, or serve without --workers",
            ),
          );
        onNote(`worker ${worker.index} ended (${signal ?? code}) and is started again`);
        void this.#startWorker(worker, failures).then(resolve);
      });
      worker.send({
        kind: "start",
        setup: {
          index: worker.index,
          addresses: this.#workers.map(it => this.#getAddress(`worker-${it.index}`)),
          httpAddress: this.#getAddress(`http-${worker.index}`),
          share: this.#shares.get(worker.index),
          journal: this.#options.journal ?? join(this.#folder, "journal"),
        },
      });
    });
  }

  /** Passes a connection to one worker after the other. */
  #pass(socket: Socket): void {
    for (let i = 0; i < this.#workers.length; i++) {
      const worker = this.#workers[this.#next++ % this.#workers.length]!;
      if (worker.isReady) return worker.passConnection(socket);
    }
    if (this.#isEnding) socket.destroy();
    else this.#waiting.push(socket);
  }

  /** Where a process listens for others: in a folder of this user, or a pipe with a secret name. */
  #getAddress(name: string): string {
    return process.platform === "win32"
      ? `\\\\.\\pipe\\${this.#pipeName}-${name}`
      : join(this.#folder, `${name}.sock`);
  }

  readonly #pipeName = `prove-${randomBytes(16).toString("hex")}`;
}

/** The place of a worker: the same one for all processes that run it one after the other. */
class Worker {
  readonly index: number;
  isReady = false;
  #program: ChildProcess | undefined;
  #onGaveBack: ((sessions: number) => void)[] = [];
  #onEmpty: (() => void) | undefined;
  /** Connections that the program has not confirmed to have. */
  readonly #passed = new Map<number, Socket>();
  #lastNumber = 0;

  constructor(index: number) {
    this.index = index;
  }

  attach(program: ChildProcess, onMessage: (message: WorkerMessage) => void): void {
    this.#program = program;
    program.on("message", (message: WorkerMessage) => {
      if (message.kind === "gave-back") this.#settleGivenBack(message.sessions);
      if (message.kind === "connected") this.#letGo(message.number);
      if (message.kind === "open-sessions" && message.sessions === 0) this.#onEmpty?.();
      onMessage(message);
    });
    // the channel fails when the program ends, which its exit tells
    program.on("error", () => {});
  }

  detach(): void {
    this.isReady = false;
    this.#program = undefined;
    this.#settleGivenBack(0);
    // clients connect again
    for (const number of this.#passed.keys()) this.#letGo(number);
  }

  send(message: SupervisorMessage, socket?: Socket): void {
    const program = this.#program;
    // the channel fails when the program ends, which its exit tells
    if (program?.connected) program.send(message, socket, { keepOpen: true }, () => {});
  }

  passConnection(socket: Socket): void {
    const number = ++this.#lastNumber;
    this.#passed.set(number, socket);
    this.send({ kind: "connection", number }, socket);
  }

  /** Asks the worker to give up some of what it does not use. Resolves with how much it gave up. */
  giveBack(): Promise<number> {
    if (!this.isReady) return Promise.resolve(0);
    return new Promise(resolve => {
      this.#onGaveBack.push(resolve);
      this.send({ kind: "give-back" });
    });
  }

  waitUntilEmpty(): Promise<void> {
    return new Promise(resolve => (this.#onEmpty = resolve));
  }

  /** Resolves when the program has ended. */
  async end(): Promise<void> {
    const program = this.#program;
    if (!program) return;
    const ended = new Promise(resolve => program.once("exit", resolve));
    this.send({ kind: "end" });
    const timer = setTimeout(() => program.kill("SIGKILL"), 1_500);
    await ended;
    clearTimeout(timer);
  }

  /** Closes the supervisor's own handle of a connection. */
  #letGo(number: number): void {
    this.#passed.get(number)?.destroy();
    this.#passed.delete(number);
  }

  #settleGivenBack(sessions: number): void {
    const [first, ...rest] = this.#onGaveBack;
    this.#onGaveBack = [];
    first?.(sessions);
    for (const it of rest) it(0);
  }
}

/** The most sessions that a worker receives at a time. */
const portion = 64;

class CapacityShares {
  readonly #shares: number[];
  #free: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(capacity: number, count: number) {
    this.#shares = Array.from({ length: count }, () => Math.floor(capacity / count));
    this.#free = capacity % count;
  }

  get(index: number): number {
    return this.#shares[index]!;
  }

  /** Gives a worker more. Resolves with how much, which is 0 if all of the capacity is in use. */
  grow(index: number, holders: readonly Worker[]): Promise<number> {
    const grown = this.#last.then(() => this.#grow(index, holders));
    this.#last = grown;
    return grown;
  }

  async #grow(index: number, holders: readonly Worker[]): Promise<number> {
    if (this.#free === 0)
      await Promise.all(
        holders.map(async (it, i) => {
          if (i === index) return;
          const given = await it.giveBack();
          this.#shares[i]! -= given;
          this.#free += given;
        }),
      );
    const granted = Math.min(this.#free, portion);
    this.#free -= granted;
    this.#shares[index]! += granted;
    return granted;
  }
}
