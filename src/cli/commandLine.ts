/**
 * Parses the command line with commander, prints help, and turns what commander rejects into
 * `UserError`s. A command's module is loaded once its name is known.
 */
import { Argument, Command, Option, type ErrorOptions } from "commander";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import type { CliArgument, CliCommand, CliOption, Parser, TextSource } from "./command.ts";
import type { CommandEntry } from "./commands.ts";
import { suggestName } from "../storage/suggestName.ts";

export interface ProgramTitle {
  /** How it is called in help. */
  readonly name: string;
  readonly description: string;
}

const terminalProgram: ProgramTitle = {
  name: "prove-rl",
  description: "Live tool servers, synthesized conversations, programmatic rewards, and training",
};

/** Runs a command with its parsed values. */
type StartCommand = (
  command: CliCommand,
  positionals: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
) => Promise<void>;

const maxHelpWidth = 100;

/**
 * Parses the arguments and starts the command that they name. Throws a `UserError` for arguments
 * that are not valid, and commander's `CommanderError` once help or the version is printed.
 */
export async function runCommandLine(
  args: readonly string[],
  entries: readonly CommandEntry[],
  {
    cwd,
    start,
    program: { name: programName, description } = terminalProgram,
  }: { readonly cwd: string; readonly start: StartCommand; readonly program?: ProgramTitle },
): Promise<void> {
  const program = new ProgramCommand(programName)
    .description(description)
    .usage("<command> [options]")
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ subcommandTerm: it => it.name() })
    .configureOutput({
      getOutHelpWidth: () => Math.min(process.stdout.columns || maxHelpWidth, maxHelpWidth),
    })
    .addHelpText(
      "after",
      `\n${programName} help <command> describes a command, its options and examples.`,
    );
  for (const { name, group, summary } of entries)
    program
      .command(name, { hidden: group === undefined })
      .summary(summary)
      .helpGroup(`${group}:`);
  program.hook("preSubcommand", async (_program, command) => {
    const entry = entries.find(it => it.name === command.name())!;
    (command as ProgramCommand).define(await entry.load(), cwd, start);
  });
  await program.parseAsync(rewriteHelp(args, programName, entries), { from: "user" });
}

/**
 * Rewrites the ways to ask for help as `--help` and `<command> --help`, so that no other argument
 * gets in the way. Throws a `UserError` for a command that does not exist.
 */
function rewriteHelp(
  args: readonly string[],
  programName: string,
  entries: readonly CommandEntry[],
): string[] {
  const isHelp = args[0] === "help";
  const [name = "--help", ...rest] = isHelp ? args.slice(1) : args;
  if (name.startsWith("-")) return [name, ...rest];
  if (!entries.some(it => it.name === name))
    throw createUnknownCommandError(name, programName, entries);
  const options = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  return isHelp || options.includes("--help") ? [name, "--help"] : [name, ...rest];
}

function createUnknownCommandError(
  name: string,
  programName: string,
  entries: readonly CommandEntry[],
): UserError {
  const names = entries.filter(it => it.group !== undefined).map(it => it.name);
  return new UserError(
    `there is no command ${name}${suggestName(name, names)}`,
    `choose one of ${names.join(", ")}; ${programName} --help describes them`,
  );
}

/** A command of commander's whose errors are `UserError`s. */
class ProgramCommand extends Command {
  #definition: CliCommand | undefined;

  override createCommand(name?: string): ProgramCommand {
    return new ProgramCommand(name);
  }

