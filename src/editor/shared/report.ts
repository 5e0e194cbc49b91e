/**
 * The one place that shows errors to a person and writes the log. A mistake is shown with its
 * remedy, as a button where the remedy is a command; anything else is ours, keeps its stack in the
 * log, and says so.
 */
import { CancellationError, commands, window, type LogOutputChannel } from "vscode";
import { UserError } from "../../userError.ts";

/** What a button does: a command of the editor. */
export interface Button {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

/** A mistake whose remedy is a command. */
export class ActionableError extends UserError {
  readonly button: Button;

  constructor(what: string, remedy: string, button: Button, options?: ErrorOptions) {
    super(what, remedy, options);
    this.button = button;
  }
}

let log: LogOutputChannel | undefined;

/** The extension's log, made when first needed. */
export const getLog = (): LogOutputChannel =>
  (log ??= window.createOutputChannel("PROVE", { log: true }));

/** Shows what went wrong, once. A cancelled job is no error. */
export function reportError(error: unknown): void {
  if (error instanceof CancellationError || (error instanceof Error && error.name === "AbortError"))
    return;
  if (error instanceof UserError) {
    getLog().warn(
      error.message,
      ...(error.cause instanceof Error ? [error.cause.stack ?? error.cause.message] : []),
    );
    const button = error instanceof ActionableError ? error.button : undefined;
    const message = `${capitalize(error.what)}. ${capitalize(error.remedy)}.`;
    void showMessage(message, button?.title, () =>
      commands.executeCommand(button!.command, ...(button!.arguments ?? [])),
    );
    return;
  }
  getLog().error(error instanceof Error ? error : String(error));
  void showMessage(
    `PROVE broke: ${error instanceof Error ? error.message : String(error)}`,
    "Show Log",
    () => getLog().show(),
  );
}

async function showMessage(
  message: string,
  title: string | undefined,
  act: () => unknown,
): Promise<void> {
  const chosen = await window.showErrorMessage(message, ...(title === undefined ? [] : [title]));
  if (chosen !== undefined) await act();
}

/** Identifiers stay verbatim; only a word of the language may be capitalised. */
const capitalize = (text: string) =>
  /^[a-z][a-z']*( |$)/.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text;

/** What never waits for an answer may still fail: its error is reported. */
export function reportRejection(work: Promise<unknown>): void {
  work.catch(reportError);
}
