/**
 * The Tasks view: the tasks files of the workspace and their tasks, in ranges where there are many,
 * and below them the recorded attempts; lines that hold no task are in the Problems view. Uses the
 * indexes of the files, and reads no task as a whole.
 */
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  commands,
  Diagnostic,
  DiagnosticSeverity,
  type Disposable,
  EventEmitter,
  languages,
  Range,
  type TreeDataProvider,
  type TreeItem,
  TreeItemCollapsibleState,
  Uri,
} from "vscode";
import type { Task } from "../../trajectory/task.ts";
import { UserError } from "../../userError.ts";
import { getNodeUri } from "../attempts/attemptLocation.ts";
import { indexTasks, readTask, type TaskEntry, type TaskIndex } from "../attempts/taskIndex.ts";
import { toEditorText } from "../shared/editorText.ts";
import { icons, outcomeIcon } from "../shared/icons.ts";
import { listFiles, type ProveFolder } from "../shared/proveFolder.ts";
import { formatCount, toPlainLine } from "../shared/text.ts";
import { createOpenCommand, createTreeItem } from "../shared/treeView.ts";
import { type AttemptsNode, createAttemptsItem, listAttemptsNodes } from "./attemptNodes.ts";
import { FilteredTasks, parseTaskFilter, type TaskFilter } from "./taskFilter.ts";
import { type Grouping, groupTasks } from "./taskGroups.ts";
import { promptForFilter, promptForSearch } from "./taskPrompts.ts";
import type { TaskScore, TaskScores } from "./taskScores.ts";

export class TasksTree implements TreeDataProvider<TasksNode | AttemptsNode>, Disposable {
  readonly #changed = new EventEmitter<TasksNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #folder: ProveFolder;
  readonly #scores: TaskScores;
  /** The rows of tasks, by their groups. */
  readonly #rows = new WeakMap<TaskEntry, Map<string | undefined, TasksNode>>();
  readonly #indexes = new Map<string, Promise<TaskIndex>>();
  readonly #filteredTasks = new Map<string, FilteredTasks>();
  readonly #problems = new TaskProblems();
  #filter: TaskFilter = parseTaskFilter("");
  #grouping: Grouping;
  #isRefreshDue = false;
  /** By the paths of the files to which tasks are being added. */
  readonly #making = new Map<string, TasksInMaking>();
  #makingTimer: NodeJS.Timeout | undefined;
  /** The nodes of the attempts that were listed last, as text. */
  #shownAttempts = "";
  /** Duration of the last reading. */
  #readMilliseconds = 0;

