/** A Python program in a child process that answers requests: JSON lines in both directions. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { z } from "zod";
import { ProcessTree } from "../../mcp/processTree.ts";
import { UserError } from "../../userError.ts";

/** Characters. An answer is one short line. */
const maxLineLength = 10_000;

/** A Python process that answers requests. Every failure ends it. */
export class PythonProcess {
  readonly #program: string;
  readonly #packages: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #tree: ProcessTree | undefined;
  readonly #signal: AbortSignal;
  readonly #limit: number;
  #output = "";
  #errors = "";
  /** Why no more answers come. */
  #failure: Error | undefined;
  #checkAnswer = () => {};

  constructor(
    program: string,
    {
      script,
      packages,
      signal,
      answerLimit,
      env = process.env,
    }: {
      readonly script: string;
      readonly packages: string;
      readonly signal: AbortSignal;
      readonly answerLimit: number;
      readonly env?: NodeJS.ProcessEnv;
    },
  ) {
    this.#program = program;
    this.#packages = packages;
    this.#signal = signal;
    this.#limit = answerLimit;
    // -E: variables such as PYTHONPATH may name the current folder. -B: no compiled modules are
    // written beside the programs. The group of its own is ended together with what the process
    // starts, such as Python if the program is a script.
    const child = spawn(program, ["-E", "-B", script], {
      stdio: ["pipe", "pipe", "pipe"],
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    if (child.pid !== undefined) this.#tree = new ProcessTree(child.pid);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      // the rest of endless output is not kept
      if (this.#output.length <= maxLineLength) this.#output += text;
      this.#checkAnswer();
    });
    child.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (this.#errors = `${this.#errors}${text}`.slice(-2_000)));
    // writing to a process that has ended fails; its end is reported instead
    child.stdin.on("error", () => {});
    child.once("error", error => this.#fail(`cannot be started (${error.message})`));
    child.once("close", (code, killedBy) =>
      this.#fail(describeEnd(code ?? killedBy, this.#errors)),
    );
    signal.addEventListener("abort", this.#abort, { once: true });
    process.once("exit", this.#kill);
    if (signal.aborted) this.#abort();
  }

  /** Sends a request and returns the answer, parsed. */
  request<T>(request: unknown, schema: z.ZodType<T>): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    return this.receive(schema);
  }

  /** The next line, parsed. */
  async receive<T>(schema: z.ZodType<T>): Promise<T> {
    const timer = setTimeout(
      () => this.#fail(`did not answer within ${this.#limit / 1000} seconds`),
      this.#limit,
    );
    try {
      const line = await this.#receiveLine();
      const answer = schema.safeParse(parseOrUndefined(line));
      if (answer.success) return answer.data;
      this.#fail(`wrote a line that is not an answer: ${JSON.stringify(line.slice(0, 60))}`);
      throw this.#failure;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#failure ??= new Error("the process was closed");
    this.#signal.removeEventListener("abort", this.#abort);
    process.removeListener("exit", this.#kill);
    this.#kill();
  }

  #receiveLine(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#checkAnswer = () => {
        const end = this.#output.indexOf("\n");
        if (end >= 0) {
          const line = this.#output.slice(0, end);
          this.#output = this.#output.slice(end + 1);
          resolve(line);
        } else if (this.#output.length > maxLineLength) resolve(this.#output);
        else if (this.#failure) reject(this.#failure);
      };
      this.#checkAnswer();
    });
  }

  #fail(what: string): void {
    if (this.#failure) return;
    this.#failure = this.#signal.aborted
      ? (this.#signal.reason as Error)
      : new UserError(
          `${this.#program} ${what}`,
          `give the path of a Python with ${this.#packages} with --python`,
        );
    this.close();
    this.#checkAnswer();
  }

  readonly #abort = () => this.#fail("");
  readonly #kill = () => this.#tree?.kill("SIGKILL");
}

function describeEnd(reason: number | NodeJS.Signals | null, errors: string): string {
  const lastLine = errors.trimEnd().split("\n").at(-1)!;
  return `ended with ${reason}${lastLine === "" ? "" : ` (${lastLine})`}`;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
