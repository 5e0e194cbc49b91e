/**
 * A terminal whose every line is kept, for running a command as the program does, without a
 * process.
 */
import { Writable } from "node:stream";
import { join } from "node:path";
import type { CliCommand, CliContext } from "../../src/cli/command.ts";
import { catalog, root } from "../contracts/doors.ts";
import { parseArgs } from "node:util";

export interface Shown {
  readonly code: number;
  /** Lines of stdout. */
  readonly out: readonly string[];
  /** Lines for a person, on stderr. */
  readonly said: readonly string[];
}

/** Runs a command to its end. A `UserError` rejects. */
export async function runCommand(
  command: CliCommand,
  args: readonly string[],
  {
    stdin = "",
    cwd = root,
    ...more
  }: { stdin?: string; cwd?: string } & Partial<
    Pick<CliContext, "signal" | "showProgress" | "catalog">
  > = {},
): Promise<Shown> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: command.options,
    allowPositionals: true,
    strict: true,
  });
  let out = "";
  const said: string[] = [];
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      out += chunk.toString();
      done();
    },
  });
  const terminal: CliContext = {
    print: line => void (out += `${line}\n`),
    printNote: line => void said.push(line),
    showProgress: () => {},
    stdin: (async function* () {
      yield Buffer.from(stdin);
    })(),
    stdout,
    signal: new AbortController().signal,
    cwd,
    resources: join(root, "resources"),
    dist: join(root, "dist"),
    prove: join(cwd, "prove"),
    catalog,
    ...more,
  };
  const code = await command.run(terminal, positionals, values);
  return { code, out: out.split("\n").slice(0, -1), said };
}
