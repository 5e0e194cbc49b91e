/**
 * Runs a service in several worker processes at one address: accepts the connections of clients,
 * passes each to a worker, and starts a worker that has ended again.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../userError.ts";
import { checkHost, formatUrl, listen } from "../httpServer.ts";
import { CapacityShares } from "./capacityShares.ts";
import { Worker } from "./worker.ts";

export interface SupervisorOptions {
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
  readonly #folder = mkdtempSync(join(tmpdir(), "prove-serve-"));
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
