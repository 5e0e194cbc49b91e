/**
 * A program of commands: parses the command line, runs the command in the terminal, and turns its
 * result, an error or an interruption into an exit code.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { CommanderError } from "commander";
import { openShippedCatalog } from "../app/context.ts";
import { formatBug, UserError } from "../userError.ts";
import { bugExitCode, type CliContext } from "./command.ts";
import { runCommandLine, type ProgramTitle } from "./commandLine.ts";
import type { CommandEntry } from "./commands.ts";
import { interruptingSignals, watchProcess, type InterruptingSignal } from "./processWatch.ts";
import { escapeInvisible, escapeInvisibleAsJson } from "../trajectory/invisibleText.ts";

const terminal = createTerminal(process.stdout, process.stderr);

/** Aborted by Ctrl-C and by SIGTERM. */
const interruption = new AbortController();
let hasReportedInterruption = false;
/** The exit code of a command that did not stop by itself after a signal. */
const interruptedCode = 130;
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
        code = await command.run(await createContext(cwd, file, options), positionals, options);
      },
    });
    return code;
  } catch (error) {
    return error instanceof CommanderError ? error.exitCode : report(error);
  }
}

/** Aborts the command on a signal. A command that does not stop is ended within two seconds. */
function handleSignals(): void {
  for (const signal of interruptingSignals)
    process.once(signal, () => {
      interrupt(signal);
      setTimeout(() => {
        if (endsItself) return;
        report(interruption.signal.reason);
        process.exit(interruptedCode);
      }, 1_800).unref();
    });
  // an interrupted command may leave sockets and child processes that fail later
  process.on("uncaughtException", error => process.exit(report(error)));
  // the reader of stdout may stop early (`| head`)
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

function interrupt(signal: InterruptingSignal): void {
  interruption.abort(new UserError(`stopped by ${signal}`, "run it again"));
}

/** What the end of this process does, in the midst of a computation or at a second signal. */
function prepareEnd(signal: InterruptingSignal): void {
  interrupt(signal);
  if (!endsItself) report(interruption.signal.reason);
  process.emit("exit", interruptedCode);
  // without a listener, the signal ends the process
  for (const it of interruptingSignals) process.removeAllListeners(it);
}

/** The context of a command in this process. Loads the servers. */
async function createContext(
  cwd: string,
  program: string,
  { processes }: Readonly<Record<string, unknown>>,
): Promise<CliContext> {
  const resources = findFolderAbove(
    import.meta.dirname ?? dirname(new URL(import.meta.url).pathname),
    "resources",
  );
  const prove = join(cwd, "prove");
  const { signal } = interruption;
  const confirm = createConfirm({ stdin: process.stdin, stderr: process.stderr, signal });
  const fixtureFolders = [join(prove, "fixtures"), join(resources, "servers")];
  const thread = program.endsWith(".ts")
    ? join(dirname(program), "../app/thread.ts")
    : join(dirname(program), "thread.js");
  const [watch, catalog] = await Promise.all([
    watchProcess(prepareEnd),
    openShippedCatalog(fixtureFolders, thread, processes as number | undefined),
  ]);
  return {
    ...terminal,
    stdin: process.stdin,
    ...(confirm ? { confirm } : {}),
    signal,
    allowLateEnd: () => {
      endsItself = true;
      watch.allowLateEnd();
    },
    endWithParent: watch.endWithParent,
    cwd,
    resources,
    program,
    thread,
    dist: join(resources, "..", "dist"),
    prove,
    catalog,
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

interface Terminal extends Pick<
  CliContext,
  "print" | "printAndDrain" | "printNote" | "showProgress"
> {
  /** Prints an error of the user on stderr, with its remedy. */
  readonly printUserError: (error: UserError) => void;
}

export function createTerminal(
  stdout: Writable,
  stderr: Writable & { readonly isTTY?: boolean },
): Terminal {
  const clearLine = stderr.isTTY ? "\r\u001b[K" : "";
  const printNote = (text: string) => void stderr.write(`${clearLine}${escapeLines(text)}\n`);
  return {
    print: text => void stdout.write(formatOutput(text)),
    async printAndDrain(text) {
      if (!stdout.write(formatOutput(text))) await once(stdout, "drain");
    },
    printNote,
    showProgress: stderr.isTTY
      ? line => void stderr.write(`${clearLine}${escapeInvisible(line)}`)
      : limitRate(printNote),
    printUserError: ({ what, remedy }) =>
      printNote(`prove-rl: ${escapeInvisible(what)}\n  ${escapeInvisible(remedy)}`),
  };
}

/** What is printed on stdout may be JSON, whose value must stay the same. */
const formatOutput = (text: string) =>
  `${text.split("\n").map(escapeInvisibleAsJson).join("\n")}\n`;

const escapeLines = (text: string) => text.split("\n").map(escapeInvisible).join("\n");

const progressInterval = 5_000;

function limitRate(print: (line: string) => void): (line: string) => void {
  let last = -Infinity;
  return line => {
    const now = performance.now();
    if (now - last < progressInterval) return;
    last = now;
    print(line);
  };
}

interface Question {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly signal: AbortSignal;
}

/**
 * Returns the function that asks yes-or-no questions, or undefined if nobody can answer. Every
 * answer but `y` and `yes` is a no.
 */
export function createConfirm({
  stdin,
  stderr,
  signal,
}: Question): ((question: string) => Promise<boolean>) | undefined {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  return async question => {
    // no terminal mode, in which Ctrl-C would not be a signal
    const lines = createInterface({ input: stdin, output: stderr, terminal: false });
    try {
      const answer = await Promise.race([
        lines.question(`${escapeInvisible(question)} [y/N] `, { signal }),
        once(lines, "close").then(() => ""),
      ]);
      return /^y(es)?$/i.test(answer.trim());
    } finally {
      lines.close();
    }
  };
}
