/**
 * Describes how a program is started, for a person to read before it is: every part on one line, in
 * quotes where it would not be clear where it ends. Values of variables may be secret and are left
 * out.
 */
import { findProgram } from "../storage/processes.ts";
import { escapeInvisible } from "./invisibleText.ts";

interface ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The variables that are set besides PATH. */
  readonly env: Readonly<Record<string, string>>;
}

interface ProgramText {
  /** The path of the program where it is found, else the command. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The names of the variables, PATH among them. */
  readonly variables: readonly string[];
}

/** Quotes a command line, its folder and the names of its variables. */
export function describeProgram({ command, args, cwd, env }: ProgramStart): ProgramText {
  const own = Object.keys(env);
  const setsPath = own.some(it => it.toUpperCase() === "PATH");
  return {
    program: quote(findProgram(command, cwd) ?? command),
    args: args.map(quote),
    folder: quote(cwd),
    variables: [...(setsPath ? [] : ["PATH"]), ...own].map(quote),
  };
}

function quote(text: string): string {
  const line = escapeInvisible(text);
  return /^[^\s"',]+$/.test(line) ? line : JSON.stringify(line);
}
