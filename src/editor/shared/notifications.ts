/**
 * Notifications, progress, status bar items, input boxes, quick picks and hovers. All texts are
 * shown as plain text: text from outside never becomes a link or a command. No other file calls
 * these editor functions.
 */
import {
  MarkdownString,
  ProgressLocation,
  type Uri,
  window,
  workspace,
  type CancellationToken,
  type Command,
  type InputBox,
  type Progress,
  type QuickPick,
  type QuickPickItem,
  type StatusBarItem,
} from "vscode";
import { toEditorText } from "./editorText.ts";
import { toPlainLine, toPlainText, truncateText } from "./text.ts";

/** The editor cuts notifications at 1,000 characters without a sign. */
const maxMessageLength = 600;

const toMessage = (text: string) => truncateText(toPlainText(toEditorText(text)), maxMessageLength);

/** Shows a notification. Resolves to the button that was pressed, if any. */
export const showInformation = async (
  message: string,
  ...buttons: readonly string[]
): Promise<string | undefined> => window.showInformationMessage(toMessage(message), ...buttons);

/** Shows a warning. Resolves to the button that was pressed, if any. */
export const showWarning = async (
  message: string,
  ...buttons: readonly string[]
): Promise<string | undefined> => window.showWarningMessage(toMessage(message), ...buttons);

/** Shows an error. Resolves to the button that was pressed, if any. */
export const showError = async (
  message: string,
  ...buttons: readonly string[]
): Promise<string | undefined> => window.showErrorMessage(toMessage(message), ...buttons);

interface Confirmation {
  readonly question: string;
  /** The whole text is shown, however long it is. */
  readonly detail: string;
  /** The button that agrees. */
  readonly button: string;
}

/** Asks in a modal dialog whether to go on. */
export async function confirm({ question, detail, button }: Confirmation): Promise<boolean> {
  const options = { modal: true, detail: toPlainText(detail) };
  return (await window.showWarningMessage(toMessage(question), options, button)) === button;
}

/** Moves a file or folder to the trash or, where there is none, deletes it if the person agrees. */
export async function moveToTrash(uri: Uri, name: string): Promise<void> {
  try {
    await workspace.fs.delete(uri, { recursive: true, useTrash: true });
  } catch (error) {
    // on a remote machine, for example
    const agreed = await confirm({
      question: `${name} cannot be moved to the trash. Delete it permanently?`,
      detail: String(error instanceof Error ? error.message : error),
      button: "Delete Permanently",
    });
    if (agreed) await workspace.fs.delete(uri, { recursive: true });
  }
}

export type ProgressReport = Progress<{ message: string; increment: number }>;

/** Shows the progress of a job in a notification with a button to cancel it. */
export const showProgress = async <T>(
  title: string,
  run: (progress: ProgressReport, token: CancellationToken) => Promise<T>,
): Promise<T> =>
  window.withProgress(
    { location: ProgressLocation.Notification, title: toMessage(title), cancellable: true },
    (progress, token) =>
      run(
        {
          report: ({ message, increment }) =>
            progress.report({ message: toMessage(message), increment }),
        },
        token,
      ),
  );

/** Shows in the title of a view that a job is being done, without a notification. */
export const showViewProgress = async <T>(
  viewId: `prove.${string}`,
  run: () => Promise<T>,
): Promise<T> => window.withProgress({ location: { viewId } }, run);

interface StatusContent {
  /** The name of a product icon. */
  readonly icon: string;
  readonly text: string;
  readonly tooltip: string;
  readonly command: Command;
}

/** An item of the status bar, hidden at first. */
export interface StatusItem {
  show(content: StatusContent): void;
  hide(): void;
  dispose(): void;
}

/** Creates an item of the status bar. `name` is its entry in the status bar's menu. */
export function createStatusItem(id: string, name: string): StatusItem {
  const item = window.createStatusBarItem(id);
  item.name = name;
  return {
    show: ({ icon, text, tooltip, command }) =>
      showStatus(item, {
        icon,
        text: toPlainLine(text),
        tooltip: toPlainText(toEditorText(tooltip)),
        command,
      }),
    hide: () => item.hide(),
    dispose: () => item.dispose(),
  };
}

function showStatus(status: StatusBarItem, { icon, text, tooltip, command }: StatusContent): void {
  status.text = `$(${icon}) ${text}`;
  status.tooltip = tooltip;
  status.command = command;
  status.show();
}

interface InputTexts {
  readonly title: string | undefined;
  readonly placeholder: string | undefined;
}

/** Creates a quick pick without items. */
export function createPick<Item extends QuickPickItem>(texts: InputTexts): QuickPick<Item> {
  const pick = window.createQuickPick<Item>();
  pick.title = texts.title && toPlainLine(texts.title);
  setPlaceholder(pick, texts.placeholder);
  return pick;
}

/** Sets the items of a quick pick to copies with plain texts, and returns the copies. */
export function setItems<Item extends QuickPickItem>(
  pick: QuickPick<Item>,
  items: readonly Item[],
): readonly Item[] {
  pick.items = items.map(toPlainItem);
  return pick.items;
}

const toPlainItem = <Item extends QuickPickItem>(item: Item): Item => ({
  ...item,
  label: toPlainLine(item.label),
  ...(item.description === undefined ? {} : { description: toPlainLine(item.description) }),
  ...(item.detail === undefined ? {} : { detail: toPlainLine(item.detail) }),
});

/** Creates an input box with a prompt. */
export function createInput(prompt: string, texts: InputTexts): InputBox {
  const box = window.createInputBox();
  box.title = texts.title && toPlainLine(texts.title);
  box.prompt = toPlainLine(prompt);
  setPlaceholder(box, texts.placeholder);
  return box;
}

export function setPlaceholder(
  input: QuickPick<QuickPickItem> | InputBox,
  text: string | undefined,
): void {
  input.placeholder = text && toPlainLine(text);
}

/** Shows what is wrong with the text of an input box, or that nothing is. */
export function setProblem(box: InputBox, problem: string | undefined): void {
  box.validationMessage = problem && toPlainLine(problem);
}

/**
 * Creates a text for hovers and other places that take Markdown only. `json`: shown below as code.
 */
export function createHoverText(text: string, json?: string): MarkdownString {
  const markdown = new MarkdownString().appendText(toPlainText(text));
  return json === undefined ? markdown : markdown.appendCodeblock(toPlainText(json), "json");
}
