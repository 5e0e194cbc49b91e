/**
 * The pages of syntheses: one a tasks file, with its state machine and what was turned down. Draws
 * nothing.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import {
  CancellationError,
  Uri,
  window,
  workspace,
  type Disposable,
  type WebviewPanel,
} from "vscode";
import type { SynthesisPage } from "../../protocol/synthesisPage.ts";
import { UserError } from "../../userError.ts";
import { rejectedFileFor } from "../../synthesis/pipeline/report.ts";
import { createTranscriptUri, pickLineRange } from "../trajectories/attemptLocation.ts";
import { icons } from "../shared/icons.ts";
import { openPage, servePage, type Answers, type Page } from "../shared/page.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { indexRejected } from "./rejectedAttempts.ts";
import { ActionableError, reportRejection } from "../shared/report.ts";
import { listRejected, createSynthesisView } from "./synthesisView.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import type { Transcripts } from "../trajectories/transcripts.ts";

/** Rejections that are listed at a time. */
const pageSize = 100;

export class SynthesisPages implements Disposable {
  readonly #extension: Uri;
  readonly #tasks: TasksTree;
  readonly #transcripts: Transcripts;
  readonly #open = new Map<string, Page<SynthesisPage>>();
  readonly #subscription: Disposable;
  /** Pages that are being told of a change. */
  readonly #updating = new Set<string>();

  constructor(extension: Uri, folder: ProveFolder, tasks: TasksTree, transcripts: Transcripts) {
    this.#extension = extension;
    this.#tasks = tasks;
    this.#transcripts = transcripts;
    this.#subscription = folder.onDidChange(part => {
      if (part === "tasks")
        for (const [file, page] of this.#open) if (page.panel.visible) this.#update(file, page);
    });
  }

  /**
   * Shows the page of a task file: the one given, the one that is shown in the editor, or one that
   * the person picks.
   */
  async open(on: TasksNode | Uri | undefined): Promise<void> {
    this.show((await this.#resolveFile(on)).fsPath);
  }

  show(file: string): void {
    const open = this.#open.get(file);
    if (open) open.panel.reveal();
    else
      this.#track(
        file,
        openPage<SynthesisPage>(this.#extension, describePage(file), this.#createHandlers(file)),
      );
  }

  /** Fills a panel that the window kept over a reload. */
  restore(panel: WebviewPanel, file: string): void {
    this.#track(
      file,
      servePage<SynthesisPage>(
        this.#extension,
        panel,
        describePage(file),
        this.#createHandlers(file),
      ),
    );
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const it of this.#open.values()) it.panel.dispose();
  }

  #track(file: string, page: Page<SynthesisPage>): void {
    this.#open.set(file, page);
    page.panel.onDidDispose(() => this.#open.delete(file));
  }

  /**
   * Its files were written: once at a time, so that a file that grows is not counted by many at
   * once.
   */
  #update(file: string, page: Page<SynthesisPage>): void {
    if (this.#updating.has(file) || !existsSync(file)) return;
    this.#updating.add(file);
    const told = createSynthesisView(file).then(it => page.sendEvent("changed", it));
    reportRejection(told.finally(() => this.#updating.delete(file)));
  }

  #createHandlers(file: string): Answers<SynthesisPage> {
    return {
      load: () => createSynthesisView(file),
      async rejected({ selection, start }) {
        const { entries } = await listRejected(file, selection);
        const items = entries
          .slice(start, start + pageSize)
          .map(({ number, servers, reason, why, request: asked, chain }) => ({
            line: number,
            servers,
            reason,
            why,
            request: asked,
            chain,
          }));
        return { total: entries.length, items };
      },
      open: async ({ line }) => {
        await this.#openRejected(rejectedFileFor(file), line);
        return null;
      },
    };
  }

  async #openRejected(file: string, line: number): Promise<void> {
    const entry = (await indexRejected(file)).entries.find(it => it.number === line);
    if (!entry)
      throw new UserError(`${file} has changed since it was listed`, "choose the reason once more");
    await this.#transcripts.open(
      createTranscriptUri({ kind: "rejected", file, line: pickLineRange(entry) }, entry.id),
    );
  }

  async #resolveFile(on: TasksNode | Uri | undefined): Promise<Uri> {
    if (on instanceof Uri) return on;
    if (on) return on.file;
    const shown = window.activeTextEditor?.document.uri;
    if (shown?.scheme === "file" && shown.path.endsWith(".tasks.jsonl")) return shown;
    const files = await this.#tasks.listFiles();
    if (files.length === 0)
      throw new ActionableError("there are no tasks yet", "synthesize some", {
        title: "Synthesize Tasks…",
        command: "prove.synthesizeTasks",
      });
    if (files.length === 1) return files[0]!;
    const items = files.map(file => ({
      label: basename(file.fsPath, ".tasks.jsonl"),
      description: workspace.asRelativePath(file),
      iconPath: icons.taskFile,
      file,
    }));
    const chosen = await window.showQuickPick(items, {
      title: "Show Synthesis",
      placeHolder: "Of which tasks",
    });
    if (!chosen) throw new CancellationError();
    return chosen.file;
  }
}

const describePage = (file: string) => ({
  name: "synthesis" as const,
  title: `Synthesis: ${basename(file, ".tasks.jsonl")}`,
  icon: "synthesis.svg",
});
