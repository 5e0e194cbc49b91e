/**
 * Defines what a command of the terminal program is: its arguments and options, declared once with
 * their types, and the function that runs it in a context.
 */
import type { AppContext } from "../app/context.ts";

/** The exit code after a bug of this program, whatever else the work found. */
export const bugExitCode = 70;

/**
 * What a command works with. Commands print only through it. `signal` is aborted by Ctrl-C, by
 * SIGTERM, and when the editor cancels. Notes and progress go to stderr; if that is not a terminal,
 * at most one line of progress is printed every five seconds.
 */
export interface CliContext extends AppContext {
  /** Prints one line on stdout. Resolves once the reader of stdout has room for more. */
  readonly printAndDrain: (line: string) => Promise<void>;
  /** Asks a yes-or-no question on stderr. Undefined if stdin or stderr is not a terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Lets the command take more than two seconds to end after `signal` was aborted. */
  readonly allowLateEnd: () => void;
  /** Ends this process soon after its parent has ended, also while it computes. */
  readonly endWithParent: () => void;
}

/** Where a text on the command line was given. */
export interface TextSource {
  /** The option, such as `--count`, or the argument, such as `<server>`. */
  readonly name: string;
  readonly cwd: string;
}

/** Turns a text on the command line into a value. */
export interface Parser<T> {
  /** Throws a `UserError` for a text that is not valid. The text is never empty. */
  readonly parse: (text: string, source: TextSource) => T;
  /** All valid texts, where they can be listed. */
  readonly choices?: readonly string[];
  /** What help adds to the description of every option with this parser. */
  readonly hint?: string;
}

/** What is missing if an option or argument is not given: completes "synthesize needs …". */
interface Requirement {
  readonly required: string;
  /** A value for the remedy, such as `300`. */
  readonly example: string;
}

export interface CliOption<T> {
  /** As commander reads them: `--count <n>`, or `--json` for a flag. */
  readonly flags: string;
  readonly description: string;
  /** Undefined for a flag. */
  readonly parser?: Parser<T>;
  readonly default?: T;
  readonly required?: Requirement;
  readonly isHidden?: boolean;
}

export interface CliArgument<T> {
  /** As commander reads it: `<tool>`, `[server]`, or `[files...]`. */
  readonly name: string;
  readonly description: string;
  readonly parser: Parser<unknown>;
  readonly default?: T;
  /** What is missing without it: completes "call needs …". */
  readonly required?: string;
}

/** The values of options or arguments by their definitions. */
type ValuesOf<D> = {
  readonly [K in keyof D]: D[K] extends CliOption<infer T>
    ? T
    : D[K] extends CliArgument<infer T>
      ? T
      : never;
};

/** The values of options that several commands share. */
export type OptionValues<O extends Readonly<Record<string, CliOption<unknown>>>> = ValuesOf<O>;

/** A command whose values are typed by the definitions of its arguments and options. */
interface TypedCommand<
  A extends readonly CliArgument<unknown>[],
  O extends Readonly<Record<string, CliOption<unknown>>>,
> {
  readonly name: string;
  /** What the command does, in full sentences. Its one-line summary is in the table of commands. */
  readonly description: string;
  readonly arguments: A;
  readonly options: O;
  /** Command lines without the program's name, each valid by itself. */
  readonly examples: readonly string[];
  /**
   * Returns the exit code: 0 for done, 1 if the work found something wrong, `bugExitCode` if a part
   * of it failed because of a bug. A `UserError` that it throws ends the program with 2.
   */
  run(context: CliContext, positionals: ValuesOf<A>, options: ValuesOf<O>): Promise<number>;
}

/** Any command. */
export interface CliCommand {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly CliArgument<unknown>[];
  readonly options: Readonly<Record<string, CliOption<unknown>>>;
  readonly examples: readonly string[];
  run(
    context: CliContext,
    positionals: readonly unknown[],
    options: Readonly<Record<string, unknown>>,
  ): Promise<number>;
}

/** Defines a command. `run` gets positionals and options with the types of their definitions. */
export const defineCommand = <
  const A extends readonly CliArgument<unknown>[],
  O extends Readonly<Record<string, CliOption<unknown>>>,
>(
  command: TypedCommand<A, O>,
): CliCommand => command;

/** An option without a value. */
export const flag = (
  flags: string,
  description: string,
  more: Pick<CliOption<boolean>, "isHidden"> = {},
): CliOption<boolean> => ({ flags, description, ...more });

const text: Parser<string> = { parse: it => it };

interface Parsed<T> {
  readonly parser: Parser<T>;
}

/**
 * An option with a value, which is a string without a parser. The value is always present if the
 * option is required or has a default.
 */
export function option<T>(
  flags: string,
  description: string,
  settings: Parsed<T> & (Requirement | { readonly default: NoInfer<T> }),
): CliOption<T>;
export function option<T>(
  flags: string,
  description: string,
  settings: Parsed<T>,
): CliOption<T | undefined>;
export function option(
  flags: string,
  description: string,
  settings: Requirement | { readonly default: string },
): CliOption<string>;
export function option(flags: string, description: string): CliOption<string | undefined>;
export function option(
  flags: string,
  description: string,
  settings: Partial<Parsed<unknown> & Requirement & { readonly default: unknown }> = {},
): CliOption<unknown> {
  const { required, example = "", ...rest } = settings;
  return {
    flags,
    description,
    parser: text,
    ...rest,
    ...(required === undefined ? {} : { required: { required, example } }),
  };
}

/** A positional argument, which is a string without a parser. */
export function argument<T>(
  name: string,
  description: string,
  settings: Parsed<T> & ({ readonly required: string } | { readonly default: NoInfer<T> }),
): CliArgument<T>;
export function argument(
  name: string,
  description: string,
  settings: { readonly required: string },
): CliArgument<string>;
export function argument(
  name: string,
  description: string,
  settings: Partial<Parsed<unknown>> & Pick<CliArgument<unknown>, "required" | "default">,
): CliArgument<unknown> {
  return { name, description, parser: text, ...settings };
}

/** A positional argument that may be left out. */
export function optionalArgument<T>(
  name: string,
  description: string,
  settings: Parsed<T>,
): CliArgument<T | undefined>;
export function optionalArgument(
  name: string,
  description: string,
): CliArgument<string | undefined>;
export function optionalArgument(
  name: string,
  description: string,
  settings: Partial<Parsed<unknown>> = {},
): CliArgument<unknown> {
  return { name, description, parser: text, ...settings };
}

/** The last positional argument, which may be repeated. */
export const repeatedArgument = (
  name: string,
  description: string,
  settings: { readonly required?: string } = {},
): CliArgument<readonly string[]> => ({ name, description, parser: text, ...settings });
