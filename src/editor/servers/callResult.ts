/** Shows the result of a call in a notification. */
import { window } from "vscode";
import type { OutcomeKind } from "../../environment/outcome.ts";
import { reportRejection } from "../shared/report.ts";

export interface CallNotification {
  readonly message: string;
  readonly button: string;
  /** Runs when the button is pressed. */
  readonly show: () => Promise<void>;
}

/** Shows a notification with a button; a warning unless the call succeeded. */
export function showOutcome(
  outcome: OutcomeKind,
  { message, button, show }: CallNotification,
): void {
  const answer =
    outcome === "ok"
      ? window.showInformationMessage(message, button)
      : window.showWarningMessage(message, button);
  reportRejection(Promise.resolve(answer).then(it => (it ? show() : undefined)));
}

/** Shortens a text for a notification. */
export const shorten = (text: string): string =>
  text.length > 160 ? `${text.slice(0, 159)}…` : text;
