/**
 * Describes what a person agrees to before a third-party server is started whose tools may change
 * things: the program, and all that it is started with.
 */
import type { ServerEntry } from "../../mcp/mcpConfig.ts";
import { findProgram } from "../../storage/findProgram.ts";
import { escapeInvisible } from "../../trajectory/invisibleText.ts";

/** Lists the command, each argument, the folder and the variables of a server, without values. */
export function describeStart({ command, args, cwd, env }: ServerEntry): string {
  const own = Object.keys(env);
  const variables = [...(own.some(isPath) ? [] : ["PATH"]), ...own];
  return [
    `Command: ${quote(findProgram(command, cwd) ?? command)}`,
    args.length === 0
      ? "Arguments: none"
      : ["Arguments:", ...args.map((it, i) => `  ${i + 1}. ${quote(it)}`)].join("\n"),
    `Folder: ${quote(cwd)}`,
    `Environment variables: ${variables.map(quote).join(", ")}`,
    "It is marked as disposable: all its tools may be called, and they may change or delete everything they can reach.",
  ].join("\n\n");
}

const isPath = (name: string) => name.toUpperCase() === "PATH";

/** The text on one line, in quotes where it would not be clear where it ends. */
function quote(text: string): string {
  const line = escapeInvisible(text);
  return /^[^\s"',]+$/.test(line) ? line : JSON.stringify(line);
}
