/**
 * Registers the commands of a feature under the prefix `prove.`. Each feature passes its own table;
 * together they are exactly the commands that the manifest lists.
 */
import { commands, type ExtensionContext } from "vscode";
import { reportError } from "./report.ts";

/**
 * Commands by name, without the prefix. A command gets the argument of the menu, link or page that
 * runs it, and none from the Command Palette.
 */
type CommandTable = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Registers a table of commands; an error that one throws is shown once. */
export function registerCommands({ subscriptions }: ExtensionContext, table: CommandTable): void {
  for (const [name, run] of Object.entries(table))
    subscriptions.push(
      commands.registerCommand(`prove.${name}`, async (...args: never[]) => {
        try {
          const result: unknown = await run(...args);
          // ticks the walkthrough's step; a command that was canceled or failed does not get here
          await commands.executeCommand("setContext", `prove.done.${name}`, true);
          return result;
        } catch (error) {
          reportError(error);
          return undefined;
        }
      }),
    );
}
