/** The run pages: one per run. A page shows the files of the run and the trainer's messages. */
import { listRecordedSteps } from "../../run/folder.ts";
import { CancellationError, commands, type Disposable, type Uri, type WebviewPanel } from "vscode";
import { z } from "zod";
import type { OtherRun, RunPage, RunStatus, RunView } from "../../protocol/runPage.ts";
import type { RunConfig } from "../../run/config.ts";
import { UserError } from "../../userError.ts";
import { toEditorText } from "../shared/editorText.ts";
import { showInformation } from "../shared/notifications.ts";
import { type Page, PageCollection, type PageContent } from "../shared/page.ts";
import { answer, answerPlain } from "../shared/pageSecurity.ts";
import { pickMany } from "../shared/quickInput.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";
import { pickRun, savePlots } from "./runFiles.ts";

export type RunRequest = "pause" | "resume" | "stop";

interface RunPageDependencies {
  readonly extensionUri: Uri;
  readonly runs: Runs;
  /** Carries out a request from a page. */
  readonly sendRequest: (request: RunRequest, monitor: RunMonitor) => Promise<void>;
  /** Opens the log of a run of TRL or verl. */
  readonly showLog: (monitor: RunMonitor) => Promise<void>;
}

export class RunPages implements Disposable {
  readonly #dependencies: RunPageDependencies;
  /** By the folder of the run. */
  readonly #pages: PageCollection<RunPage>;

  constructor(dependencies: RunPageDependencies) {
    this.#dependencies = dependencies;
    this.#pages = new PageCollection(dependencies.extensionUri, folder =>
      this.#createContent(dependencies.runs.getMonitor(folder)),
    );
  }

  /** Shows the page of a run; without a node, the user chooses the run. */
  async open(node: RunsNode | undefined): Promise<void> {
    this.show(node?.monitor ?? (await pickRun(this.#dependencies.runs, "Which run to show")));
  }

  show({ folder }: RunMonitor): void {
    this.#pages.show(folder);
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, folder: unknown): void {
    // only the runs that the view lists, so that a page cannot name another folder
    const monitor = this.#dependencies.runs.list().find(it => it.folder === folder);
    if (!monitor)
      throw new UserError("the run of a page was not found", "open it from the Runs view");
    this.#pages.restore(panel, monitor.folder);
  }

  dispose(): void {
    this.#pages.dispose();
  }

  #createContent(monitor: RunMonitor): PageContent<RunPage> {
    const send = async (request: RunRequest) => {
      await this.#dependencies.sendRequest(request, monitor);
      return null;
    };
    return {
      options: { name: "run", title: getRunName(monitor), icon: "run.svg" },
      subscribe: page => followRun(monitor, page),
      answers: {
        load: answerPlain(() => {
          if (!monitor.isAttached) monitor.readFiles();
          return createRunView(monitor);
        }),
        pause: answerPlain(() => send("pause")),
        resume: answerPlain(() => send("resume")),
        stop: answerPlain(() => send("stop")),
        showLog: answerPlain(async () => {
          await this.#dependencies.showLog(monitor);
          return null;
        }),
        openStep: answer(z.object({ step: z.number() }), async ({ step }) => {
          await this.#showAttempts(monitor, step);
          return null;
        }),
        chooseOthers: answerPlain(() => this.#chooseOthers(monitor)),
        savePlots: answer(z.object({ svg: z.string() }), async ({ svg }) => {
          await savePlots(monitor, svg);
          return null;
        }),
      },
    };
  }

  /** Lets the user choose runs of the same method to draw beside a run. */
  async #chooseOthers(monitor: RunMonitor): Promise<readonly OtherRun[] | undefined> {
    const others = this.#dependencies.runs
      .list()
      .filter(it => it !== monitor && it.config.method === monitor.config.method);
    const items = others
      .filter(it => it.steps.length > 0)
      .map(it => ({ label: getRunName(it), description: it.status.activity, monitor: it }));
    if (items.length === 0)
      throw new UserError(
        `there is no other run of ${monitor.config.method} with metrics`,
        "start a second training to compare it with this one",
      );
    const question = {
      title: `Runs to Draw beside ${getRunName(monitor)}`,
      text: "Choose none to draw this run alone",
    };
    const tooMany = `choose at most ${maxOthers} runs`;
    const chosen = await pickMany(items, question, {
      validate: runs => (runs.length > maxOthers ? tooMany : undefined),
    }).catch(ignoreCancellation);
    return chosen?.map(it => ({ run: it.label, steps: it.monitor.steps }));
  }

  /** Lists the attempts of the recorded step nearest to `step` in a table. */
  async #showAttempts(monitor: RunMonitor, step: number): Promise<void> {
    const { state, activity } = monitor.status;
    if (state === "unreadable")
      throw new UserError(
        `the attempts of ${getRunName(monitor)} cannot be opened: ${activity}`,
        "restore the folder",
      );
    const nearest = listRecordedSteps(monitor.folder)
      .toSorted((a, b) => Math.abs(a - step) - Math.abs(b - step))
      .at(0);
    if (nearest === undefined)
      throw new UserError(
        `${getRunName(monitor)} has no recorded attempts`,
        "set keepGroups in its configuration",
      );
    const node: RunsNode = { kind: "step", monitor, step: nearest };
    await commands.executeCommand("prove.showAttempts", node);
    if (nearest !== step)
      void showInformation(
        `Step ${step} was not recorded. The attempts are those of the nearest one, step ${nearest}.`,
      );
  }
}

/** As many as the page has line styles for. */
const maxOthers = 4;

function ignoreCancellation(error: unknown): undefined {
  if (error instanceof CancellationError) return undefined;
  throw error;
}

/** Sends the changes of a run to its page. */
const followRun = (monitor: RunMonitor, page: Page<RunPage>): { dispose(): void } =>
  monitor.onChange(change => {
    switch (change.kind) {
      case "steps":
        return page.sendEvent("stepsDone", change.steps);
      case "checkpoint":
        return page.sendEvent("checkpointSaved", change.step);
      case "evaluated":
        return page.sendEvent("evaluated", change.evaluation);
      case "status":
      case "finished":
      case "failed":
        return page.sendEvent("statusChanged", describeStatus(monitor));
      default:
        throw new Error(`unknown change of a run ${JSON.stringify(change satisfies never)}`);
    }
  });

const createRunView = (monitor: RunMonitor): RunView => ({
  run: getRunName(monitor),
  folder: monitor.folder,
  status: describeStatus(monitor),
  config: describeConfig(monitor.config),
  steps: monitor.steps,
  checkpoints: monitor.checkpoints,
  ...(monitor.evaluation ? { evaluation: monitor.evaluation } : {}),
});

const describeStatus = ({ status }: RunMonitor): RunStatus => ({
  ...status,
  activity: toEditorText(status.activity),
});

/** What the trainer noted is for the command-line program, too. */
function describeConfig(config: RunConfig): RunConfig {
  const { trainedWith } = config;
  if (!trainedWith) return config;
  const { notes, aboutTasks } = trainedWith;
  return {
    ...config,
    trainedWith: {
      ...trainedWith,
      notes: notes.map(toEditorText),
      ...(aboutTasks ? { aboutTasks: aboutTasks.map(toEditorText) } : {}),
    },
  };
}