  constructor(folder: ProveFolder, scores: TaskScores, grouping: Grouping) {
    this.#folder = folder;
    this.#scores = scores;
    this.#grouping = grouping;
    scores.onDidScore(entries => {
      const rows = entries.flatMap(it => [...(this.#rows.get(it)?.values() ?? [])]);
      if (rows.length > 0) this.#changed.fire(rows);
    });
  }

  /** The text of the filter; empty if all tasks are shown. */
  get filterText(): string {
    return this.#filter.text;
  }

  get grouping(): Grouping {
    return this.#grouping;
  }

  /** Whether a task of any file matches the filter. */
  async hasMatches(): Promise<boolean> {
    return (await this.#listFileNodes()).length > 0;
  }

  /** Groups the tasks of each file. */
  group(grouping: Grouping): void {
    this.#grouping = grouping;
    this.#changed.fire(undefined);
  }

  /** Computes the rewards on screen again. */
  refreshScores(): void {
    this.#scores.clear();
    this.#changed.fire(undefined);
  }

  /**
   * Shows the files as they are now. While a file is being written, it is read again after pauses,
   * so that reading takes at most a quarter of the time.
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

  /** Shows the runs with recorded attempts as they are now; most changes of runs are others. */
  async refreshAttempts(): Promise<void> {
    const before = this.#shownAttempts;
    await this.#listAttemptsNodes();
    if (this.#shownAttempts !== before) this.#changed.fire(undefined);
  }

  /** Shows how many tasks of a file are made; undefined once no more are added. */
  showMaking(file: string, progress: TasksInMaking | undefined): void {
    if (progress) this.#making.set(file, progress);
    else this.#making.delete(file);
    // rows are drawn at most twice a second
    this.#makingTimer ??= setTimeout(() => {
      this.#makingTimer = undefined;
      this.#changed.fire(undefined);
    }, 500);
  }

  async #waitUntilRead(): Promise<void> {
    await Promise.allSettled(this.#indexes.values());
    await pause(3 * this.#readMilliseconds);
  }

  dispose(): void {
    clearTimeout(this.#makingTimer);
    this.#problems.dispose();
    this.#changed.dispose();
  }

  /** Asks for the filter; an empty one shows all tasks. */
  async promptForFilter(): Promise<void> {
    await this.filter(await promptForFilter(this.#filter.text, () => this.#readIndexes()));
  }

  /** Shows the tasks that match a filter; an empty one shows all tasks. */
  async filter(text: string): Promise<void> {
    this.#filter = parseTaskFilter(text);
    this.#filteredTasks.clear();
    await commands.executeCommand("setContext", "prove.isFiltered", this.#filter.text !== "");
    this.#changed.fire(undefined);
  }

  /** Searches the texts of the tasks, and returns the chosen task. */
  async promptForSearch(): Promise<Extract<TasksNode, { kind: "task" }>> {
    const { file, entry } = await promptForSearch(() => this.#readIndexes());
    return { kind: "task", file: Uri.file(file), entry };
  }

  async #readIndexes(): Promise<readonly TaskIndex[]> {
    const indexes = (await this.listFiles()).map(it => this.#readIndexIfReadable(it));
    return (await Promise.all(indexes)).filter(it => it !== undefined);
  }

  /** Undefined for a file that cannot be read; its row in the view says why. */
  async #readIndexIfReadable(file: Uri): Promise<TaskIndex | undefined> {
    try {
      return await this.readIndex(file);
    } catch (error) {
      if (error instanceof UserError) return undefined;
      throw error;
    }
  }

  async listFiles(): Promise<Uri[]> {
    return this.#folder.uri ? listFiles(this.#folder.getPart("tasks"), ".tasks.jsonl") : [];
  }

  readIndex(file: Uri): Promise<TaskIndex> {
    const known = this.#indexes.get(file.fsPath);
    if (known) return known;
    const start = performance.now();
    const index = indexTasks(file.fsPath).finally(
      () => (this.#readMilliseconds = performance.now() - start),
    );
    index.then(
      it => this.#problems.update(file, it),
      () => {}, // its row in the view says why it cannot be read
    );
    this.#indexes.set(file.fsPath, index);
    return index;
  }

  /** The index of a file, including what was written since the last refresh. */
  rereadIndex(file: Uri): Promise<TaskIndex> {
    this.#indexes.delete(file.fsPath);
    return this.readIndex(file);
  }

  /** Finds a task in any file by its id. */
  async findTask(id: string): Promise<Task | undefined> {
    const found = await this.findEntry(id);
    return found && readTask(found.file.fsPath, found.entry);
  }

  /** Finds the file and the entry of a task by its id. */
  async findEntry(
    id: string,
  ): Promise<{ readonly file: Uri; readonly entry: TaskEntry } | undefined> {
    for (const file of await this.listFiles()) {
      const entry = (await this.#readIndexIfReadable(file))?.entries.find(it => it.id === id);
      if (entry) return { file, entry };
    }
    return undefined;
  }

  getChildren(): Promise<(TasksNode | AttemptsNode)[]>;
  getChildren(node: TasksNode): Promise<TasksNode[]>;
  getChildren(node?: TasksNode | AttemptsNode): Promise<(TasksNode | AttemptsNode)[]>;
  async getChildren(node?: TasksNode | AttemptsNode): Promise<(TasksNode | AttemptsNode)[]> {
    if (!node) return [...(await this.#listFileNodes()), ...(await this.#listAttemptsNodes())];
    switch (node.kind) {
      case "attempts":
        return [...node.children];
      case "trajectoryFile":
      case "recordedRun":
        return [];
      case "taskFile":
        return this.#listTaskNodes(node.file);
      case "taskGroup":
        return createRows(node.file, node.entries, 0, node.group);
      case "range":
        return createRows(node.file, node.entries, node.from, node.group);
      case "task":
      case "skipped":
        return [];
      default:
        throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
    }
  }

  async getTreeItem(node: TasksNode | AttemptsNode): Promise<TreeItem> {
    switch (node.kind) {
      case "attempts":
      case "trajectoryFile":
      case "recordedRun":
        return createAttemptsItem(node);
      case "taskFile": {
        return this.#createFileItem(node);
      }
      case "taskGroup":
        return createGroupItem(node, this.#filter);
      case "range":
        return createRangeItem(node, this.#filter);
      case "task":
        return this.#createTaskItem(node);
      case "skipped":
        return createSkippedItem(node);
      default:
        throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
    }
  }

  /** The row shows its reward as soon as it is computed. */
  #createTaskItem(node: Extract<TasksNode, { kind: "task" }>): TreeItem {
    const { file, entry, group } = node;
    const rows = this.#rows.get(entry) ?? new Map<string | undefined, TasksNode>();
    this.#rows.set(entry, rows.set(group, node));
    this.#scores.request(file.fsPath, entry);
    return createTaskItem(node, this.#scores.get(entry));
  }

  async #createFileItem(node: Extract<TasksNode, { kind: "taskFile" }>): Promise<TreeItem> {
    try {
      const index = await this.readIndex(node.file);
      const making = this.#making.get(node.file.fsPath);
      const counts = making
        ? `making ${formatNumber(making.done)} of ${formatCount(making.total, "task")}`
        : describeCounts(index, await this.#listMatching(node.file), this.#filter);
      return createFileItem(node, counts, this.#filter);
    } catch (error) {
      if (error instanceof UserError)
        return createUnreadableItem(node, toEditorText(error.message));
      throw error;
    }
  }

  /** A filter is about tasks. */
  async #listAttemptsNodes(): Promise<AttemptsNode[]> {
    const nodes = this.#filter.text ? [] : await listAttemptsNodes(this.#folder);
    this.#shownAttempts = JSON.stringify(nodes);
    return nodes;
  }

  async #listFileNodes(): Promise<TasksNode[]> {
    const files = await this.listFiles();
    this.#problems.retain(files);
    const isShown = await Promise.all(
      files.map(
        async file =>
          !this.#filter.text ||
          ((await this.#readIndexIfReadable(file)) !== undefined &&
            (await this.#listMatching(file)).length > 0),
      ),
    );
    return files.flatMap((file, i) => (isShown[i] ? [{ kind: "taskFile", file }] : []));
  }

  /** The tasks of a file that match the filter. */
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
    const index = await this.readIndex(file);
    const skippedNodes = index.skipped
      .slice(0, maxRows)
      .map(it => ({ kind: "skipped" as const, file, ...it }));
    const entries = await this.#listMatching(file);
    const grouping = this.#grouping;
    if (grouping === "none") return [...skippedNodes, ...createRows(file, entries, 0)];
    if (grouping === "success") await this.#scores.scoreAll(index);
    const groups = await groupTasks(entries, grouping, it => this.#scores.get(it));
    return [
      ...skippedNodes,
      ...groups.map(it => ({
        kind: "taskGroup" as const,
        file,
        group: it.value,
        entries: it.entries,
      })),
    ];
  }
}

/** How many tasks of a file are made, of those that were asked for. */
interface TasksInMaking {
  readonly done: number;
  readonly total: number;
}

/** `group` is the value of the group that a node is in, if tasks are grouped. */
export type TasksNode =
  | { readonly kind: "taskFile"; readonly file: Uri }
  | {
      readonly kind: "taskGroup";
      readonly file: Uri;
      readonly group: string;
      readonly entries: readonly TaskEntry[];
    }
  | {
      readonly kind: "range";
      readonly file: Uri;
      readonly from: number;
      readonly size: number;
      readonly entries: readonly TaskEntry[];
      readonly group?: string;
    }
  | {
      readonly kind: "task";
      readonly file: Uri;
      readonly entry: TaskEntry;
      readonly group?: string;
    }
  | {
      readonly kind: "skipped";
      readonly file: Uri;
      readonly line: number;
      readonly reason: string;
    };

/** A node has at most this many children, so that it expands without delay. */
const maxRows = 100;

/** Nodes for tasks: one per task, or ranges of a hundred, a thousand and so on. */
export function createRows(
  file: Uri,
  entries: readonly TaskEntry[],
  start: number,
  group?: string,
): TasksNode[] {
  const place = { file, ...(group === undefined ? {} : { group }) };
  if (entries.length <= maxRows) return entries.map(entry => ({ kind: "task", ...place, entry }));
  let size = maxRows;
  while (entries.length / size > maxRows) size *= 10;
  const offsets = Array.from({ length: Math.ceil(entries.length / size) }, (_, n) => n * size);
  return offsets.map(offset => ({
    kind: "range",
    ...place,
    from: start + offset,
    size,
    entries: entries.slice(offset, offset + size),
  }));
}

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

type NodeOf<Kind extends TasksNode["kind"]> = Extract<TasksNode, { kind: Kind }>;

function describeCounts(
  { entries, skipped }: TaskIndex,
  matching: readonly TaskEntry[],
  filter: TaskFilter,
): string {
  const matchingCount = filter.text ? `${formatNumber(matching.length)} of ` : "";
  const skippedCount = skipped.length ? `, ${formatNumber(skipped.length)} skipped` : "";
  return `${matchingCount}${formatCount(entries.length, "task")}${skippedCount}`;
}

function createFileItem(
  { file }: NodeOf<"taskFile">,
  description: string,
  filter: TaskFilter,
): TreeItem {
  const item = createTreeItem(
    basename(file.fsPath, ".tasks.jsonl"),
    filter.text ? Expanded : Collapsed,
    { icon: icons.taskFile, description, context: "taskFile", tooltip: file.fsPath },
  );
  item.id = `${file.toString()}?${filter.text}`;
  item.resourceUri = file;
  return item;
}

/** The row of a file that cannot be read. */
function createUnreadableItem({ file }: NodeOf<"taskFile">, reason: string): TreeItem {
  const item = createTreeItem(basename(file.fsPath, ".tasks.jsonl"), None, {
    icon: icons.warning,
    description: reason,
    context: "skipped",
    tooltip: reason,
  });
  item.id = `${file.toString()}?unreadable`;
  return item;
}

function createRangeItem(
  { file, from, size, entries, group }: NodeOf<"range">,
  filter: TaskFilter,
): TreeItem {
  const label = `${formatNumber(from + 1)}–${formatNumber(from + entries.length)}`;
  const item = createTreeItem(label, Collapsed, { icon: icons.range, context: "range" });
  // the id does not depend on the end, so that the item stays expanded while the file grows
  item.id = `${file.toString()}?${filter.text}#${from}/${size}${formatGroup(group)}`;
  return item;
}

function createGroupItem(
  { file, group, entries }: NodeOf<"taskGroup">,
  filter: TaskFilter,
): TreeItem {
  const item = createTreeItem(group, Collapsed, {
    icon: icons.group,
    description: formatCount(entries.length, "task"),
    context: "taskGroup",
  });
  item.id = `${file.toString()}?${filter.text}${formatGroup(group)}`;
  return item;
}

/** The row of a task: servers, kind, length, and the reward of the teacher once it is known. */
function createTaskItem(node: NodeOf<"task">, score: TaskScore | undefined): TreeItem {
  const { request, id, kind, split, servers, goals, turns, offset } = node.entry;
  const label = request.length > 90 ? `${request.slice(0, 89)}…` : request;
  const facts = [
    servers.join(", "),
    kind,
    formatCount(goals.length, "call"),
    ...(turns > 1 ? [formatCount(turns, "turn")] : []),
    ...(score?.total === undefined ? [] : [`reward ${score.total.toFixed(2)}`]),
    ...(score?.success === false ? ["no success"] : []),
  ];
  const item = createTreeItem(label, None, {
    icon:
      score?.success === false ? outcomeIcon.refused : goals.length ? icons.task : icons.abstention,
    description: facts.filter(it => it !== "").join(" · "),
    tooltip: `${request}\n\n${facts.join(", ")}\n${id}, ${split}\n${goals.join(" → ")}`,
    context: "task",
  });
  item.id = `${node.file.toString()}#${offset}${formatGroup(node.group)}`;
  item.command = createOpenCommand(getNodeUri(node));
  return item;
}

/** Tells rows of one task in several groups apart. */
const formatGroup = (group: string | undefined) => (group === undefined ? "" : `&${group}`);

function createSkippedItem({ file, line, reason }: NodeOf<"skipped">): TreeItem {
  const item = createTreeItem(`Line ${line} skipped`, None, {
    icon: icons.warning,
    description: reason,
    context: "skipped",
    tooltip: reason,
  });
  item.command = { command: "vscode.open", title: "Open File", arguments: [file] };
  return item;
}

const formatNumber = (n: number) => n.toLocaleString("en");

class TaskProblems implements Disposable {
  readonly #collection = languages.createDiagnosticCollection("prove.tasks");

  /** Lists the first skipped lines of a file as it is now. */
  update(file: Uri, { skipped }: TaskIndex): void {
    this.#collection.set(
      file,
      skipped.slice(0, maxRows).map(({ line, reason }) => {
        const range = new Range(line - 1, 0, line, 0);
        const message = `This line is skipped: ${toPlainLine(reason)}`;
        const problem = new Diagnostic(range, message, DiagnosticSeverity.Warning);
        problem.source = "PROVE";
        return problem;
      }),
    );
  }

  /** Removes the problems of files that no longer exist. */
  retain(files: readonly Uri[]): void {
    const existing = new Set(files.map(String));
    this.#collection.forEach(file => {
      if (!existing.has(file.toString())) this.#collection.delete(file);
    });
  }

  dispose(): void {
    this.#collection.dispose();
  }
}
