/**
 * The language in which tasks are filtered: words, and fields such as `server:banking kind:clarify
 * tool:transfer`. All must hold; values after a comma are others that do. Runs over thousands of
 * entries in slices. Knows no editor.
 */
import { setImmediate } from "node:timers/promises";
import type { TaskEntry } from "./taskIndex.ts";

const fieldValues = {
  server: it => it.servers,
  kind: it => [it.kind],
  split: it => [it.split],
  tool: it => it.goals,
  knob: it => it.knobs,
  info: it => [it.info],
  persona: it => [it.persona],
  turns: it => [String(it.turns)],
} satisfies Record<string, (entry: TaskEntry) => readonly string[]>;

export type FilterField = keyof typeof fieldValues;

export const filterFieldNames = Object.keys(fieldValues) as readonly FilterField[];

export interface TaskFilter {
  /** As it was typed, without blanks around. */
  readonly text: string;
  readonly fields: readonly { readonly field: FilterField; readonly values: readonly string[] }[];
  /** In small letters. */
  readonly words: readonly string[];
}

/**
 * Reads a filter. What is no field is a word, so every text is a filter: `09:00` looks for that
 * time.
 */
export function parseTaskFilter(text: string): TaskFilter {
  const fields: { field: FilterField; values: readonly string[] }[] = [];
  const words: string[] = [];
  for (const token of splitTokens(text)) {
    const [, field, value] = /^([a-z]+):(.*)$/.exec(token) ?? [];
    if (field !== undefined && isFilterField(field)) {
      const values = value!.split(",").filter(it => it !== "");
      if (values.length) fields.push({ field, values });
    } else words.push(token);
  }
  return { text: text.trim(), fields, words };
}

/** The words of a text in small letters; what stands in quotes is one. */
const splitTokens = (text: string): readonly string[] =>
  [...text.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)]
    .map(it => it[1] ?? it[0])
    .filter(it => it !== "");

const isFilterField = (name: string): name is FilterField => name in fieldValues;

/** Whether every field of a filter holds. */
export const matchesFields = (entry: TaskEntry, { fields }: TaskFilter): boolean =>
  fields.every(({ field, values }) => {
    const has = fieldValues[field](entry);
    return values.some(value => has.some(it => it.toLowerCase().includes(value)));
  });

/** Whether every field holds and every word occurs in what the tree shows of the task. */
export function matchesFilter(entry: TaskEntry, filter: TaskFilter): boolean {
  if (!matchesFields(entry, filter)) return false;
  if (filter.words.length === 0) return true;
  const text =
    `${entry.id} ${entry.request} ${entry.kind} ${entry.split} ${entry.servers.join(" ")} ${entry.goals.join(" ")}`.toLowerCase();
  return filter.words.every(it => text.includes(it));
}

/** Milliseconds of work in one go. */
const sliceMilliseconds = 8;

/**
 * Takes items one by one, and lets the host do other things in between. Throws the signal's reason
 * where it is aborted.
 */
export async function forEachInSlices<Item>(
  items: Iterable<Item>,
  take: (item: Item) => void,
  signal?: AbortSignal,
): Promise<void> {
  let began = performance.now();
  for (const it of items) {
    take(it);
    if (performance.now() - began < sliceMilliseconds) continue;
    await setImmediate();
    signal?.throwIfAborted();
    began = performance.now();
  }
}

/**
 * The entries of a list that a filter lets through; when the list has grown, only the new ones are
 * looked at.
 */
export class FilteredTasks {
  readonly tasks: readonly TaskEntry[];
  readonly filter: TaskFilter;
  readonly #matching: TaskEntry[] = [];
  #checked = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(of: readonly TaskEntry[], filter: TaskFilter) {
    this.tasks = of;
    this.filter = filter;
  }

  async list(signal?: AbortSignal): Promise<readonly TaskEntry[]> {
    if (this.filter.text === "") return this.tasks;
    this.#pending = this.#pending.then(() => this.#checkNew());
    await this.#pending;
    signal?.throwIfAborted();
    return this.#matching;
  }

  async #checkNew(): Promise<void> {
    await forEachInSlices(this.#takeUnchecked(), it => {
      if (matchesFilter(it, this.filter)) this.#matching.push(it);
    });
  }

  *#takeUnchecked(): Generator<TaskEntry> {
    while (this.#checked < this.tasks.length) yield this.tasks[this.#checked++]!;
  }
}

/** How many tasks have each value of a field, the commonest first. */
export async function countFieldValues(
  field: FilterField,
  entries: readonly TaskEntry[],
  signal?: AbortSignal,
): Promise<readonly (readonly [value: string, n: number])[]> {
  const counts = new Map<string, number>();
  await forEachInSlices(
    entries,
    it => {
      for (const value of new Set(fieldValues[field](it)))
        counts.set(value, (counts.get(value) ?? 0) + 1);
    },
    signal,
  );
  return [...counts].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}
