/** Runs commands as the program does, in this process, and records what they print. */
import { Writable } from "node:stream";
import { join } from "node:path";
import type { CliCommand, CliContext } from "../../src/cli/command.ts";
import { runCommandLine } from "../../src/cli/commandLine.ts";
import type { CommandEntry } from "../../src/cli/commands.ts";
import { createTerminal } from "../../src/cli/program.ts";
import { catalog, root } from "../contracts/transports.ts";

export interface CommandOutput {
  readonly code: number;
  /** Lines of stdout. */
  readonly out: readonly string[];
  /** Notes on stderr. */
  readonly notes: readonly string[];
}

type Changes = { readonly stdin?: string; readonly cwd?: string } & Partial<
  Pick<CliContext, "signal" | "showProgress" | "printNote" | "catalog" | "confirm">
>;

/** Runs a command to its end. A `UserError` rejects. */
export const runCommand = (
  command: CliCommand,
  args: readonly string[],
  changes: Changes = {},
): Promise<CommandOutput> => {
  const entry = { name: command.name, group: "", summary: "", load: async () => command };
  return runArguments([command.name, ...args], [entry], changes);
};

/** Runs the command that the arguments name to its end. A `UserError` rejects. */
export async function runArguments(
  args: readonly string[],
  entries: readonly CommandEntry[],
  { stdin = "", cwd = root, ...more }: Changes = {},
): Promise<CommandOutput> {
  let out = "";
  const notes: string[] = [];
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      out += chunk.toString();
      done();
    },
  });
  const context: CliContext = {
    ...createTerminal(stdout, stdout),
    printNote: line => void notes.push(line),
    showProgress: () => {},
    stdin: (async function* () {
      yield Buffer.from(stdin);
    })(),
    signal: new AbortController().signal,
    allowLateEnd: () => {},
    endWithParent: () => {},
    cwd,
    resources: join(root, "resources"),
    program: join(root, "src", "cli", "main.ts"),
    thread: join(root, "src", "app", "thread.ts"),
    dist: join(root, "dist"),
    prove: join(cwd, "prove"),
    catalog,
    ...more,
  };
  let code = 0;
  await runCommandLine(args, entries, {
    cwd,
    async start(it, positionals, options) {
      code = await it.run(context, positionals, options);
    },
  });
  return { code, out: out.split("\n").slice(0, -1), notes };
}
