/** The Tasks view: the task files of the workspace, each with its tasks as its index shows them. Reads no task whole. */
import { EventEmitter, MarkdownString, TreeItem, TreeItemCollapsibleState, commands, window, type Disposable, type TreeDataProvider, type Uri } from "vscode";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Task } from "../trajectory/task.ts";
import { icons } from "./icons.ts";
import { filesIn, type ProveFolder } from "./proveFolder.ts";
import { indexTasks, matches, readTask, type TaskEntry, type TaskIndex } from "./taskIndex.ts";

export type TasksNode =
  | { readonly kind: "taskFile"; readonly file: Uri }
  | { readonly kind: "range"; readonly file: Uri; readonly from: number; readonly entries: readonly TaskEntry[] }
  | { readonly kind: "task"; readonly file: Uri; readonly entry: TaskEntry }
  | { readonly kind: "skipped"; readonly file: Uri; readonly line: number; readonly why: string };

/** More tasks than this are shown in ranges, so that a large file opens at once. */
const rangeSize = 100;

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

export class TasksTree implements TreeDataProvider<TasksNode>, Disposable {
  readonly #changed = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #folder: ProveFolder;
  readonly #indexes = new Map<string, Promise<TaskIndex>>();
  #filter = "";
  #isDue = false;
  /** Milliseconds that the last index took. */
  #took = 0;

  constructor(folder: ProveFolder) {
    this.#folder = folder;
  }

  /** Shows the files as they are now. A file that is being written is read again and again, but a quarter of the time at most. */
  refresh(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    void this.#whenRead().then(() => {
      this.#isDue = false;
      this.#indexes.clear();
      this.#changed.fire(undefined);
    });
  }

  async #whenRead(): Promise<void> {
    await Promise.allSettled(this.#indexes.values());
    await pause(3 * this.#took);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** Asks for the words that a task must contain to be shown; none shows all. */
  async askFilter(): Promise<void> {
    const filter = await window.showInputBox({
      title: "Filter Tasks",
      prompt: "Words that occur in the request, the id, a server, a call, the kind or the split; empty shows all",
      value: this.#filter,
    });
    if (filter === undefined) return;
    this.#filter = filter.trim();
    await commands.executeCommand("setContext", "prove.isFiltered", this.#filter !== "");
    this.#changed.fire(undefined);
  }

  get filter(): string {
    return this.#filter;
  }

  async files(): Promise<Uri[]> {
    return this.#folder.uri ? filesIn(this.#folder.part("tasks"), ".tasks.jsonl") : [];
  }

  index(file: Uri): Promise<TaskIndex> {
    const known = this.#indexes.get(file.fsPath);
    if (known) return known;
    const began = performance.now();
    const index = indexTasks(file.fsPath).finally(() => (this.#took = performance.now() - began));
    this.#indexes.set(file.fsPath, index);
    return index;
  }

  /** A task of any file, by its id. */
  async find(id: string): Promise<Task | undefined> {
    for (const file of await this.files()) {
      const entry = (await this.index(file)).entries.find(it => it.id === id);
      if (entry) return readTask(file.fsPath, entry);
    }
    return undefined;
  }

  async getChildren(node?: TasksNode): Promise<TasksNode[]> {
    if (!node) return this.#roots();
    switch (node.kind) {
      case "taskFile":
        return this.#tasksOf(node.file);
      case "range":
        return node.entries.map(entry => ({ kind: "task", file: node.file, entry }));
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
        return fileItem(node.file, await this.index(node.file), this.#filter);
      case "range":
        return rangeItem(node);
      case "task":
        return taskItem(node);
      case "skipped":
        return skippedItem(node);
      default:
        throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
    }
  }

  async #roots(): Promise<TasksNode[]> {
    const files = await this.files();
    if (!this.#filter) return files.map(file => ({ kind: "taskFile", file }));
    const found = await Promise.all(files.map(async file => ((await this.index(file)).entries.some(it => matches(it, this.#filter)) ? [file] : [])));
    return found.flat().map(file => ({ kind: "taskFile", file }));
  }

  async #tasksOf(file: Uri): Promise<TasksNode[]> {
    const { entries, skipped } = await this.index(file);
    const shown = this.#filter ? entries.filter(it => matches(it, this.#filter)) : entries;
    const torn = skipped.map(it => ({ kind: "skipped" as const, file, ...it }));
    if (shown.length <= rangeSize) return [...torn, ...shown.map(entry => ({ kind: "task" as const, file, entry }))];
    const ranges = Array.from({ length: Math.ceil(shown.length / rangeSize) }, (_, n) => n * rangeSize);
    return [...torn, ...ranges.map(from => ({ kind: "range" as const, file, from, entries: shown.slice(from, from + rangeSize) }))];
  }
}

function fileItem(file: Uri, { entries, skipped }: TaskIndex, filter: string): TreeItem {
  const item = new TreeItem(basename(file.fsPath, ".tasks.jsonl"), filter ? Expanded : Collapsed);
  item.id = `${file.toString()}?${filter}`;
  const n = filter ? entries.filter(it => matches(it, filter)).length : entries.length;
  item.description = `${filter ? `${n} of ` : ""}${entries.length} tasks${skipped.length ? `, ${skipped.length} skipped` : ""}`;
  item.iconPath = icons.taskFile;
  item.resourceUri = file;
  item.tooltip = file.fsPath;
  item.contextValue = "taskFile";
  return item;
}

function rangeItem({ file, from, entries }: Extract<TasksNode, { kind: "range" }>): TreeItem {
  const item = new TreeItem(`${from + 1}–${from + entries.length}`, Collapsed);
  item.id = `${file.toString()}#${from}-${entries.length}`;
  item.contextValue = "range";
  return item;
}

function taskItem(node: Extract<TasksNode, { kind: "task" }>): TreeItem {
  const { asked, id, kind, split, servers, goals } = node.entry;
  const item = new TreeItem(asked.length > 90 ? `${asked.slice(0, 89)}…` : asked, None);
  item.id = `${node.file.toString()}#${node.entry.offset}`;
  item.description = goals.length ? `${servers.join(", ")} · ${goals.length} ${goals.length === 1 ? "call" : "calls"}` : `${servers.join(", ")} · ${kind}`;
  item.iconPath = goals.length ? icons.task : icons.abstention;
  item.tooltip = new MarkdownString().appendText(`${asked}\n\n${id}, ${kind}, ${split}\n${goals.join(" → ")}`);
  item.contextValue = "task";
  item.command = { command: "prove.openTranscript", title: "Open Transcript", arguments: [node] };
  return item;
}

function skippedItem({ file, line, why }: Extract<TasksNode, { kind: "skipped" }>): TreeItem {
  const item = new TreeItem(`line ${line} is skipped`, None);
  item.description = why;
  item.tooltip = why;
  item.iconPath = icons.torn;
  item.contextValue = "skipped";
  item.command = { command: "vscode.open", title: "Open File", arguments: [file] };
  return item;
}
