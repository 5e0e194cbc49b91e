/** The place of a worker in a service, and how the supervisor speaks with the process that runs it. */
import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { ShareHolder } from "./capacityShares.ts";
import type { SupervisorMessage, WorkerMessage } from "./workerMessages.ts";

/** The place of a worker: the same one for all processes that run it one after the other. */
export class Worker implements ShareHolder {
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
