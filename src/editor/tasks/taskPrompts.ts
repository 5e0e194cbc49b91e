/**
 * The questions of the Tasks view: for a filter, with the number of tasks that each value would
 * keep; for words to search for, with hits as they are found; for a grouping; and for a tasks file.
 */
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CancellationError, type QuickPick, type QuickPickItem, type Uri, workspace } from "vscode";
import type { TaskEntry, TaskIndex } from "../attempts/taskIndex.ts";
import { icons } from "../shared/icons.ts";
import { createPick, setItems } from "../shared/notifications.ts";
import { pickOne, type Question } from "../shared/quickInput.ts";
import { reportError } from "../shared/report.ts";
import { formatCount } from "../shared/text.ts";
import {
  countFieldValues,
  FilteredTasks,
  type FilterField,
  filterFieldNames,
  parseTaskFilter,
} from "./taskFilter.ts";
import type { Grouping } from "./taskGroups.ts";
import { type SearchHit, searchTasks } from "./taskSearch.ts";

/** Reads the indexes of all tasks files. */
type ReadIndexes = () => Promise<readonly TaskIndex[]>;

const fieldDescriptions: Readonly<Record<FilterField, string>> = {
  server: "servers of the task",
  kind: "normal, or what is unusual about the task",
  split: "training or one of the held-out splits",
  tool: "tool of a required call",
  knob: "knob of the synthesis that was on",
  info: "how much the user tells at first",
  persona: "how the user writes",
  turns: "number of user turns",
};

interface FilterItem extends QuickPickItem {
  /** The text of the filter after this item is chosen; undefined accepts the text as it is. */
  readonly text?: string;
}

/** Asks for the text of a filter. Throws a `CancellationError` on Escape. */
export function promptForFilter(current: string, readIndexes: ReadIndexes): Promise<string> {
  const box = createPick<FilterItem>({
    title: "Filter Tasks",
    placeholder:
      "Words that occur in the request, the id, a server, a call, or fields such as kind:clarify",
  });
  box.value = current;
  const reading = readIndexes();
  return showLiveQuickPick(box, {
    update: async (text, signal) => {
      const indexes = await reading;
      signal.throwIfAborted();
      setItems(box, [
        await createAcceptItem(text, indexes, signal),
        ...(await suggestCompletions(text, indexes, signal)),
      ]);
    },
    accept: item => {
      if (item?.text === undefined) return box.value.trim();
      box.value = item.text;
      return undefined;
    },
  });
}

/** The first item, which accepts the filter as it is. */
async function createAcceptItem(
  text: string,
  indexes: readonly TaskIndex[],
  signal: AbortSignal,
): Promise<FilterItem> {
  const filter = parseTaskFilter(text);
  const matching = await Promise.all(
    indexes.map(it => new FilteredTasks(it.entries, filter).list(signal)),
  );
  const n = matching.reduce((sum, it) => sum + it.length, 0);
  const total = indexes.reduce((sum, it) => sum + it.entries.length, 0);
  const all = formatCount(total, "task");
  return { label: n === total ? `Show all ${all}` : `Show ${n} of ${all}`, alwaysShow: true };
}

/** Completions of the last word: fields if it is empty, otherwise the values of its field. */
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
      // the label must not begin with the text, or it would be sorted above the first row
      .map(([it, n]) => ({
        label: it,
        description: formatCount(n, "task"),
        text: `${before}${start}${it} `,
        alwaysShow: true,
      }))
  );
}

interface TaskLocation {
  readonly file: string;
  readonly entry: TaskEntry;
}

interface SearchItem extends QuickPickItem, Partial<TaskLocation> {}

const maxHits = 200;
/** Milliseconds between updates of the list, and before a search begins while the user types. */
const updateInterval = 150;

/** Asks for words, and returns the chosen task. Throws a `CancellationError` on Escape. */
export function promptForSearch(readIndexes: ReadIndexes): Promise<TaskLocation> {
  const box = createPick<SearchItem>({
    title: "Search Tasks",
    placeholder:
      "Words in anything that is said, called or answered; fields such as server:banking narrow it",
  });
  const reading = readIndexes();
  return showLiveQuickPick(box, {
    update: async (text, signal) => {
      setItems(box, []);
      const filter = parseTaskFilter(text);
      if (filter.words.length === 0) return;
      await pause(updateInterval, undefined, { signal });
      const items: SearchItem[] = [];
      let lastUpdate = 0;
      const show = (note?: string) => {
        lastUpdate = performance.now();
        setItems(box, [...items, ...(note ? [{ label: note, alwaysShow: true }] : [])]);
      };
      for (const index of await reading)
        for await (const hit of searchTasks(index, filter, signal)) {
          items.push(createItem(index, hit));
          if (items.length >= maxHits) return show(`The first ${maxHits} are shown`);
          if (performance.now() - lastUpdate > updateInterval) show();
        }
      show(items.length === 0 ? "No task found" : undefined);
    },
    accept: item => (item?.entry && item.file ? { file: item.file, entry: item.entry } : undefined),
  });
}

const createItem = ({ file }: TaskIndex, { entry, where, excerpt }: SearchHit): SearchItem => ({
  label: excerpt,
  detail: `${where} · ${entry.servers.join(", ")} · ${entry.id}`,
  iconPath: entry.goals.length ? icons.task : icons.abstention,
  alwaysShow: true,
  file,
  entry,
});

const items: readonly { readonly label: string; readonly grouping: Grouping; detail: string }[] = [
  { label: "No groups", grouping: "none", detail: "The tasks in the order of their file" },
  { label: "Server", grouping: "server", detail: "A task on several servers is in several groups" },
  { label: "Kind", grouping: "kind", detail: "Normal, or what is unusual about the task" },
  { label: "Split", grouping: "split", detail: "Training or one of the held-out splits" },
  {
    label: "Success",
    grouping: "success",
    detail: "Whether the teacher succeeds; all tasks of a file are scored once",
  },
];

export async function promptForGrouping(current: Grouping): Promise<Grouping> {
  const { grouping } = await pickOne(
    items.map(it => (it.grouping === current ? { ...it, description: "current" } : it)),
    { title: "Group Tasks", text: "By what to group the tasks" },
  );
  return grouping;
}

interface LiveQuickPick<Item extends QuickPickItem, Result> {
  /** Updates the items for a text. The signal is aborted when the text changes. */
  readonly update: (text: string, signal: AbortSignal) => Promise<void>;
  /** The result of accepting an item, or undefined to stay open. */
  readonly accept: (item: Item | undefined) => Result | undefined;
}

/** Shows the quick pick. Throws a `CancellationError` on Escape. */
function showLiveQuickPick<Item extends QuickPickItem, Result>(
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

/** `last` is the path of the file that was chosen the last time, which comes first. */
export async function pickTasksFile(
  files: readonly Uri[],
  question: Question,
  last?: string,
): Promise<Uri> {
  const lastFirst = files.toSorted((a, b) => Number(b.fsPath === last) - Number(a.fsPath === last));
  const items = lastFirst.map(file => ({
    label: basename(file.fsPath, ".tasks.jsonl"),
    description: workspace.asRelativePath(file),
    iconPath: icons.taskFile,
    file,
  }));
  return (await pickOne(items, question)).file;
}
