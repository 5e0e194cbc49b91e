/**
 * The filter language of the Tasks view: words, and fields such as `server:banking kind:clarify
 * tool:transfer`. All of them must match; values separated by commas are alternatives. When a file
 * has grown, only its new tasks are checked.
 */
import type { TaskEntry } from "../attempts/taskIndex.ts";
import { forEachInSlices } from "../shared/timeSlices.ts";

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
  /** The text of the filter, trimmed. */
  readonly text: string;
  readonly fields: readonly { readonly field: FilterField; readonly values: readonly string[] }[];
  /** In lower case. */
  readonly words: readonly string[];
}

/**
 * Parses a filter. A token that is not a field is a word, so every text is a valid filter: `09:00`
 * searches for that time.
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

/** The words of a text in lower case; a quoted phrase is one word. */
const splitTokens = (text: string): readonly string[] =>
  [...text.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)]
    .map(it => it[1] ?? it[0])
    .filter(it => it !== "");

const isFilterField = (name: string): name is FilterField => name in fieldValues;

export const matchesFields = (entry: TaskEntry, { fields }: TaskFilter): boolean =>
  fields.every(({ field, values }) => {
    const actual = fieldValues[field](entry);
    return values.some(value => actual.some(it => it.toLowerCase().includes(value)));
  });

/** Whether all fields match, and all words occur in the entry. */
function matchesFilter(entry: TaskEntry, filter: TaskFilter): boolean {
  if (!matchesFields(entry, filter)) return false;
  if (filter.words.length === 0) return true;
  const { id, request, kind, split, servers, goals } = entry;
  const text = [id, request, kind, split, ...servers, ...goals].join(" ").toLowerCase();
  return filter.words.every(it => text.includes(it));
}

/** How many tasks have each value of a field, the most frequent value first. */
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

export class FilteredTasks {
  readonly tasks: readonly TaskEntry[];
  readonly filter: TaskFilter;
  readonly #matching: TaskEntry[] = [];
  #checked = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(tasks: readonly TaskEntry[], filter: TaskFilter) {
    this.tasks = tasks;
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
