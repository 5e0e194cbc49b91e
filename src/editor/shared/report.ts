/**
 * Shows errors to the person and writes the log. A `UserError` is shown with its remedy, as a
 * button where the remedy is a command. Any other error is a bug: its stack goes to the log.
 */
import { CancellationError, commands, type LogOutputChannel, window } from "vscode";
import { UserError } from "../../userError.ts";
import { toEditorText } from "./editorText.ts";
import { showError } from "./notifications.ts";
import { toPlainText } from "./text.ts";

/** A button of a notification, and the editor command that it runs. */
interface Button {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

/** A `UserError` whose remedy is a command, offered as a button. */
export class ActionableError extends UserError {
  readonly button: Button;

  constructor(what: string, remedy: string, button: Button, options?: ErrorOptions) {
    super(what, remedy, options);
    this.button = button;
  }
}

let log: LogOutputChannel | undefined;

/** The extension's log, created on first use. */
export const getLog = (): LogOutputChannel =>
  (log ??= window.createOutputChannel("PROVE", { log: true }));

/** What happened and what to do in the editor, as sentences. `alternative`: what else can be done. */
export const formatUserError = ({ what, remedy }: UserError, alternative?: string): string =>
  toEditorText(
    `${capitalize(what)}. ${capitalize(remedy)}${alternative === undefined ? "" : `, or ${alternative}`}.`,
  );

/** Shows an error once. A cancelled job is not an error. */
export function reportError(error: unknown): void {
  if (error instanceof CancellationError || (error instanceof Error && error.name === "AbortError"))
    return;
  if (error instanceof UserError) {
    getLog().warn(
      error.message,
      ...(error.cause instanceof Error ? [error.cause.stack ?? error.cause.message] : []),
    );
    const button = error instanceof ActionableError ? error.button : undefined;
    void showMessage(formatUserError(error), button?.title, () =>
      commands.executeCommand(button!.command, ...(button!.arguments ?? [])),
    );
    return;
  }
  getLog().error(error instanceof Error ? error : String(error));
  void showMessage(
    `PROVE failed: ${error instanceof Error ? error.message : String(error)}`,
    "Show Log",
    () => getLog().show(),
  );
}

async function showMessage(
  message: string,
  title: string | undefined,
  run: () => unknown,
): Promise<void> {
  const chosen = await showError(message, ...(title === undefined ? [] : [title]));
  if (chosen !== undefined) await run();
}

/** Capitalizes a sentence that begins with an English word; an identifier stays as it is. */
const capitalize = (text: string) =>
  /^[a-z][a-z']*( |$)/.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text;

/** Reports the error of a promise that nobody awaits. */
export function reportRejection(promise: Promise<unknown>): void {
  promise.catch(reportError);
}

/** Runs a function for the editor. An error's message has no links, and no stack with them. */
export async function withPlainErrors<T>(run: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof CancellationError) throw error;
    const message = toPlainText(error.message);
    if (message === error.message) throw error;
    throw new Error(message, { cause: error });
  }
}
