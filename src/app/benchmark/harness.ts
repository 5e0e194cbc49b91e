/** Runs the official program of a benchmark in Python: `resources/engines/<benchmark>_run.py`. */
import { join } from "node:path";
import { z } from "zod";
import type { AppContext } from "../context.ts";
import { PythonProcess } from "./pythonProcess.ts";
import type { RolloutFormat } from "../import/rollout.ts";
import { UserError } from "../../userError.ts";
import type { BenchmarkTable, EntryScore } from "./benchmarkResult.ts";
import type { HarnessPackages } from "./harnessPython.ts";

/** An official benchmark. */
export interface Harness {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly packages: HarnessPackages;
  /** The program in `resources/engines`. */
  readonly script: string;
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

export interface HarnessResults {
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

/** Milliseconds; the program gives a sign of life every ten seconds. */
const answerLimit = 120_000;

/**
 * Answers the entries that have no answer yet, and checks all. Throws a `UserError` if the harness
 * does not run.
 */
export async function runHarness(
  { script, title, packages }: Harness,
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
    script: join(resources, "engines", script),
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
