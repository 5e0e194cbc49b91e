/**
 * Tasks files and runs in the editor's Test Explorer. A test is a stored attempt: the teacher's at
 * a task, or a student's at a task of a step. Items are created when they are expanded or run.
 */
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  type CancellationToken,
  type Disposable,
  type ExtensionContext,
  Location,
  Position,
  Range,
  type TestItem,
  TestMessage,
  TestRunProfileKind,
  type TestRunRequest,
  tests,
} from "vscode";
import type { Catalog } from "../../environment/catalog.ts";
import { getGroupsFile, listRecordedSteps } from "../../run/folder.ts";
import { splitVisibleLines } from "../../trajectory/invisibleText.ts";
import { UserError } from "../../userError.ts";
import { type AttemptNode, getNodeUri } from "../attempts/attemptLocation.ts";
import { indexGroups } from "../attempts/groupIndex.ts";
import { type FindTask, readAttempt } from "../attempts/storedAttempt.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { getRunName, type Runs } from "../runs/runs.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import { toEditorText } from "../shared/editorText.ts";
import { toPlainText } from "../shared/text.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { reportRejection } from "../shared/report.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { createTestItem } from "../shared/treeView.ts";
import { createRows, type TasksNode, type TasksTree } from "../tasks/tasksTree.ts";
import { type Check, type CheckResult, checkResults, checkSuccess } from "./attemptChecks.ts";

interface TestExplorerDependencies extends TestNodeSources {
  readonly definitions: ServerDefinitions;
  readonly transcripts: Transcripts;
  readonly findTask: FindTask;
}

class TestExplorer implements Disposable {
  readonly #dependencies: TestExplorerDependencies;
  readonly #controller = tests.createTestController("prove", "PROVE");
  readonly #nodes = new WeakMap<TestItem, TestNode>();

  constructor(dependencies: TestExplorerDependencies) {
    this.#dependencies = dependencies;
    const controller = this.#controller;
    controller.resolveHandler = item => this.#resolve(item);
    controller.refreshHandler = () => this.#refresh();
    const addProfile = (label: string, check: Check, isDefault: boolean) =>
      controller.createRunProfile(
        label,
        TestRunProfileKind.Run,
        (request, token) => this.#run(check, request, token),
        isDefault,
      );
    addProfile("Success", checkSuccess, true);
    addProfile("Replay", checkResults, false);
  }

  /** Lists the files and runs again; what was expanded is listed again when it is run. */
  async updateRoots(): Promise<void> {
    await this.#replaceItems(undefined, await listRoots(this.#dependencies));
  }

  dispose(): void {
    this.#controller.dispose();
  }

