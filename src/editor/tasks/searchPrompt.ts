/** Asks for words to search for in the texts of tasks, and lists hits as they are found. */
import { setTimeout as pause } from "node:timers/promises";
import type { QuickPickItem } from "vscode";
import { icons } from "../shared/icons.ts";
import { createPick, setItems } from "../shared/notifications.ts";
import type { ReadIndexes } from "./filterPrompt.ts";
import { showLiveQuickPick } from "./liveQuickPick.ts";
import { parseTaskFilter } from "./taskFilter.ts";
import type { TaskEntry, TaskIndex } from "../attempts/taskIndex.ts";
import { searchTasks, type SearchHit } from "./taskSearch.ts";

export interface TaskLocation {
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
