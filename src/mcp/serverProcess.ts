/**
 * Runs an MCP server as a child process and exchanges messages over its stdin and stdout. The
 * process gets its own environment and is ended together with everything that it started.
 */
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { findProgram } from "../storage/findProgram.ts";
import type { ServerEntry } from "./mcpConfig.ts";
import { ProcessTree } from "./processTree.ts";

/** Milliseconds that a server may take to end, after its stdin is closed and after SIGTERM. */
const gracePeriods = [300, 700] as const;

/** The longest message that is accepted, in bytes. */
const maxMessageBytes = 10 * 1024 * 1024;

export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #entry: ServerEntry;
  readonly #buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes });
  #process: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #tree: ProcessTree | undefined;
  /** Resolves when the process has ended. */
  #exited: Promise<void> = Promise.resolve();
  #exitReason: string | undefined;
  /** Why this program ended the process, if it did. */
  #stopReason: string | undefined;
  #stderrTail = "";

  constructor(entry: ServerEntry) {
    this.#entry = entry;
  }

  /** How the process ended; undefined while it runs. */
  getExitReason(): string | undefined {
    return this.#exitReason;
  }

  /** The last characters that the server wrote to stderr, for error messages. */
  get stderrTail(): string {
    return this.#stderrTail;
  }

  /** Resolves when the process runs, rejects if it cannot be started. */
  start(): Promise<void> {
    const { command, args, env, cwd } = this.#entry;
    const program = findProgram(command, cwd);
    if (program === undefined)
      return Promise.reject(
        Object.assign(new Error(`spawn ${command} ENOENT`), { code: "ENOENT", syscall: "spawn" }),
      );
    // a process group of its own, so that what the server starts is ended with it
    const child = spawn(program, args, {
      cwd,
      env: { ...selectPath(process.env), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: !isWindows,
      windowsHide: true,
    });
    this.#process = child;
    if (child.pid !== undefined) this.#tree = new ProcessTree(child.pid);
    child.stdout.on("data", (chunk: Buffer) => this.#readChunk(chunk));
    child.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (this.#stderrTail = `${this.#stderrTail}${text}`.slice(-2000)));
    // writing fails when the server has ended or is about to; the exit event reports that
    child.stdin.on("error", () => {});
    runningProcesses.add(this);
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      this.#exited = new Promise(resolveExited => {
        child.once("error", error => {
          this.#handleExit(error.message);
          reject(error);
          resolveExited();
        });
        child.once("exit", (code, signal) => {
          this.#handleExit(signal ? `was killed by ${signal}` : `ended with exit code ${code}`);
          resolveExited();
        });
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#process;
    if (!child || this.#exitReason !== undefined)
      throw new Error(`${this.#entry.name} ${this.#exitReason ?? "was not started"}`);
    if (!child.stdin.write(serializeMessage(message)))
      await Promise.race([
        new Promise(resolve => child.stdin.once("drain", resolve)),
        this.#exited,
      ]);
  }

  /**
   * Ends the server and what it started: closes its stdin, then sends SIGTERM, then SIGKILL.
   * Resolves when the process has ended.
   */
  async close(): Promise<void> {
    const child = this.#process;
    if (!child || this.#exitReason !== undefined) return;
    this.#stopReason ??= "was stopped";
    // once the server has ended, the processes that it started can no longer be found
    this.#tree?.refresh();
    child.stdin.end();
    for (const [i, milliseconds] of gracePeriods.entries()) {
      await Promise.race([this.#exited, sleep(milliseconds, undefined, { ref: false })]);
      if (this.#exitReason !== undefined) return;
      this.kill(i === 0 ? "SIGTERM" : "SIGKILL");
    }
    await this.#exited;
  }

  /** Sends a signal to the process and everything that it started. */
  kill(signal: NodeJS.Signals): void {
    this.#tree?.kill(signal);
  }

  #readChunk(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      this.#stopReason = `wrote a line of more than ${maxMessageBytes} bytes`;
      this.kill("SIGKILL");
      return;
    }
    for (;;) {
      let message: JSONRPCMessage | null;
      try {
        message = this.#buffer.readMessage();
      } catch (error) {
        // many servers print a greeting or log lines on stdout, which are skipped
        this.onerror?.(error as Error);
        continue;
      }
      if (message === null) return;
      this.onmessage?.(message);
    }
  }

  #handleExit(reason: string): void {
    if (this.#exitReason !== undefined) return;
    this.#exitReason = this.#stopReason ?? reason;
    runningProcesses.delete(this);
    // ends what the server left behind
    this.kill("SIGKILL");
    this.onclose?.();
  }
}

const isWindows = process.platform === "win32";

/** The PATH variable, however this system spells it. */
const selectPath = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([key]) => key.toUpperCase() === "PATH"));

/** Processes that are still running when this program exits are ended with it. */
const runningProcesses = new Set<ServerProcess>();
process.on("exit", () => {
  for (const it of runningProcesses) it.kill("SIGKILL");
});
