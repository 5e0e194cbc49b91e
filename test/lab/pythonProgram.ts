/** Starts the Python programs in this folder, which run the software that ours is compared with. */
import { join } from "node:path";
import { z } from "zod";
import type { AppContext } from "../../src/app/context.ts";
import { option } from "../../src/cli/command.ts";
import { PythonProcess } from "../../src/app/benchmark/harness.ts";
import { findProgram } from "../../src/storage/processes.ts";
import { UserError } from "../../src/userError.ts";

/** The option that names a Python. */
export const pythonOption = option(
  "--python <program>",
  "Python with the packages that are compared with",
  { default: "python3" },
);

/** What a program in this folder needs. */
export interface PythonProgram<First> {
  /** The file in this folder. */
  readonly script: string;
  /** What it does: it "cannot play the scenarios of BFCL". */
  readonly deed: string;
  /** The packages that it needs, in the versions that the tests use. */
  readonly packages: string;
  /** How pip installs them. */
  readonly pip: string;
  /** Its first line, if it can do its work. */
  readonly firstLine: z.ZodType<First>;
  /** Milliseconds in which it has to answer. */
  readonly answerLimit: number;
}

/** Starts a program. `command` is the name or path of Python. */
export async function startPython<First>(
  { cwd, resources, signal }: Pick<AppContext, "cwd" | "resources" | "signal">,
  command: string,
  python: PythonProgram<First>,
): Promise<PythonProcess> {
  const program = findProgram(command, cwd);
  if (program === undefined)
    throw new UserError(
      `there is no program ${command} in the folders of PATH`,
      "install Python 3.10 or later, or give its path with --python",
    );
  const script = join(resources, "..", "test", "lab", python.script);
  const process = new PythonProcess(program, { ...python, args: [script], signal });
  const { problem } = await process.receive(
    z.union([problemSchema, python.firstLine.transform(() => ({ problem: undefined }))]),
  );
  if (problem === undefined) return process;
  process.close();
  throw new UserError(
    `${program} cannot ${python.deed}: ${problem}`,
    `create a virtual environment, run pip install ${python.pip} in it, and give the path of its Python with --python; in a clone of PROVE, npm run test:engines does this in the folder .engines`,
  );
}

const problemSchema = z.object({ problem: z.string() });
