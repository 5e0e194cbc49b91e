/**
 * The pages of runs: one a run, fed with its files first and with what its trainer says from then
 * on. Draws nothing.
 */
import { basename } from "node:path";
import { CancellationError, window, type Disposable, type Uri, type WebviewPanel } from "vscode";
import { UserError } from "../../userError.ts";
import type { RunPage, RunView } from "../../protocol/runPage.ts";
import { groupsFile } from "../../run/folder.ts";
import { indexGroups } from "./groupIndex.ts";
import { openPage, servePage, type Answers, type Page } from "../shared/page.ts";
import { ActionableError } from "../shared/report.ts";
import { nameOf, type Runs } from "./runs.ts";
import { keptSteps, type RunsNode } from "./runsTree.ts";
import type { RunWatch } from "./runWatch.ts";
import type { Transcripts } from "../trajectories/transcripts.ts";

/** Passes on what a person asks of a run. */
export type RunRequest = (request: "pause" | "resume" | "stop", watch: RunWatch) => Promise<void>;

export class RunPages implements Disposable {
  readonly #extension: Uri;
  readonly #runs: Runs;
  readonly #transcripts: Transcripts;
  readonly #open = new Map<string, Page<RunPage>>();
  /** Handed in once everything is built: training itself shows pages. */
  request: RunRequest | undefined;

  constructor(extension: Uri, runs: Runs, transcripts: Transcripts) {
    this.#extension = extension;
    this.#runs = runs;
    this.#transcripts = transcripts;
  }

  /** Shows the page of a node's run, or of one that the person picks. */
  async open(node: RunsNode | undefined): Promise<void> {
    this.show(node ? node.watch : await this.#pick());
  }

  show(watch: RunWatch): void {
    const open = this.#open.get(watch.folder);
    if (open) open.panel.reveal();
    else
      this.#follow(watch, openPage<RunPage>(this.#extension, kindOf(watch), this.#answers(watch)));
  }

  /** Fills a panel that the window kept over a reload. */
  restore(panel: WebviewPanel, folder: string): void {
    const watch = this.#runs.watch(folder);
    this.#follow(
      watch,
      servePage<RunPage>(this.#extension, panel, kindOf(watch), this.#answers(watch)),
    );
  }

  dispose(): void {
    for (const it of this.#open.values()) it.panel.dispose();
  }

  #follow(watch: RunWatch, page: Page<RunPage>): void {
    this.#open.set(watch.folder, page);
    const listening = watch.listen(change => {
      switch (change.kind) {
        case "stepped":
          return page.sendEvent("stepsDone", change.steps);
        case "saved":
          return page.sendEvent("checkpointSaved", change.step);
        case "stood":
        case "finished":
        case "failed":
          return page.sendEvent("statusChanged", watch.status);
        default:
          throw new Error(`a run changed by ${JSON.stringify(change satisfies never)}`);
      }
    });
    page.panel.onDidDispose(() => {
      listening.dispose();
      this.#open.delete(watch.folder);
    });
  }

  #answers(watch: RunWatch): Answers<RunPage> {
    const ask = async (request: "pause" | "resume" | "stop") => {
      await this.request!(request, watch);
      return null;
    };
    return {
      load() {
        if (!watch.isAttached) watch.read();
        return viewOf(watch);
      },
      pause: () => ask("pause"),
      resume: () => ask("resume"),
      stop: () => ask("stop"),
      openStep: async ({ step }) => {
        await this.#openStep(watch, step);
        return null;
      },
    };
  }

  /** Lets the person choose among the attempts of a step, the best first, and shows one. */
  async #openStep(watch: RunWatch, step: number): Promise<void> {
    const kept = keptSteps(watch.folder);
    const near = kept.toSorted((a, b) => Math.abs(a - step) - Math.abs(b - step))[0];
    if (near === undefined)
      throw new UserError(
        `${nameOf(watch)} keeps no attempts`,
        "set keepGroups in its configuration",
      );
    const { groups } = await indexGroups(groupsFile(watch.folder, near));
    const entries = groups.flatMap(it => it.entries).toSorted((a, b) => b.total - a.total);
    const items = entries.map(entry => ({
      label: entry.total.toFixed(4),
      description: `${entry.success ? "success" : "no success"} · ${entry.task}`,
      entry,
    }));
    const chosen = await window.showQuickPick(items, {
      title: `Attempts of step ${near}`,
      placeHolder: "Which attempt to read",
      matchOnDescription: true,
    });
    if (chosen)
      await this.#transcripts.open({ kind: "attempt", watch, step: near, entry: chosen.entry });
  }

  async #pick(): Promise<RunWatch> {
    const runs = this.#runs.all();
    if (runs.length === 0)
      throw new ActionableError("there is no run yet", "start one", {
        title: "Start Training",
        command: "prove.startTraining",
      });
    if (runs.length === 1) return runs[0]!;
    const items = runs.map(watch => ({
      label: nameOf(watch),
      description: watch.status.activity,
      watch,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder: "Which run to show" });
    if (!chosen) throw new CancellationError();
    return chosen.watch;
  }
}

const kindOf = (watch: RunWatch) => ({
  name: "run" as const,
  title: nameOf(watch),
  icon: "run.svg",
});

function viewOf(watch: RunWatch): RunView {
  const { config } = watch;
  const settings = config.method === "grpo" ? config.grpo : config.sft;
  const learningRate = settings.learningRate.toExponential(0);
  const own: readonly (readonly [string, string])[] =
    config.method === "grpo"
      ? [
          ["attempts a step", `${config.grpo.prompts} tasks × ${config.grpo.group}`],
          ["KL weight", String(config.grpo.kl)],
        ]
      : [["conversations a step", String(config.sft.conversations)]];
  return {
    run: nameOf(watch),
    folder: watch.folder,
    status: watch.status,
    config: [
      ["method", config.method],
      ["tasks", basename(config.tasks)],
      ["reward", config.profile],
      ...own,
      ["learning rate", learningRate],
      ["backend", config.backend],
      ["workers", String(config.workers)],
      ["seed", String(config.seed)],
    ],
    steps: watch.steps,
    checkpoints: watch.checkpoints,
  };
}
