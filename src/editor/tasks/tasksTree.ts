/**
 * The Tasks view: the task files of the workspace, each with its tasks as its index shows them.
 * Reads no task whole.
 */
import {
  EventEmitter,
  MarkdownString,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  commands,
  type Disposable,
  type TreeDataProvider,
} from "vscode";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Task } from "../../trajectory/task.ts";
import { icons } from "../shared/icons.ts";
import { listFiles, type ProveFolder } from "../shared/proveFolder.ts";
import { FilteredTasks, parseTaskFilter, type TaskFilter } from "./taskFilter.ts";
import { indexTasks, readTask, type TaskEntry, type TaskIndex } from "./taskIndex.ts";
import { promptForFilter, promptForSearch } from "./taskPrompts.ts";

export type TasksNode =
  | { readonly kind: "taskFile"; readonly file: Uri }
  | {
      readonly kind: "range";
      readonly file: Uri;
      readonly from: number;
      readonly size: number;
      readonly entries: readonly TaskEntry[];
    }
  | { readonly kind: "task"; readonly file: Uri; readonly entry: TaskEntry }
  | {
      readonly kind: "skipped";
      readonly file: Uri;
      readonly line: number;
      readonly reason: string;
    };

/**
 * More rows than this are shown in ranges, and more ranges in larger ones, so that a large file
 * opens at once.
 */
const maxRows = 100;

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

export class TasksTree implements TreeDataProvider<TasksNode>, Disposable {
  readonly #changed = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #folder: ProveFolder;
  readonly #indexes = new Map<string, Promise<TaskIndex>>();
  readonly #filteredTasks = new Map<string, FilteredTasks>();
  #filter: TaskFilter = parseTaskFilter("");
  #isRefreshDue = false;
  /** Milliseconds that the last reading took. */
  #readMilliseconds = 0;

  constructor(folder: ProveFolder) {
    this.#folder = folder;
  }

