/**
 * A server's process as a transport: started with an environment of its own, spoken to over its
 * stdin and stdout, ended with everything that it started. Knows no tools.
 */
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { execFile, spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { ServerEntry } from "./mcpConfig.ts";

/**
 * How long a server may take to end once its stdin is closed, and once it was told to, in
 * milliseconds.
 */
const grace = [300, 700] as const;

/** The longest message taken in, in bytes. */
const longest = 10 * 1024 * 1024;

export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #entry: ServerEntry;
  readonly #buffer = new ReadBuffer({ maxBufferSize: longest });
  #process: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #gone: Promise<void> = Promise.resolve();
  #why: string | undefined;
  /** Why we end it, where it is we who do. */
  #asked: string | undefined;
  #said = "";

  constructor(entry: ServerEntry) {
    this.#entry = entry;
  }

  /** How it came to its end; undefined while it is there. */
  getExitReason(): string | undefined {
    return this.#why;
  }

  /** The end of what it wrote on stderr, for a person. */
  get stderrTail(): string {
    return this.#said;
  }

  /** Resolves when the process runs, rejects where it cannot be started. */
  start(): Promise<void> {
    const { command, args, env, cwd } = this.#entry;
    // a group of its own, so that what it starts is ended with it
    const child = spawn(command, args, {
      cwd,
      env: { ...pathOf(process.env), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: !isWindows,
      windowsHide: true,
    });
    this.#process = child;
    child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    child.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (this.#said = `${this.#said}${text}`.slice(-2000)));
    // a server that no longer reads has ended or is about to: that is told by its exit
    child.stdin.on("error", () => {});
    running.add(this);
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      this.#gone = new Promise(gone => {
        child.once("error", error => {
          this.#end(error.message);
          reject(error);
          gone();
        });
        child.once("exit", (code, signal) => {
          this.#end(signal ? `was killed by ${signal}` : `ended with exit code ${code}`);
          gone();
        });
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#process;
    if (!child || this.#why !== undefined)
      throw new Error(`${this.#entry.name} ${this.#why ?? "was not started"}`);
    if (!child.stdin.write(serializeMessage(message)))
      await Promise.race([new Promise(resolve => child.stdin.once("drain", resolve)), this.#gone]);
  }

  /** Ends the server and what it started: asks first, insists then. Resolves when it is gone. */
  async close(): Promise<void> {
    const child = this.#process;
    if (!child || this.#why !== undefined) return;
    this.#asked ??= "was stopped";
    child.stdin.end();
    for (const [i, milliseconds] of grace.entries()) {
      await Promise.race([this.#gone, pause(milliseconds, undefined, { ref: false })]);
      if (this.#why !== undefined) return;
      this.kill(i === 0 ? "SIGTERM" : "SIGKILL");
    }
    await this.#gone;
  }

  /** Ends it at once, with all its group. */
  kill(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    if (isWindows) {
      execFile("taskkill", ["/pid", String(pid), "/T", "/F"], () => {});
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  #take(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      this.#asked = `wrote a line of more than ${longest} bytes`;
      this.kill("SIGKILL");
      return;
    }
    for (;;) {
      let message: JSONRPCMessage | null;
      try {
        message = this.#buffer.readMessage();
      } catch (error) {
        // many servers print a greeting or a log line on stdout: what is no message is passed over
        this.onerror?.(error as Error);
        continue;
      }
      if (message === null) return;
      this.onmessage?.(message);
    }
  }

  #end(why: string): void {
    if (this.#why !== undefined) return;
    this.#why = this.#asked ?? why;
    running.delete(this);
    // what it left behind in its group goes too
    this.kill("SIGKILL");
    this.onclose?.();
  }
}

const isWindows = process.platform === "win32";

/** PATH by whatever spelling this system has it. */
const pathOf = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([key]) => key.toUpperCase() === "PATH"));

/** Whoever ends without having closed them takes them along. */
const running = new Set<ServerProcess>();
process.on("exit", () => {
  for (const it of running) it.kill("SIGKILL");
});
