/**
 * Plays the scenarios of BFCL's multi-turn benchmark through BFCL's own Python classes, in a child
 * process. What is played, and what of it is timed, is in `resources/engines/bfcl_calls.py`.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { ProcessTree } from "../mcp/processTree.ts";
import { findProgram } from "../storage/findProgram.ts";
import { UserError } from "../userError.ts";
import type { CliContext } from "./command.ts";

/** The packages that BFCL's classes need, in the versions that the tests use. */
const packages = "bfcl-eval==2026.3.23 mpmath==1.3.0";

/** Milliseconds in which Python has to answer; it takes less than one second. */
const answerLimit = 30_000;
/** Characters. An answer is one short line. */
const maxLineLength = 10_000;

const firstLineSchema = z.union([
  z.object({ problem: z.string() }),
  z.object({ scenarios: z.int().min(1), calls: z.int().min(1) }),
]);
const measuredSchema = z.object({ calls: z.int().min(1), seconds: z.number().positive() });

/** Starts Python and loads the scenarios. `command` is a program's name or path. */
export async function startBfcl(
  { cwd, resources, signal }: Pick<CliContext, "cwd" | "resources" | "signal">,
  command: string,
  limit = answerLimit,
): Promise<BfclProcess> {
  const program = findProgram(command, cwd);
  if (program === undefined)
    throw new UserError(
      `there is no program ${command} in the folders of PATH`,
      "install Python 3.10 or later, or give its path with --python",
    );
  const script = join(resources, "engines/bfcl_calls.py");
  const bfcl = new BfclProcess(program, script, signal, limit);
  const firstLine = await bfcl.receive(firstLineSchema);
  if (!("problem" in firstLine)) return bfcl;
  bfcl.close();
  throw new UserError(
    `${program} cannot play the scenarios of BFCL: ${firstLine.problem}`,
    `create a virtual environment, run pip install --no-deps ${packages} in it, and give the path of its Python with --python; in a clone of PROVE, npm run test:engines does this in the folder .engines`,
  );
}

/** The Python process. Every failure ends it. */
export class BfclProcess {
  readonly #program: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #tree: ProcessTree | undefined;
  readonly #signal: AbortSignal;
  readonly #limit: number;
  #output = "";
  #errors = "";
  /** Why no more answers come. */
  #failure: Error | undefined;
  #checkAnswer = () => {};

  constructor(program: string, script: string, signal: AbortSignal, limit: number) {
    this.#program = program;
    this.#signal = signal;
    this.#limit = limit;
    // -E: variables such as PYTHONPATH may name the current folder. The group of its own is ended
    // together with what the process starts, such as Python if the program is a script.
    const child = spawn(program, ["-E", script], {
      stdio: ["pipe", "pipe", "pipe"],
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

  /** Plays shuffled scenarios until they have that many calls. Returns calls a second. */
  async measureCallRate(callCount: number, seed: number): Promise<number> {
    this.#child.stdin.write(`${JSON.stringify({ calls: callCount, seed })}\n`);
    const { calls, seconds } = await this.receive(measuredSchema);
    return calls / seconds;
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
          `give the path of a Python with ${packages} with --python`,
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
