/**
 * The one place that shows errors to a person and writes the log. A mistake is shown with its remedy, as a button where
 * the remedy is a command; anything else is ours, keeps its stack in the log, and says so.
 */
import { CancellationError, commands, window, type LogOutputChannel } from "vscode";
import { Mistake } from "../mistake.ts";

/** What a button does: a command of the editor. */
export interface Button {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

/** A mistake whose remedy is a command. */
export class Remediable extends Mistake {
  readonly button: Button;

  constructor(what: string, remedy: string, button: Button, options?: ErrorOptions) {
    super(what, remedy, options);
    this.button = button;
  }
}

let log: LogOutputChannel | undefined;

/** The extension's log, made when first needed. */
export const theLog = (): LogOutputChannel => (log ??= window.createOutputChannel("PROVE", { log: true }));

/** Shows what went wrong, once. A cancelled job is no error. */
export function report(error: unknown): void {
  if (error instanceof CancellationError || (error instanceof Error && error.name === "AbortError")) return;
  if (error instanceof Mistake) {
    theLog().warn(error.message, ...(error.cause instanceof Error ? [error.cause.stack ?? error.cause.message] : []));
    void show(`${sentence(error.what)}. ${sentence(error.remedy)}.`, error instanceof Remediable ? error.button : undefined);
    return;
  }
  theLog().error(error instanceof Error ? error : String(error));
  const message = error instanceof Error ? error.message : String(error);
  void show(`PROVE broke: ${message}`, { title: "Show Log", command: "workbench.action.output.show.prove-rl.prove-rl.PROVE" });
}

async function show(message: string, button?: Button): Promise<void> {
  const chosen = await window.showErrorMessage(message, ...(button ? [button.title] : []));
  if (!button || chosen !== button.title) return;
  if (button.title === "Show Log") theLog().show();
  else await commands.executeCommand(button.command, ...(button.arguments ?? []));
}

/** Identifiers stay verbatim; only a word of the language may be capitalised. */
const sentence = (text: string) => (/^[a-z][a-z']*( |$)/.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text);

/** What never waits for an answer may still fail: its error is reported. */
export function reporting(work: Promise<unknown>): void {
  work.catch(report);
}