  /**
   * Shows the files as they are now. A file that is being written is read on again and again, but a
   * quarter of the time at most.
   */
  refresh(): void {
    if (this.#isRefreshDue) return;
    this.#isRefreshDue = true;
    void this.#waitUntilRead().then(() => {
      this.#isRefreshDue = false;
      this.#indexes.clear();
      this.#changed.fire(undefined);
    });
  }

  async #waitUntilRead(): Promise<void> {
    await Promise.allSettled(this.#indexes.values());
    await pause(3 * this.#readMilliseconds);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** Asks for the filter that a task must pass to be shown; an empty one shows all. */
  async promptForFilter(): Promise<void> {
    this.#filter = parseTaskFilter(
      await promptForFilter(this.#filter.text, () => this.#readIndexes()),
    );
    this.#filteredTasks.clear();
    await commands.executeCommand("setContext", "prove.isFiltered", this.#filter.text !== "");
    this.#changed.fire(undefined);
  }

  /** Looks for words in all that tasks say; what is chosen is the task to open. */
  async promptForSearch(): Promise<Extract<TasksNode, { kind: "task" }>> {
    const { file, entry } = await promptForSearch(() => this.#readIndexes());
    return { kind: "task", file: Uri.file(file), entry };
  }

  async #readIndexes(): Promise<readonly TaskIndex[]> {
    return Promise.all((await this.listFiles()).map(it => this.readIndex(it)));
  }

  async listFiles(): Promise<Uri[]> {
    return this.#folder.uri ? listFiles(this.#folder.getPart("tasks"), ".tasks.jsonl") : [];
  }

  readIndex(file: Uri): Promise<TaskIndex> {
    const known = this.#indexes.get(file.fsPath);
    if (known) return known;
    const began = performance.now();
    const index = indexTasks(file.fsPath).finally(
      () => (this.#readMilliseconds = performance.now() - began),
    );
    this.#indexes.set(file.fsPath, index);
    return index;
  }

  /** The index of a file as it is written now. */
  rereadIndex(file: Uri): Promise<TaskIndex> {
    this.#indexes.delete(file.fsPath);
    return this.readIndex(file);
  }

  /** A task of any file, by its id. */
  async findTask(id: string): Promise<Task | undefined> {
    for (const file of await this.listFiles()) {
      const entry = (await this.readIndex(file)).entries.find(it => it.id === id);
      if (entry) return readTask(file.fsPath, entry);
    }
    return undefined;
  }

  async getChildren(node?: TasksNode): Promise<TasksNode[]> {
    if (!node) return this.#listFileNodes();
    switch (node.kind) {
      case "taskFile":
        return this.#listTaskNodes(node.file);
      case "range":
        return createRows(node.file, node.entries, node.from);
      case "task":
      case "skipped":
        return [];
      default:
        throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
    }
  }

  async getTreeItem(node: TasksNode): Promise<TreeItem> {
    switch (node.kind) {
      case "taskFile":
        return createFileItem(
          node.file,
          await this.readIndex(node.file),
          await this.#listMatching(node.file),
          this.#filter,
        );
      case "range":
        return createRangeItem(node, this.#filter);
      case "task":
        return createTaskItem(node);
      case "skipped":
        return createSkippedItem(node);
      default:
        throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
    }
  }

  async #listFileNodes(): Promise<TasksNode[]> {
    const files = await this.listFiles();
    const shown = await Promise.all(
      files.map(async file => !this.#filter.text || (await this.#listMatching(file)).length > 0),
    );
    return files.flatMap((file, i) => (shown[i] ? [{ kind: "taskFile", file }] : []));
  }

  /** The tasks of a file that the filter lets through. */
  async #listMatching(file: Uri): Promise<readonly TaskEntry[]> {
    const { entries } = await this.readIndex(file);
    const known = this.#filteredTasks.get(file.fsPath);
    const filtered =
      known?.tasks === entries && known.filter === this.#filter
        ? known
        : new FilteredTasks(entries, this.#filter);
    this.#filteredTasks.set(file.fsPath, filtered);
    return filtered.list();
  }

  async #listTaskNodes(file: Uri): Promise<TasksNode[]> {
    const { skipped } = await this.readIndex(file);
    const torn = skipped.slice(0, maxRows).map(it => ({ kind: "skipped" as const, file, ...it }));
    return [...torn, ...createRows(file, await this.#listMatching(file), 0)];
  }
}

/**
 * Tasks as rows: as they are, or in ranges of a hundred, a thousand, … so that no row has more than
 * a hundred below it.
 */
function createRows(file: Uri, entries: readonly TaskEntry[], start: number): TasksNode[] {
  if (entries.length <= maxRows) return entries.map(entry => ({ kind: "task", file, entry }));
  let size = maxRows;
  while (entries.length / size > maxRows) size *= 10;
  const ranges = Array.from({ length: Math.ceil(entries.length / size) }, (_, n) => n * size);
  return ranges.map(from => ({
    kind: "range",
    file,
    from: start + from,
    size,
    entries: entries.slice(from, from + size),
  }));
}

function createFileItem(
  file: Uri,
  { entries, skipped }: TaskIndex,
  shown: readonly TaskEntry[],
  filter: TaskFilter,
): TreeItem {
  const item = new TreeItem(
    basename(file.fsPath, ".tasks.jsonl"),
    filter.text ? Expanded : Collapsed,
  );
  item.id = `${file.toString()}?${filter.text}`;
  item.description = `${filter.text ? `${formatCount(shown.length)} of ` : ""}${formatCount(entries.length)} tasks${skipped.length ? `, ${formatCount(skipped.length)} skipped` : ""}`;
  item.iconPath = icons.taskFile;
  item.resourceUri = file;
  item.tooltip = file.fsPath;
  item.contextValue = "taskFile";
  return item;
}

function createRangeItem(
  { file, from, size, entries }: Extract<TasksNode, { kind: "range" }>,
  filter: TaskFilter,
): TreeItem {
  const item = new TreeItem(
    `${formatCount(from + 1)}–${formatCount(from + entries.length)}`,
    Collapsed,
  );
  // by where it begins: it stays open while the file grows
  item.id = `${file.toString()}?${filter.text}#${from}/${size}`;
  item.contextValue = "range";
  return item;
}

function createTaskItem(node: Extract<TasksNode, { kind: "task" }>): TreeItem {
  const { request, id, kind, split, servers, goals } = node.entry;
  const item = new TreeItem(request.length > 90 ? `${request.slice(0, 89)}…` : request, None);
  item.id = `${node.file.toString()}#${node.entry.offset}`;
  item.description = goals.length
    ? `${servers.join(", ")} · ${goals.length} ${goals.length === 1 ? "call" : "calls"}`
    : `${servers.join(", ")} · ${kind}`;
  item.iconPath = goals.length ? icons.task : icons.abstention;
  item.tooltip = new MarkdownString().appendText(
    `${request}\n\n${id}, ${kind}, ${split}\n${goals.join(" → ")}`,
  );
  item.contextValue = "task";
  item.command = { command: "prove.openTranscript", title: "Open Transcript", arguments: [node] };
  return item;
}

function createSkippedItem({
  file,
  line,
  reason,
}: Extract<TasksNode, { kind: "skipped" }>): TreeItem {
  const item = new TreeItem(`line ${line} is skipped`, None);
  item.description = reason;
  item.tooltip = reason;
  item.iconPath = icons.warning;
  item.contextValue = "skipped";
  item.command = { command: "vscode.open", title: "Open File", arguments: [file] };
  return item;
}

const formatCount = (n: number) => n.toLocaleString("en");
