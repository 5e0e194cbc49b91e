/** Runs the official program of a benchmark in Python, with a module of our Python package. */
import { join } from "node:path";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import type { AppContext } from "../context.ts";
import type { RolloutFormat } from "../../rollouts/rollout.ts";
import { UserError } from "../../userError.ts";
import type { BenchmarkTable, EntryScore } from "./benchmarkResult.ts";
import type { HarnessPackages } from "./harnessPython.ts";
import { ProcessTree } from "../../mcp/processTree.ts";

/** An official benchmark. */
export interface Harness {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly packages: HarnessPackages;
  /** The module of `prove_rl.benchmarks`. */
  readonly module: string;
  /** Its categories with their names in the paper's table. */
  readonly table: BenchmarkTable;
  /** The categories of the paper. */
  readonly usual: readonly string[];
  /** That of the benchmark's own program. */
  readonly temperature: number;
  /** Whether a second model plays the users. */
  readonly hasUsers: boolean;
  /** Whether parts of it have to be fetched by hand: see `HarnessParts`. */
  readonly hasParts: boolean;
  /** The format of its results, and where they are in the folder. */
  readonly format: RolloutFormat;
  readonly results: readonly HarnessResults[];
}

interface HarnessResults {
  /** A file or a folder, relative to the benchmark's folder. */
  readonly path: string;
  /** The attempt's id. */
  readonly toAttempt: (rollout: string) => string;
  /** The ids of the entries that the attempt answers. */
  readonly toEntries: (attempt: string) => readonly string[];
}

/** Folders with what no package carries. */
export interface HarnessParts {
  readonly harness: string;
  readonly data: string;
  /** A model that compares sentences, for the categories that need it. */
  readonly embeddings: string | undefined;
}

export interface HarnessRequest {
  readonly model: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  /** The model that plays the users, if the benchmark has users. */
  readonly user:
    | { readonly model: string; readonly baseUrl: string; readonly key: string | undefined }
    | undefined;
  readonly parts: HarnessParts | undefined;
  readonly categories: readonly string[];
  /** Entries of each category, from the first on; all if undefined. */
  readonly count: number | undefined;
  readonly threads: number;
  readonly temperature: number;
  /** Where the harness keeps its results and scores. */
  readonly folder: string;
}

export interface HarnessRun {
  readonly scores: readonly EntryScore[];
  /** Entries with an answer, and all. */
  readonly done: number;
  readonly total: number;
  /** Why the endpoint gave no more answers. */
  readonly stopped: string | undefined;
}

const line = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("problem"), problem: z.string() }),
  z.object({ kind: z.literal("working") }),
  z.object({ kind: z.literal("torn"), file: z.string(), line: z.int() }),
  z.object({ kind: z.literal("entries"), total: z.int(), done: z.int() }),
  z.object({ kind: z.literal("checking"), category: z.string() }),
  z.object({
    kind: z.literal("score"),
    id: z.string(),
    category: z.string(),
    valid: z.boolean(),
    score: z.number().exactOptional(),
    error: z.string().nullable(),
    message: z.string().nullable(),
    refusal: z.string().nullable(),
  }),
  z.object({ kind: z.literal("end"), stopped: z.string().nullable() }),
]);

/** Runs a module of a package in a folder, where it is found before all that is installed. */
const runModule =
  "import runpy, sys; sys.path[0] = sys.argv.pop(1); runpy.run_module(sys.argv.pop(1), run_name='__main__')";

/** Milliseconds; the program gives a sign of life every ten seconds. */
const answerLimit = 120_000;

/**
 * Answers the entries that have no answer yet, and checks all. Throws a `UserError` if the harness
 * does not run.
 */
export async function runHarness(
  { module, title, packages }: Harness,
  python: string,
  { key, user, parts, baseUrl, count, ...body }: HarnessRequest,
  { resources, printNote, showProgress, signal }: AppContext,
): Promise<HarnessRun> {
  const {
    PROVE_API_KEY: _own,
    PROVE_USER_API_KEY: _user,
    OPENAI_API_KEY: _other,
    ...env
  } = process.env;
  const { name, version } = packages;
  const harness = new PythonProcess(python, {
    args: ["-c", runModule, join(resources, "python"), `prove_rl.benchmarks.${module}`],
    packages: `${name} ${version}`,
    signal,
    answerLimit,
    env: {
      ...env,
      ...(key === undefined ? {} : { OPENAI_API_KEY: key }),
      // without one, the client would send the other
      ...(user && { PROVE_USER_API_KEY: user.key ?? "EMPTY" }),
    },
  });
  const request = {
    ...body,
    base_url: baseUrl,
    count: count ?? null,
    ...(user && { user_model: user.model, user_base_url: user.baseUrl }),
    ...(parts && { ...parts, embeddings: parts.embeddings ?? null }),
  };
  const scores: EntryScore[] = [];
  let [done, total] = [0, 0];
  try {
    let message = await harness.request(request, line);
    for (; message.kind !== "end"; message = await harness.receive(line))
      if (message.kind === "problem")
        throw new UserError(
          `${python} cannot run ${name}: ${message.problem}`,
          "give another Python with --python, or leave it out to install the packages",
        );
      else if (message.kind === "torn")
        printNote(
          `${message.file}:${message.line} is torn (a write was cut off); its entry is asked again`,
        );
      else if (message.kind === "entries") {
        ({ done, total } = message);
        showProgress(`${title}: ${done} of ${total} entries`);
      } else if (message.kind === "checking") showProgress(`checking ${message.category}`);
      else if (message.kind === "score") {
        const { kind: _kind, refusal, ...score } = message;
        scores.push({ ...score, ...(refusal === null ? {} : { refusal }) });
      }
    return { scores, done, total, stopped: message.stopped ?? undefined };
  } finally {
    harness.close();
  }
}

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
      args,
      packages,
      signal,
      answerLimit,
      env = process.env,
    }: {
      /** The program with its arguments. */
      readonly args: readonly string[];
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
    const child = spawn(program, ["-E", "-B", ...args], {
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
