/** The synthesis pages: one per tasks file, with its state machine and its rejected attempts. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Uri, window, type Disposable, type WebviewPanel } from "vscode";
import { z } from "zod";
import type { RejectedItem, SynthesisPage } from "../../protocol/synthesisPage.ts";
import { getRejectedFile } from "../../synthesis/pipeline/report/report.ts";
import { UserError } from "../../userError.ts";
import { type Page, PageCollection, type PageContent } from "../shared/page.ts";
import { answer, answerPlain } from "../shared/pageSecurity.ts";
import { requireWorkspacePath, type ProveFolder } from "../shared/proveFolder.ts";
import { ActionableError, reportRejection } from "../shared/report.ts";
import { pickTasksFile } from "../tasks/taskPrompts.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";
import { createTranscriptUri, pickLineRange } from "../attempts/attemptLocation.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { indexRejected, type RejectedEntry } from "../attempts/rejectedAttempts.ts";
import { createSynthesisView, listRejected } from "./synthesisView.ts";

/** The number of rejected attempts that the page receives at a time. */
const batchSize = 100;

const rejectedParams = z.object({
  selection: z.object({
    reason: z.string().exactOptional(),
    from: z.string().exactOptional(),
  }),
  start: z.int().min(0),
});

interface SynthesisPageDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly tasks: TasksTree;
  readonly transcripts: Transcripts;
}

export class SynthesisPages implements Disposable {
  readonly #tasks: TasksTree;
  readonly #transcripts: Transcripts;
  /** By the path of the tasks file. */
  readonly #pages: PageCollection<SynthesisPage>;
  readonly #subscription: Disposable;
  /** The files whose pages are being updated. */
  readonly #updating = new Set<string>();

  constructor({ extensionUri, folder, tasks, transcripts }: SynthesisPageDependencies) {
    this.#tasks = tasks;
    this.#transcripts = transcripts;
    this.#pages = new PageCollection(extensionUri, it => this.#createContent(it));
    this.#subscription = folder.onDidChange(part => {
      if (part !== "tasks") return;
      for (const [file, page] of this.#pages.entries())
        if (page.panel.visible) this.#update(file, page);
    });
  }

  /** Shows the page of a tasks file: of a node, of the active editor, or one the user chooses. */
  async open(node: TasksNode | Uri | undefined): Promise<void> {
    this.show((await this.#resolveFile(node)).fsPath);
  }

  show(file: string): void {
    this.#pages.show(file);
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, file: unknown): void {
    this.#pages.restore(panel, requireWorkspacePath(file));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#pages.dispose();
  }

  /** Sends the new content. While an update of the file is running, changes are ignored. */
  #update(file: string, page: Page<SynthesisPage>): void {
    if (this.#updating.has(file) || !existsSync(file)) return;
    this.#updating.add(file);
    const update = createSynthesisView(file).then(it => page.sendEvent("changed", it));
    reportRejection(update.finally(() => this.#updating.delete(file)));
  }

  #createContent(file: string): PageContent<SynthesisPage> {
    return {
      options: {
        name: "synthesis",
        title: `Synthesis: ${basename(file, ".tasks.jsonl")}`,
        icon: "synthesis.svg",
      },
      answers: {
        load: answerPlain(() => createSynthesisView(file)),
        rejected: answer(rejectedParams, async ({ selection, start }) => {
          const entries = await listRejected(file, selection);
          const items = entries.slice(start, start + batchSize).map(createRejectedItem);
          return { total: entries.length, items };
        }),
        open: answer(z.object({ line: z.int().min(1) }), async ({ line }) => {
          await this.#openRejected(getRejectedFile(file), line);
          return null;
        }),
      },
    };
  }

  async #openRejected(file: string, line: number): Promise<void> {
    const entry = (await indexRejected(file)).entries.find(it => it.number === line);
    if (!entry)
      throw new UserError(`${file} has changed since it was listed`, "choose the reason again");
    const location = { kind: "rejected" as const, file, line: pickLineRange(entry) };
    await this.#transcripts.open(createTranscriptUri(location, entry.id));
  }

  async #resolveFile(node: TasksNode | Uri | undefined): Promise<Uri> {
    if (node instanceof Uri) return node;
    if (node) return node.file;
    const active = window.activeTextEditor?.document.uri;
    if (active?.scheme === "file" && active.path.endsWith(".tasks.jsonl")) return active;
    const files = await this.#tasks.listFiles();
    if (files.length === 0)
      throw new ActionableError("there are no tasks yet", "synthesize some", {
        title: "Synthesize Tasks…",
        command: "prove.synthesizeTasks",
      });
    if (files.length === 1) return files[0]!;
    return pickTasksFile(files, { title: "Show Synthesis", text: "Of which tasks" });
  }
}

const createRejectedItem = (entry: RejectedEntry): RejectedItem => {
  const { number: line, servers, reason, why, request, chain } = entry;
  return { line, servers, reason, why, request, chain };
};
