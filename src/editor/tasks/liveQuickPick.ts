/** A quick pick whose items are computed from the text that is typed. */
import { CancellationError, type QuickPick, type QuickPickItem } from "vscode";
import { reportError } from "../shared/report.ts";

export interface LiveQuickPick<Item extends QuickPickItem, Result> {
  /** Updates the items for a text. The signal is aborted when the text changes. */
  readonly update: (text: string, signal: AbortSignal) => Promise<void>;
  /** The result of accepting an item, or undefined to stay open. */
  readonly accept: (item: Item | undefined) => Result | undefined;
}

/** Shows the quick pick. Throws a `CancellationError` on Escape. */
export function showLiveQuickPick<Item extends QuickPickItem, Result>(
  box: QuickPick<Item>,
  { update, accept }: LiveQuickPick<Item, Result>,
): Promise<Result> {
  let abort = new AbortController();
  const startUpdate = (text: string) => {
    abort.abort();
    const current = (abort = new AbortController());
    box.busy = true;
    update(text, current.signal)
      .catch(error => current.signal.aborted || reportError(error))
      .finally(() => current === abort && (box.busy = false));
  };
  return new Promise((resolve, reject) => {
    box.onDidChangeValue(startUpdate);
    box.onDidAccept(() => {
      const result = accept(box.activeItems[0] ?? box.selectedItems[0]);
      // `accept` may have set the value, which does not raise onDidChangeValue
      if (result === undefined) return startUpdate(box.value);
      resolve(result);
      box.hide();
    });
    box.onDidHide(() => {
      abort.abort();
      // has no effect after `resolve`: the box was closed by Escape
      reject(new CancellationError());
      box.dispose();
    });
    box.show();
    startUpdate(box.value);
  });
}
