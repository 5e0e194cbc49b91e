/**
 * Asks the person to choose one item, to choose several, or to type a value. Escape throws a
 * `CancellationError`, the back button a `BackNavigation`.
 */
import {
  CancellationError,
  QuickInputButtons,
  type Disposable,
  type Event,
  type QuickInput,
  type QuickInputButton,
  type QuickPickItem,
} from "vscode";
import { createInput, createPick, setItems, setPlaceholder, setProblem } from "./notifications.ts";

/** Thrown when the person goes back to the previous question. */
export class BackNavigation extends Error {}

export interface Question {
  /** What the series of questions is about. With a title, the input stays open without focus. */
  readonly title?: string;
  readonly text: string;
  /** Whether there is a previous question to go back to. */
  readonly hasBack?: boolean;
}

/** Asks the person to choose one item. `onType` is told the text that filters the items. */
export async function pickOne<Item extends QuickPickItem>(
  items: readonly Item[],
  question: Question | string,
  onType?: (text: string) => void,
): Promise<Item> {
  const [chosen] = await showPick(items, question, { onType });
  return chosen!;
}

interface PickManyOptions<Item> {
  readonly selected?: readonly Item[];
  readonly onType?: ((text: string) => void) | undefined;
  /** Returns why these items cannot be chosen together, or undefined. */
  readonly validate?: (items: readonly Item[]) => string | undefined;
}

/** Asks the person to choose any number of items. */
export const pickMany = <Item extends QuickPickItem>(
  items: readonly Item[],
  question: Question,
  options: PickManyOptions<Item> = {},
): Promise<readonly Item[]> => showPick(items, question, { selected: [], ...options });

function showPick<Item extends QuickPickItem>(
  items: readonly Item[],
  questionOrText: Question | string,
  { selected, onType, validate = () => undefined }: PickManyOptions<Item>,
): Promise<readonly Item[]> {
  const question: Question =
    typeof questionOrText === "string" ? { text: questionOrText } : questionOrText;
  const box = createPick<Item>({ title: question.title, placeholder: question.text });
  const plainItems = setItems(box, items);
  const originals = new Map(plainItems.map((it, i) => [it, items[i]!]));
  box.matchOnDescription = true;
  box.matchOnDetail = true;
  if (selected) {
    box.canSelectMany = true;
    box.selectedItems = plainItems.filter(it => selected.includes(originals.get(it)!));
  }
  return showInput(box, question, accept => [
    box.onDidChangeValue(it => onType?.(it)),
    box.onDidAccept(() => {
      const chosen = box.selectedItems.map(it => originals.get(it)!);
      if (!box.canSelectMany && chosen.length === 0) return;
      const problem = validate(chosen);
      if (problem === undefined) accept(chosen);
      else setPlaceholder(box, `${problem} — ${question.text}`);
    }),
  ]);
}

interface TextOptions {
  readonly value?: string;
  readonly placeholder?: string;
  /** Returns what is wrong with a text, or undefined; shown as the person types. */
  readonly validate: (text: string) => string | undefined;
  /** Is told each text that is typed, so that none is lost on Escape. */
  readonly onType?: (text: string) => void;
  /** Hides the typed text. */
  readonly isSecret?: boolean;
}

/** Asks the person to type a text. Only a valid text is accepted. */
export function askText(
  question: Question,
  { value = "", placeholder, validate, onType, isSecret = false }: TextOptions,
): Promise<string> {
  const box = createInput(question.text, { title: question.title, placeholder });
  box.value = value;
  box.password = isSecret;
  if (value) box.valueSelection = [0, value.length];
  return showInput(box, question, accept => [
    box.onDidChangeValue(text => {
      setProblem(box, validate(text));
      onType?.(text);
    }),
    box.onDidAccept(() => {
      const problem = validate(box.value);
      if (problem === undefined) accept(box.value);
      else setProblem(box, problem);
    }),
  ]);
}

/**
 * Asks one question after another; the back button returns to the previous one. A question that
 * resolves to `false` was not shown, and the back button skips it.
 */
export async function askInSequence(
  questions: readonly ((hasBack: boolean) => Promise<unknown>)[],
): Promise<void> {
  const answered: number[] = [];
  for (let i = 0; i < questions.length;) {
    try {
      if ((await questions[i]!(answered.length > 0)) !== false) answered.push(i);
      i++;
    } catch (error) {
      const previous = error instanceof BackNavigation ? answered.pop() : undefined;
      if (previous === undefined) throw error;
      i = previous;
    }
  }
}

/** Creates a validator that accepts the whole numbers from `min` to `max`. */
export const createWholeNumberValidator =
  (min: number, max: number) =>
  (text: string): string | undefined =>
    /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max
      ? undefined
      : `enter a whole number from ${min} to ${max}`;

/** The common part of quick picks and input boxes. */
interface InputWithButtons extends QuickInput {
  buttons: readonly QuickInputButton[];
  readonly onDidTriggerButton: Event<QuickInputButton>;
}

function showInput<T>(
  input: InputWithButtons,
  question: Question,
  listen: (accept: (value: T) => void) => Disposable[],
): Promise<T> {
  // a series of questions survives a click elsewhere
  input.ignoreFocusOut = question.title !== undefined;
  if (question.hasBack) input.buttons = [QuickInputButtons.Back];
  return new Promise<T>((resolve, reject) => {
    const listeners: Disposable[] = [
      ...listen(value => {
        resolve(value);
        input.hide();
      }),
      input.onDidTriggerButton(() => {
        reject(new BackNavigation());
        input.hide();
      }),
      input.onDidHide(() => {
        // has no effect after an answer: only Escape gets here unsettled
        reject(new CancellationError());
        for (const it of listeners) it.dispose();
        input.dispose();
      }),
    ];
    input.show();
  });
}
