/**
 * A program of commands: parses the command line, runs the command in the terminal, and turns its
 * result, an error or an interruption into an exit code.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommanderError } from "commander";
import { openShippedCatalog } from "../app/shippedCatalog.ts";
import { formatBug, UserError } from "../userError.ts";
import { bugExitCode, type CliContext } from "./command.ts";
import { runCommandLine, type ProgramTitle } from "./commandLine.ts";
import type { CommandEntry } from "./commands.ts";
import { createConfirm, createTerminal } from "./terminal.ts";

const terminal = createTerminal(process.stdout, process.stderr);

/** Aborted by Ctrl-C and by SIGTERM. */
const interruption = new AbortController();
let hasReportedInterruption = false;
/** The command ends itself after an interruption, and may need long. */
let endsItself = false;

/** Runs the command that the arguments of this process name, and returns the exit code. */
export async function runProgram(
  commands: readonly CommandEntry[],
  /** The file of the terminal program. */
  file: string,
  title?: ProgramTitle,
): Promise<number> {
  handleSignals();
  const cwd = process.cwd();
  let code = 0;
  try {
    await runCommandLine(process.argv.slice(2), commands, {
      cwd,
      ...(title ? { program: title } : {}),
      async start(command, positionals, options) {
        code = await command.run(await createContext(cwd, file), positionals, options);
      },
    });
    return code;
  } catch (error) {
    return error instanceof CommanderError ? error.exitCode : report(error);
  }
}

/** Aborts the command on a signal. A command that does not stop is ended within two seconds. */
function handleSignals(): void {
  const interrupt = (signal: NodeJS.Signals) => {
    interruption.abort(new UserError(`stopped by ${signal}`, "run it again"));
    setTimeout(() => {
      if (endsItself) return;
      report(interruption.signal.reason);
      process.exit(130);
    }, 1_800).unref();
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  // an interrupted command may leave sockets and child processes that fail later
  process.on("uncaughtException", error => process.exit(report(error)));
  // the reader of stdout may stop early (`| head`)
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

/** The context of a command in this process. Loads the servers. */
async function createContext(cwd: string, program: string): Promise<CliContext> {
  const resources = findFolderAbove(
    import.meta.dirname ?? dirname(new URL(import.meta.url).pathname),
    "resources",
  );
  const prove = join(cwd, "prove");
  const { signal } = interruption;
  const confirm = createConfirm({ stdin: process.stdin, stderr: process.stderr, signal });
  const fixtureFolders = [join(prove, "fixtures"), join(resources, "servers")];
  return {
    ...terminal,
    stdin: process.stdin,
    ...(confirm ? { confirm } : {}),
    signal,
    allowLateEnd: () => (endsItself = true),
    cwd,
    resources,
    program,
    thread: program.endsWith(".ts")
      ? join(dirname(program), "../app/thread.ts")
      : join(dirname(program), "thread.js"),
    dist: join(resources, "..", "dist"),
    prove,
    catalog: await openShippedCatalog(fixtureFolders),
  };
}

/**
 * The folder with that name in the nearest folder above: beside dist/ when built, above src/ when
 * run from source.
 */
function findFolderAbove(from: string, name: string): string {
  const folder = join(from, name);
  if (existsSync(folder)) return folder;
  const parent = dirname(from);
  if (parent === from) throw new Error(`there is no folder ${name} above the program`);
  return findFolderAbove(parent, name);
}

/** Prints an error and returns the exit code. */
function report(error: unknown): number {
  // whatever an interrupted command throws is a consequence of the interruption
  if (interruption.signal.aborted) {
    if (hasReportedInterruption) return 2;
    hasReportedInterruption = true;
    const { what, remedy } = interruption.signal.reason as UserError;
    terminal.printNote(`prove-rl: ${what}; ${remedy}`);
    return 2;
  }
  if (error instanceof UserError) {
    terminal.printUserError(error);
    return 2;
  }
  terminal.printNote(formatBug(error));
  return bugExitCode;
}
