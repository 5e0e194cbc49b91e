/**
 * What a command of the terminal program is, and the terminal it is given. Commands print only
 * through it.
 */
import type { ParseArgsConfig } from "node:util";
import type { Writable } from "node:stream";
import type { Catalog } from "../environment/catalog.ts";

export interface CliContext {
  /** Prints one line on stdout. */
  readonly print: (line: string) => void;
  /** Progress and remarks for a person: one line on stderr. */
  readonly printNote: (line: string) => void;
  /**
   * A line on stderr that the next one overwrites; where stderr is no terminal, at most one every
   * few seconds.
   */
  readonly showProgress: (line: string) => void;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Writable;
  /** Aborted by Ctrl-C, and by the editor's cancel. */
  readonly signal: AbortSignal;
  /** The folder the person stands in. */
  readonly cwd: string;
  /** The product's own `resources` folder. */
  readonly resources: string;
  /** The folder of the built programs. */
  readonly dist: string;
  /** The workspace's `prove` folder: `<cwd>/prove`, whether it exists or not. */
  readonly prove: string;
  /** Servers, with the workspace's fixtures before the shipped ones. */
  readonly catalog: Catalog;
}

export type Values = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>;

export interface CliCommand {
  /** One line: positionals and options as a person types them, without the program's name. */
  readonly usage: string;
  readonly summary: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /**
   * The exit code: 0 done, 1 the work found something wrong. A `UserError` thrown ends the program
   * with 2.
   */
  run(terminal: CliContext, positionals: readonly string[], values: Values): Promise<number>;
}
