/** Runs the official bfcl-eval with `resources/engines/bfcl_run.py`. */
import { z } from "zod";
import type { CliContext } from "../command.ts";
import { PythonProcess } from "../pythonProcess.ts";
import { UserError } from "../../userError.ts";
import type { EntryScore } from "./benchmarkResult.ts";
import type { HarnessPackages } from "./harnessPython.ts";
import { join } from "node:path";

export const bfclPackages: HarnessPackages = {
  name: "bfcl-eval",
  version: "2026.3.23",
  requirements: "bfcl-requirements.txt",
  modules: ["bfcl_eval", "openai", "overrides", "tenacity", "tqdm", "dotenv", "filelock", "mpmath"],
  megabytes: 100,
};

/** The multi-turn categories, with their names in the paper's table. */
export const bfclCategories = {
  multi_turn_base: "Base",
  multi_turn_miss_param: "MissParam",
  multi_turn_miss_func: "MissFunc",
  multi_turn_long_context: "LongCtx",
} as const;
export type BfclCategory = keyof typeof bfclCategories;

export interface BfclRequest {
  readonly model: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly categories: readonly BfclCategory[];
  /** Entries of each category, from the first on; all if undefined. */
  readonly count: number | undefined;
  readonly threads: number;
  readonly temperature: number;
  /** Where the harness keeps its results and scores. */
  readonly folder: string;
}

export interface BfclRun {
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
    error: z.string().nullable(),
    message: z.string().nullable(),
  }),
  z.object({ kind: z.literal("end"), stopped: z.string().nullable() }),
]);

/** Milliseconds; the program gives a sign of life every ten seconds. */
const answerLimit = 120_000;

/**
 * Answers the entries that have no answer yet, and checks all. Throws a `UserError` if the harness
 * does not run.
 */
export async function runBfcl(
  python: string,
  request: BfclRequest,
  { resources, printNote, showProgress, signal }: CliContext,
): Promise<BfclRun> {
  const { PROVE_API_KEY: _own, OPENAI_API_KEY: _other, ...env } = process.env;
  const harness = new PythonProcess(python, {
    script: join(resources, "engines", "bfcl_run.py"),
    packages: `${bfclPackages.name} ${bfclPackages.version}`,
    signal,
    answerLimit,
    env: request.key === undefined ? env : { ...env, OPENAI_API_KEY: request.key },
  });
  const { baseUrl: base_url, key: _key, ...body } = request;
  const scores: EntryScore[] = [];
  let [done, total] = [0, 0];
  try {
    let message = await harness.request({ ...body, count: body.count ?? null, base_url }, line);
    for (; message.kind !== "end"; message = await harness.receive(line))
      if (message.kind === "problem")
        throw new UserError(
          `${python} cannot run bfcl-eval: ${message.problem}`,
          "give another Python with --python, or leave it out to install the packages",
        );
      else if (message.kind === "torn")
        printNote(
          `${message.file}:${message.line} is torn (a write was cut off); its entry is asked again`,
        );
      else if (message.kind === "entries") {
        ({ done, total } = message);
        showProgress(`BFCL: ${done} of ${total} entries`);
      } else if (message.kind === "checking") showProgress(`checking ${message.category}`);
      else if (message.kind === "score") {
        const { kind: _kind, ...score } = message;
        scores.push(score);
      }
    return { scores, done, total, stopped: message.stopped ?? undefined };
  } finally {
    harness.close();
  }
}
