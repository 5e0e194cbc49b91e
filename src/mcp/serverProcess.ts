/**
 * Runs an MCP server as a child process and exchanges messages over its stdin and stdout. The
 * process gets its own environment and is ended together with everything that it started.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "../environment/json.ts";
import { findProgram } from "../storage/processes.ts";
import { parseExactJson } from "../storage/exactJson.ts";
import { parseMessageJson } from "../storage/jsonDepth.ts";
import { UserError } from "../userError.ts";
import type { ProgramEntry } from "./mcpConfig.ts";
import { ProcessTree } from "./processTree.ts";
import { maxMessageBytes, type ServerChannel } from "./rpcClient.ts";

/** Milliseconds that a server may take to end, after its stdin is closed and after SIGTERM. */
const gracePeriods = [300, 700] as const;

export class ServerProcess implements ServerChannel {
  onMessage?: (message: JsonObject) => void;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  #resolveExited = () => {};
  readonly #entry: ProgramEntry;
  /** The parts of a line whose end has not been read. */
  #partialLine: Buffer[] = [];
  #partialLength = 0;
  #skippedLine = "";
  #process: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #tree: ProcessTree | undefined;
  #exitReason: string | undefined;
  /** Why this program ended the process, if it did. */
  #stopReason: string | undefined;
  #stderrTail = "";

  constructor(entry: ProgramEntry) {
    this.#entry = entry;
    this.exited = new Promise(resolve => (this.#resolveExited = resolve));
  }

  /** How the process ended; undefined while it runs. */
  getExitReason(): string | undefined {
    return this.#exitReason;
  }

  /** The last characters that the server wrote to stderr, for error messages. */
  get stderrTail(): string {
    return this.#stderrTail;
  }

  /** The end of the last line on stdout that was no message, or of one that has not ended. */
  get skippedOutput(): string {
    const partialLine = Buffer.concat(this.#partialLine).toString().trim();
    return (partialLine || this.#skippedLine).slice(-300);
  }

  /** Resolves when the process runs, rejects if it cannot be started. */
  start(): Promise<void> {
    const { name, command, args, env, cwd } = this.#entry;
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      return Promise.reject(
        new UserError(
          `the server ${name} cannot be started: there is no folder ${cwd}`,
          `create the folder, or correct cwd in entry ${name} of prove/mcp.json`,
        ),
      );
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
      child.once("error", error => {
        this.#handleExit(error.message);
        reject(error);
      });
      child.once("exit", (code, signal) =>
        this.#handleExit(signal ? `was killed by ${signal}` : `ended with exit code ${code}`),
      );
    });
  }

  /** Sends the text of a message. */
  async send(message: string): Promise<void> {
    const child = this.#process;
    if (!child || this.#exitReason !== undefined)
      throw new Error(`${this.#entry.name} ${this.#exitReason ?? "was not started"}`);
    if (!child.stdin.write(`${message}\n`))
      await Promise.race([new Promise(resolve => child.stdin.once("drain", resolve)), this.exited]);
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
      await Promise.race([this.exited, sleep(milliseconds, undefined, { ref: false })]);
      if (this.#exitReason !== undefined) return;
      this.kill(i === 0 ? "SIGTERM" : "SIGKILL");
    }
    await this.exited;
  }

  /** Sends a signal to the process and everything that it started. */
  kill(signal: NodeJS.Signals): void {
    this.#tree?.kill(signal);
  }

  #readChunk(chunk: Buffer): void {
    let start = 0;
    for (let end; (end = chunk.indexOf("\n", start)) !== -1; start = end + 1) {
      if (!this.#addToLine(chunk.subarray(start, end))) return;
      const line = Buffer.concat(this.#partialLine).toString().trim();
      this.#partialLine = [];
      this.#partialLength = 0;
      this.#readLine(line);
    }
    this.#addToLine(chunk.subarray(start));
  }

  /** Whether the line is not too long. A server that writes a longer one is ended. */
  #addToLine(part: Buffer): boolean {
    this.#partialLength += part.length;
    if (this.#partialLength <= maxMessageBytes) {
      if (part.length > 0) this.#partialLine.push(part);
      return true;
    }
    this.#partialLine = [];
    this.#stopReason = `wrote a line of more than ${maxMessageBytes} bytes`;
    this.kill("SIGKILL");
    return false;
  }

  #readLine(line: string): void {
    const messages = parseMessages(line);
    // many servers print a greeting or log lines on stdout, which are skipped
    if (messages.length === 0) this.#skippedLine = line || this.#skippedLine;
    for (const it of messages) this.onMessage?.(it);
  }

  #handleExit(reason: string): void {
    if (this.#exitReason !== undefined) return;
    this.#exitReason = this.#stopReason ?? reason;
    runningProcesses.delete(this);
    // ends what the server left behind
    this.kill("SIGKILL");
    this.#resolveExited();
  }
}

/**
 * The messages in a line, of which a batch has several. A greeting without a line break may stand
 * before the first reply.
 */
function parseMessages(line: string): readonly JsonObject[] {
  const start = line.search(/\{\s*"(?:jsonrpc|id|result|error|method|params)"\s*:/);
  if (start === -1) return [];
  const whole = tryParse(line);
  if (whole !== undefined) return [whole].flat().filter(isMessage);
  // a log line may quote a request, which the server did not make
  return [tryParse(line.slice(start))].filter(isMessage).filter(it => !("method" in it));
}

function tryParse(text: string): unknown {
  try {
    return parseMessageJson(text, parseExactJson);
  } catch {
    // the line is skipped
    return undefined;
  }
}

const isMessage = (value: unknown): value is JsonObject =>
  isJsonObject(value) &&
  (typeof value["method"] === "string"
    ? value["jsonrpc"] === "2.0"
    : "id" in value && ("result" in value || "error" in value));

const isWindows = process.platform === "win32";

/** The PATH variable, however this system spells it. */
const selectPath = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([key]) => key.toUpperCase() === "PATH"));

/** Processes that are still running when this program exits are ended with it. */
const runningProcesses = new Set<ServerProcess>();
process.on("exit", killRunningProcesses);

/** Ends all processes of this thread at once. */
export function killRunningProcesses(): void {
  for (const it of runningProcesses) it.kill("SIGKILL");
}
