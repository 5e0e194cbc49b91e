/**
 * Plays the scenarios of BFCL's multi-turn benchmark through BFCL's own Python classes, in a child
 * process. What is played, and what of it is timed, is in `resources/engines/bfcl_calls.py`.
 */
import { z } from "zod";
import type { CliContext } from "./command.ts";
import { startPython, type PythonProcess } from "./pythonProcess.ts";

/** The packages that BFCL's classes need, in the versions that the tests use. */
const packages = "bfcl-eval==2026.3.23 mpmath==1.3.0";

const measuredSchema = z.object({ calls: z.int().min(1), seconds: z.number().positive() });

/** BFCL's scenarios, ready to be played. */
export interface Bfcl {
  /** Plays shuffled scenarios until they have that many calls. Returns calls a second. */
  measureCallRate(callCount: number, seed: number): Promise<number>;
  close(): void;
}

/** Starts Python and loads the scenarios. `command` is a program's name or path. */
export async function startBfcl(
  context: Pick<CliContext, "cwd" | "resources" | "signal">,
  command: string,
  /** Milliseconds; an answer takes less than a second. */
  answerLimit = 30_000,
): Promise<Bfcl> {
  const process: PythonProcess = await startPython(context, command, {
    script: "bfcl_calls.py",
    deed: "play the scenarios of BFCL",
    packages,
    pip: `--no-deps ${packages}`,
    firstLine: z.object({ scenarios: z.int().min(1), calls: z.int().min(1) }),
    answerLimit,
  });
  return {
    async measureCallRate(callCount, seed) {
      const { calls, seconds } = await process.request({ calls: callCount, seed }, measuredSchema);
      return calls / seconds;
    },
    close: () => process.close(),
  };
}
