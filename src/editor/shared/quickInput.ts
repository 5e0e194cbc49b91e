/**
 * Questions to a person: choose one, choose several, type a value. Escape throws a
 * `CancellationError`, the back button a `Back`. Knows nothing of what is asked.
 */
import {
  CancellationError,
  QuickInputButtons,
  window,
  type Disposable,
  type Event,
  type QuickInput,
  type QuickInputButton,
  type QuickPick,
  type QuickPickItem,
} from "vscode";

/** The person wants to answer the question before once more. */
export class BackNavigation extends Error {}

export interface Question {
  /** What the questions together are about. */
  readonly title?: string;
  readonly text: string;
  /** Whether there is a question before this one. */
  readonly hasBack?: boolean;
}

/** Asks to choose one. */
export async function pickOne<Item extends QuickPickItem>(
  items: readonly Item[],
  question: Question | string,
): Promise<Item> {
  const [chosen] = await showPick(items, question, () => undefined);
  return chosen!;
}

export interface PickManyOptions<Item> {
  readonly selected?: readonly Item[];
  /** Why these cannot be chosen together. */
  readonly validate?: (items: readonly Item[]) => string | undefined;
}

/** Asks to choose any number of them. */
export const pickMany = <Item extends QuickPickItem>(
  items: readonly Item[],
  question: Question,
  { selected = [], validate = () => undefined }: PickManyOptions<Item> = {},
): Promise<readonly Item[]> =>
  showPick(items, question, validate, box => {
    box.canSelectMany = true;
    box.selectedItems = selected;
  });

function showPick<Item extends QuickPickItem>(
  items: readonly Item[],
  asked: Question | string,
  complaint: (items: readonly Item[]) => string | undefined,
  prepare: (box: QuickPick<Item>) => void = () => {},
): Promise<readonly Item[]> {
  const question = typeof asked === "string" ? { text: asked } : asked;
  const box = window.createQuickPick<Item>();
  box.items = items;
  box.placeholder = question.text;
  box.matchOnDescription = true;
  box.matchOnDetail = true;
  prepare(box);
  return showInput(box, question, take => [
    box.onDidAccept(() => {
      const chosen = box.selectedItems;
      if (!box.canSelectMany && chosen.length === 0) return;
      const why = complaint(chosen);
      if (why === undefined) take([...chosen]);
      else box.placeholder = `${why} — ${question.text}`;
    }),
  ]);
}

export interface TextOptions {
  readonly value?: string;
  readonly placeholder?: string;
  /** Why a text will not do; told as it is typed. */
  readonly validate: (text: string) => string | undefined;
  /** Nobody sees what is typed. */
  readonly isSecret?: boolean;
}

/**
 * Asks for a text. What is wrong with it is said as it is typed, and it is taken only when nothing
 * is.
 */
export function askText(
  question: Question,
  { value = "", placeholder, validate, isSecret = false }: TextOptions,
): Promise<string> {
  const box = window.createInputBox();
  box.value = value;
  box.prompt = question.text;
  box.placeholder = placeholder;
  box.password = isSecret;
  if (value) box.valueSelection = [0, value.length];
  return showInput(box, question, take => [
    box.onDidChangeValue(text => (box.validationMessage = validate(text))),
    box.onDidAccept(() => {
      const why = validate(box.value);
      if (why === undefined) take(box.value);
      else box.validationMessage = why;
    }),
  ]);
}

/**
 * Asks one question after another; the back button goes to the one before. A question that answers
 * `false` was not asked and is passed over.
 */
export async function askInSequence(
  questions: readonly ((hasBack: boolean) => Promise<unknown>)[],
): Promise<void> {
  const asked: number[] = [];
  for (let i = 0; i < questions.length;) {
    try {
      if ((await questions[i]!(asked.length > 0)) !== false) asked.push(i);
      i++;
    } catch (error) {
      const before = error instanceof BackNavigation ? asked.pop() : undefined;
      if (before === undefined) throw error;
      i = before;
    }
  }
}

/** Why a text is no whole number between two, or undefined. */
export const wholeNumberValidator =
  (least: number, most: number) =>
  (text: string): string | undefined =>
    /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most
      ? undefined
      : `a whole number from ${least} to ${most}`;

/** What pickers and input boxes have alike. */
interface InputBoxOrPick extends QuickInput {
  buttons: readonly QuickInputButton[];
  readonly onDidTriggerButton: Event<QuickInputButton>;
}

function showInput<T>(
  box: InputBoxOrPick,
  question: Question,
  listen: (take: (value: T) => void) => Disposable[],
): Promise<T> {
  box.title = question.title;
  // one of several questions is not lost with a glance elsewhere
  box.ignoreFocusOut = question.title !== undefined;
  if (question.hasBack) box.buttons = [QuickInputButtons.Back];
  return new Promise<T>((resolve, reject) => {
    const listening: Disposable[] = [
      ...listen(value => {
        resolve(value);
        box.hide();
      }),
      box.onDidTriggerButton(() => {
        reject(new BackNavigation());
        box.hide();
      }),
      box.onDidHide(() => {
        // what was answered has been told before: this is Escape
        reject(new CancellationError());
        for (const it of listening) it.dispose();
        box.dispose();
      }),
    ];
    box.show();
  });
}