  /** The program's name, followed by that of the command if this is one. */
  get #path(): string {
    return this.parent ? `${this.parent.name()} ${this.name()}` : this.name();
  }

  /** Adds everything that is known once the command's module is loaded. */
  define(definition: CliCommand, cwd: string, start: StartCommand): void {
    this.#definition = definition;
    this.description(definition.description);
    for (const it of definition.arguments) this.addArgument(createArgument(it, cwd));
    const options = Object.entries(definition.options).map(
      ([key, it]) => [key, it, createOption(it, cwd)] as const,
    );
    for (const [, , option] of options) this.addOption(option);
    this.addHelpText(
      "after",
      `\nExamples:\n${definition.examples.map(it => `  ${this.parent!.name()} ${it}`).join("\n")}`,
    );
    this.action(async () => {
      const values = this.opts<Record<string, unknown>>();
      const entries = options.map(([key, { required, parser }, option]) => {
        const value = values[option.attributeName()];
        if (value === undefined && required)
          throw new UserError(
            `${definition.name} needs ${required.required}`,
            `add ${option.long}, such as ${option.long} ${required.example}`,
          );
        return [key, parser ? value : value === true] as const;
      });
      await start(definition, this.processedArgs, Object.fromEntries(entries));
    });
  }

  override error(message: string, { code }: ErrorOptions = {}): never {
    const quoted = /'([^']*)'/.exec(message)?.[1] ?? "";
    const path = this.#path;
    const seeHelp = `${path} --help lists the options`;
    switch (code) {
      case "commander.unknownOption":
        throw this.#createUnknownOptionError(quoted, seeHelp);
      case "commander.optionMissingArgument":
        throw new UserError(`${quoted.split(" ")[0]} needs a value`, `write ${quoted}; ${seeHelp}`);
      case "commander.missingArgument":
        throw new UserError(
          `${this.name()} needs ${this.#definition!.arguments[this.args.length]!.required!}`,
          `usage: ${path} ${this.usage()}; ${seeHelp}`,
        );
      case "commander.excessArguments": {
        const extra = this.args[this.registeredArguments.length]!;
        throw new UserError(
          `${this.name()} takes no ${this.registeredArguments.length > 0 ? "further argument " : ""}${extra}`,
          `usage: ${path} ${this.usage()}; ${seeHelp}`,
        );
      }
      default:
        throw new UserError(message.replace(/^error: /, ""), seeHelp);
    }
  }

  #createUnknownOptionError(text: string, seeHelp: string): UserError {
    const [name] = text.split("=");
    const names = this.options.flatMap(it => (it.hidden || !it.long ? [] : [it.long]));
    const where = this.#definition ? `${this.name()}: ` : "";
    return names.includes(name!)
      ? new UserError(`${where}${name} takes no value`, `write ${name} alone; ${seeHelp}`)
      : new UserError(`${where}Unknown option '${name}'${suggestName(name!, names)}`, seeHelp);
  }
}

function createOption(definition: CliOption<unknown>, cwd: string): Option {
  const { flags, description, parser, isHidden = false } = definition;
  const hint = parser?.hint === undefined ? "" : ` (${parser.hint})`;
  const option = new Option(flags, `${description}${hint}`).hideHelp(isHidden);
  if (!parser) return option;
  if (parser.choices) option.choices(parser.choices);
  if (definition.default !== undefined) option.default(definition.default);
  const source = { name: option.long!, cwd };
  return option.argParser(text => {
    // commander takes whatever follows as the value
    if (text.startsWith("--"))
      throw new UserError(
        `${source.name} needs a value, but ${text} follows`,
        `write ${flags}; a file with such a name is ./${text}`,
      );
    return parseText(parser, text, source);
  });
}

function createArgument({ name, description, ...rest }: CliArgument<unknown>, cwd: string) {
  const argument = new Argument(name, description);
  if (rest.parser.choices) argument.choices(rest.parser.choices);
  if (rest.default !== undefined) argument.default(rest.default);
  const parse = (text: string) => parseText(rest.parser, text, { name, cwd });
  return argument.variadic
    ? argument.argParser<readonly unknown[] | undefined>((text, all) => [
        ...(all ?? []),
        parse(text),
      ])
    : argument.argParser(parse);
}

function parseText<T>(parser: Parser<T>, text: string, source: TextSource): T {
  if (text !== "") return parser.parse(text, source);
  throw new UserError(`${source.name} is empty`, `give it a value, or leave ${source.name} out`);
}