  async #refresh(): Promise<void> {
    this.#controller.items.replace([]);
    await this.updateRoots();
  }

  async #resolve(item: TestItem | undefined): Promise<void> {
    if (!item) return this.updateRoots();
    const node = this.#nodes.get(item)!;
    try {
      await this.#replaceItems(item, await listChildren(node, this.#dependencies));
      item.error = undefined;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      item.error = toPlainText(toEditorText(error.message));
    }
  }

  /** Items that exist already are kept, with their results. */
  async #replaceItems(parent: TestItem | undefined, nodes: readonly TestNode[]): Promise<void> {
    const items = parent ? parent.children : this.#controller.items;
    const listed: TestItem[] = [];
    for (const [i, node] of nodes.entries()) {
      const item = items.get(describeNode(node).id) ?? this.#createItem(node);
      item.sortText = String(i).padStart(6, "0");
      this.#nodes.set(item, node);
      listed.push(item);
    }
    items.replace(listed);
  }

  #createItem(node: TestNode): TestItem {
    const uri = isAttempt(node)
      ? getNodeUri(node)
      : node.kind === "taskFile"
        ? node.file
        : undefined;
    const item = createTestItem(this.#controller, {
      ...describeNode(node),
      ...(uri ? { uri } : {}),
    });
    item.canResolveChildren = !isAttempt(node);
    if (isAttempt(node)) item.range = new Range(0, 0, 0, 0);
    return item;
  }

  async #run(check: Check, request: TestRunRequest, token: CancellationToken): Promise<void> {
    const run = this.#controller.createTestRun(request);
    const counts = { passed: 0, failed: 0, errored: 0 };
    try {
      const catalog = await this.#dependencies.definitions.openCatalog();
      for await (const item of this.#listAttempts(request, token)) {
        const started = performance.now();
        run.started(item);
        const result = await this.#check(check, catalog, item);
        const duration = performance.now() - started;
        counts[result.kind]++;
        if (result.kind === "passed") run.passed(item, duration);
        else run[result.kind](item, await this.#createMessage(item, result), duration);
        await setImmediate();
      }
    } finally {
      run.appendOutput(formatCounts(counts));
      run.end();
    }
  }

  /** The requested attempts, in the order of the view. Their items are created on the way. */
  async *#listAttempts(
    { include, exclude }: TestRunRequest,
    token: CancellationToken,
  ): AsyncGenerator<TestItem> {
    if (!include) await this.updateRoots();
    const pending = [...(include ?? listItems(this.#controller.items))].toReversed();
    while (pending.length > 0 && !token.isCancellationRequested) {
      const item = pending.pop()!;
      if (exclude?.includes(item)) continue;
      if (!item.canResolveChildren) {
        yield item;
        continue;
      }
      await this.#resolve(item);
      pending.push(...listItems(item.children).toReversed());
    }
  }

  async #check(check: Check, catalog: Catalog, item: TestItem): Promise<CheckResult> {
    try {
      return check(catalog, await readAttempt(item.uri!, this.#dependencies.findTask));
    } catch (error) {
      // the file was deleted or rewritten after it was listed
      if (!(error instanceof UserError)) throw error;
      return { kind: "errored", message: error.message };
    }
  }

  async #createMessage(
    item: TestItem,
    result: Exclude<CheckResult, { kind: "passed" }>,
  ): Promise<TestMessage> {
    const message = new TestMessage(toPlainText(toEditorText(result.message)));
    if (result.kind === "errored") return message;
    const { transcript } = await this.#dependencies.transcripts.read(item.uri!);
    const line =
      result.event === undefined
        ? transcript.text.split("\n").length - 1
        : transcript.ranges[result.event]!.first;
    message.location = new Location(item.uri!, new Position(line, 0));
    if (result.difference) {
      message.expectedOutput = toVisibleText(result.difference.expected);
      message.actualOutput = toVisibleText(result.difference.actual);
    }
    return message;
  }
}

function listItems(items: Iterable<[string, TestItem]>): TestItem[] {
  return Array.from(items, it => it[1]).toSorted((a, b) => (a.sortText! < b.sortText! ? -1 : 1));
}

const formatCounts = ({ passed, failed, errored }: Record<string, number>): string =>
  `${passed} passed, ${failed} failed, ${errored} could not be checked\r\n`;

const toVisibleText = (text: string) => splitVisibleLines(text).join("\n");

export function registerTestExplorer(
  context: ExtensionContext,
  { folder, ...dependencies }: TestExplorerDependencies & { readonly folder: ProveFolder },
): void {
  const explorer = new TestExplorer(dependencies);
  context.subscriptions.push(
    explorer,
    folder.onDidChange(part => {
      if (part === "tasks" || part === "runs") reportRejection(explorer.updateRoots());
    }),
  );
}

type TestNode =
  | Exclude<TasksNode, { kind: "skipped" | "taskGroup" }>
  | Extract<RunsNode, { kind: "run" | "step" | "group" | "attempt" }>;

interface TestNodeSources {
  readonly tasks: TasksTree;
  readonly runs: Runs;
}

const isAttempt = (node: TestNode): node is TestNode & AttemptNode =>
  node.kind === "task" || node.kind === "attempt";

/** The tasks files and the runs with recorded attempts. */
async function listRoots({ tasks, runs }: TestNodeSources): Promise<TestNode[]> {
  const files = await tasks.listFiles();
  return [
    ...files.map(file => ({ kind: "taskFile" as const, file })),
    ...runs
      .list()
      .filter(it => listRecordedSteps(it.folder).length > 0)
      .map(monitor => ({ kind: "run" as const, monitor })),
  ];
}

/** Throws a `UserError` if a file cannot be read. */
async function listChildren(
  node: TestNode,
  { tasks }: TestNodeSources,
): Promise<readonly TestNode[]> {
  switch (node.kind) {
    case "taskFile":
      return createTaskNodes(createRows(node.file, (await tasks.readIndex(node.file)).entries, 0));
    case "range":
      return createTaskNodes(createRows(node.file, node.entries, node.from));
    case "run":
      return listRecordedSteps(node.monitor.folder).map(step => ({ ...node, kind: "step", step }));
    case "step": {
      const { groups } = await indexGroups(getGroupsFile(node.monitor.folder, node.step));
      return groups.map(group => ({ ...node, kind: "group", group }));
    }
    case "group":
      return node.group.entries.map(entry => ({ ...node, kind: "attempt", entry }));
    case "task":
    case "attempt":
      return [];
    default:
      throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
  }
}

const createTaskNodes = (nodes: readonly TasksNode[]): TestNode[] =>
  nodes.filter(it => it.kind !== "skipped" && it.kind !== "taskGroup");

/** What an item shows, and its id among its siblings. */
interface TestLabel {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
}

function describeNode(node: TestNode): TestLabel {
  switch (node.kind) {
    case "taskFile":
      return { id: node.file.toString(), label: basename(node.file.fsPath, ".tasks.jsonl") };
    case "range": {
      const first = node.from + 1;
      return {
        id: `${node.from}/${node.size}`,
        label: `${first}–${node.from + node.entries.length}`,
      };
    }
    case "task": {
      const { id, number, request, kind, servers } = node.entry;
      return {
        id: `${id}:${number}`,
        label: request,
        description: [...servers, kind].join(" · "),
      };
    }
    case "run":
      return { id: node.monitor.folder, label: getRunName(node.monitor), description: "run" };
    case "step":
      return { id: String(node.step), label: `Step ${node.step}` };
    case "group":
      return { id: node.group.task, label: node.group.task };
    case "attempt":
      return { id: String(node.entry.offset), label: `Attempt ${node.entry.attempt + 1}` };
    default:
      throw new Error(`no label of ${JSON.stringify(node satisfies never)}`);
  }
}
