/**
 * Errors that are thrown to the editor, which shows their messages in notifications of its own and
 * renders links in them.
 */
import { CancellationError } from "vscode";
import { toPlainText } from "./plainText.ts";

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
