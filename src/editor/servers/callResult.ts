/** Shows the result of a call in a notification. */
import type { OutcomeKind } from "../../environment/outcome.ts";
import { showInformation, showWarning } from "../shared/notifications.ts";
import { truncateText } from "../shared/plainText.ts";
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
  const answer = outcome === "ok" ? showInformation(message, button) : showWarning(message, button);
  reportRejection(answer.then(it => (it ? show() : undefined)));
}

/** Shortens a text for a notification. */
export const shorten = (text: string): string => truncateText(text, 160);
