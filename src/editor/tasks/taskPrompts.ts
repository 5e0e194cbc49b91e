/**
 * Asks for a filter, offering what there is to filter by with the number of tasks it leaves, and
 * lets a person search all that tasks say, showing what is found as it is found. Knows the tasks'
 * indexes, not the tree.
 */
import { setTimeout as pause } from "node:timers/promises";
import { CancellationError, window, type QuickPick, type QuickPickItem } from "vscode";
import { icons } from "../shared/icons.ts";
import { reportError } from "../shared/report.ts";
import {
  FilteredTasks,
  filterFieldNames,
  parseTaskFilter,
  countFieldValues,
  type FilterField,
} from "./taskFilter.ts";
import type { TaskEntry, TaskIndex } from "./taskIndex.ts";
import { searchTasks } from "./taskSearch.ts";

/** The files' indexes as they are now. */
export type ReadIndexes = () => Promise<readonly TaskIndex[]>;

const fieldDescriptions: Readonly<Record<FilterField, string>> = {
  server: "the servers that a task is on",
  kind: "normal, or one in which something is amiss",
  split: "what training sees, and what is held out from it",
  tool: "a call that must happen",
  knob: "what was done to the task",
  info: "how much the user says",
  persona: "how the user speaks",
  turns: "how often the user speaks",
};

interface FilterItem extends QuickPickItem {
  /** The filter's text once this was chosen; undefined takes it as it is typed. */
  readonly text?: string;
}

/** Asks for a filter. Throws a `CancellationError` on Escape. */
export function promptForFilter(current: string, read: ReadIndexes): Promise<string> {
  const box = window.createQuickPick<FilterItem>();
  box.title = "Filter Tasks";
  box.placeholder =
    "Words that occur in the request, the id, a server, a call, or fields such as kind:clarify";
  box.value = current;
  const reading = read();
  return showLiveQuickPick(
    box,
    async (text, signal) => {
      const indexes = await reading;
      signal.throwIfAborted();
      const shown = await Promise.all(
        indexes.map(it => new FilteredTasks(it.entries, parseTaskFilter(text)).list(signal)),
      );
      const [n, of] = [countAll(shown), countAll(indexes.map(it => it.entries))];
      const take = {
        label: n === of ? `Show all ${formatTaskCount(of)}` : `Show ${n} of ${formatTaskCount(of)}`,
        alwaysShow: true,
      };
      box.items = [take, ...(await suggestCompletions(text, indexes, signal))];
    },
    item => {
      if (item?.text === undefined) return box.value.trim();
      box.value = item.text;
      return undefined;
    },
  );
}

/**
 * What the last word of a filter can become: a field where there is none, a value where there is a
 * field.
 */
async function suggestCompletions(
  text: string,
  indexes: readonly TaskIndex[],
  signal: AbortSignal,
): Promise<readonly FilterItem[]> {
  const [, before, last] = /^(.*?)(\S*)$/s.exec(text)!;
  if (last === "")
    return filterFieldNames.map(it => ({
      label: `${it}:`,
      description: fieldDescriptions[it],
      text: `${before}${it}:`,
      alwaysShow: true,
    }));
  const [, field, value] = /^([a-z]+):(?:.*,)?([^,]*)$/.exec(last!) ?? [];
  if (!filterFieldNames.includes(field as FilterField)) return [];
  const values = await countFieldValues(
    field as FilterField,
    indexes.flatMap(it => it.entries),
    signal,
  );
  const start = last!.slice(0, last!.length - value!.length);
  return (
    values
      .filter(([it]) => it.includes(value!) && it !== value)
      // a label that begins as the text does would be sorted above the first row
      .map(([it, n]) => ({
        label: it,
        description: formatTaskCount(n),
        text: `${before}${start}${it} `,
        alwaysShow: true,
      }))
  );
}

export interface FoundTask {
  readonly file: string;
  readonly entry: TaskEntry;
}

interface SearchResultItem extends QuickPickItem, Partial<FoundTask> {}

/** More results than this nobody reads: better words find better ones. */
const maxResults = 200;

/**
 * Lets a person search, and gives the task that was chosen. Throws a `CancellationError` on Escape.
 */
export function promptForSearch(read: ReadIndexes): Promise<FoundTask> {
  const box = window.createQuickPick<SearchResultItem>();
  box.title = "Search Tasks";
  box.placeholder =
    "Words in anything that is said, called or answered; fields such as server:banking narrow it";
  const reading = read();
  return showLiveQuickPick(
    box,
    async (text, signal) => {
      box.items = [];
      const filter = parseTaskFilter(text);
      if (filter.words.length === 0) return;
      // whoever is still typing means another word
      await pause(150, undefined, { signal });
      const found: SearchResultItem[] = [];
      let shown = 0;
      const show = (status?: string) => {
        shown = performance.now();
        box.items = [...found, ...(status ? [{ label: status, alwaysShow: true }] : [])];
      };
      for (const index of await reading)
        for await (const { entry, where, excerpt } of searchTasks(index, filter, signal)) {
          found.push({
            label: excerpt,
            detail: `${where} · ${entry.servers.join(", ")} · ${entry.id}`,
            iconPath: entry.goals.length ? icons.task : icons.abstention,
            alwaysShow: true,
            file: index.file,
            entry,
          });
          if (found.length >= maxResults) return show(`The first ${maxResults} are shown`);
          if (performance.now() - shown > 150) show();
        }
      show(found.length === 0 ? "Nothing is found" : undefined);
    },
    item => (item?.entry && item.file ? { file: item.file, entry: item.entry } : undefined),
  );
}

/**
 * Shows a picker whose items follow what is typed; the work for a text ends when another is typed.
 * `take` answers what was chosen, or nothing to go on.
 */
function showLiveQuickPick<Item extends QuickPickItem, Taken>(
  box: QuickPick<Item>,
  follow: (text: string, signal: AbortSignal) => Promise<void>,
  take: (item: Item | undefined) => Taken | undefined,
): Promise<Taken> {
  let stop = new AbortController();
  const begin = (text: string) => {
    stop.abort();
    const mine = (stop = new AbortController());
    box.busy = true;
    follow(text, mine.signal)
      .catch(error => mine.signal.aborted || reportError(error))
      .finally(() => mine === stop && (box.busy = false));
  };
  return new Promise((resolve, reject) => {
    box.onDidChangeValue(begin);
    box.onDidAccept(() => {
      const taken = take(box.activeItems[0] ?? box.selectedItems[0]);
      // a value that is set by us is told of by nobody
      if (taken === undefined) return begin(box.value);
      resolve(taken);
      box.hide();
    });
    box.onDidHide(() => {
      stop.abort();
      // what was answered has been told before: this is Escape
      reject(new CancellationError());
      box.dispose();
    });
    box.show();
    begin(box.value);
  });
}

const countAll = (lists: readonly (readonly unknown[])[]) =>
  lists.reduce((sum, it) => sum + it.length, 0);
const formatTaskCount = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "task" : "tasks"}`;
