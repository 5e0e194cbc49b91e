/**
 * Asks for a filter of the Tasks view. Suggests fields and their values, with the number of tasks
 * that have each.
 */
import type { QuickPickItem } from "vscode";
import { formatCount } from "../shared/count.ts";
import { createPick, setItems } from "../shared/notifications.ts";
import { FilteredTasks } from "./filteredTasks.ts";
import { showLiveQuickPick } from "./liveQuickPick.ts";
import {
  countFieldValues,
  filterFieldNames,
  parseTaskFilter,
  type FilterField,
} from "./taskFilter.ts";
import type { TaskIndex } from "../attempts/taskIndex.ts";

/** Reads the indexes of all tasks files. */
export type ReadIndexes = () => Promise<readonly TaskIndex[]>;

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
