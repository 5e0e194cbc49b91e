/**
 * Measures students on held-out tasks: the start and the last checkpoint of a run, whose result is
 * stored in the run's folder, or a shipped student.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Uri } from "vscode";
import type { EvaluationResult } from "../../protocol/work.ts";
import { defaultProfile } from "../../reward/profiles.ts";
import { formatComputedWith } from "../../run/backends.ts";
import { evaluationFormat, getTrend, type RunEvaluation } from "../../run/evaluation.ts";
import { getCheckpointFolder } from "../../run/folder.ts";
import { UserError } from "../../userError.ts";
import { formatCount } from "../shared/text.ts";
import { icons } from "../shared/icons.ts";
import { showInformation, showWarning } from "../shared/notifications.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import { reportRejection } from "../shared/report.ts";
import { runCountedWork } from "../shared/program.ts";
import { pickTasksFile } from "../tasks/taskPrompts.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import { describeEvaluation, formatChange, formatShare } from "./runText.ts";
import type { RunMonitor } from "./runMonitor.ts";
import type { RunPages } from "./runPages.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";
import { listShippedStudents, type StudentChoice } from "./studentChoices.ts";

/** The most held-out tasks to attempt. Two students need less than half a minute for them. */
const limit = 200;

const title = "Evaluate";

interface EvaluationDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly tasks: TasksTree;
  readonly runs: Runs;
  readonly getPages: () => RunPages;
}

export class Evaluations {
  readonly #dependencies: EvaluationDependencies;

  constructor(dependencies: EvaluationDependencies) {
    this.#dependencies = dependencies;
  }

  /** Evaluates a run, or what the user chooses, and shows the result. */
  async start(node: RunsNode | undefined): Promise<void> {
    requireTrust("evaluating");
    const choice = node?.monitor ?? (await this.#pick());
    if ("label" in choice) return this.#evaluateStudent(choice);
    this.#dependencies.getPages().show(choice);
    await this.evaluateRun(choice);
    this.announce(choice, describeRunEvaluation(choice));
  }

  /**
   * Measures the start and the last checkpoint of a run, and stores the result. Throws a
   * `UserError` if it has no held-out tasks or no checkpoint after the start.
   */
  async evaluateRun(monitor: RunMonitor): Promise<void> {
    const { folder, config, checkpoints } = monitor;
    const step = checkpoints.at(-1) ?? 0;
    if (step === 0)
      throw new UserError(
        `${getRunName(monitor)} has no checkpoint after its start`,
        `train it to its end, or for at least ${formatCount(config.saveEvery, "step")}`,
      );
    const tasks = existsSync(config.tasks) ? config.tasks : await this.#pickTasks();
    const models = [getCheckpointFolder(folder, 0), getCheckpointFolder(folder, step)];
    const result = await this.#evaluate(getRunName(monitor), {
      tasks,
      models,
      profile: config.profile,
    });
    const [before, after] = result.measurements;
    const evaluation: RunEvaluation = {
      format: evaluationFormat,
      evaluatedAt: new Date().toISOString(),
      tasks,
      count: result.count,
      sets: result.sets,
      profile: config.profile,
      computedWith: result.computedWith,
      before: { step: 0, ...before! },
      after: { step, ...after! },
      change: result.change!,
    };
    monitor.storeEvaluation(evaluation);
  }

  /** Shows a text about an evaluated run: as a warning if its success fell. */
  announce(monitor: RunMonitor, text: string): void {
    const { evaluation } = monitor;
    const fell = evaluation && getTrend(evaluation.change.success) === "lower";
    const shown = (fell ? showWarning : showInformation)(text, "Show Run");
    reportRejection(shown.then(it => it && this.#dependencies.getPages().show(monitor)));
  }

  async #evaluateStudent({ label, folder }: StudentChoice): Promise<void> {
    const tasks = await this.#pickTasks();
    const work = { tasks, models: [folder], profile: defaultProfile.name };
    const { count, computedWith, measurements } = await this.#evaluate(label, work);
    const { success } = measurements[0]!;
    const where = `${formatCount(count, "held-out task")} in ${basename(tasks)}`;
    const about =
      computedWith.notes.length > 0 ? ` Computed with ${formatComputedWith(computedWith)}.` : "";
    reportRejection(
      showInformation(`${label}: success ${formatShare(success)} on ${where}.${about}`),
    );
  }

  #evaluate(
    name: string,
    work: { readonly tasks: string; readonly models: readonly string[]; readonly profile: string },
  ): Promise<EvaluationResult> {
    const { extensionUri, folder } = this.#dependencies;
    const { tasks, models, profile } = work;
    return runCountedWork(
      "evaluate",
      { tasks, models, profile, limit, fixtures: folder.fixtureFolders },
      `Evaluating ${name}`,
      { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
    );
  }

  async #pick(): Promise<RunMonitor | StudentChoice> {
    const { runs, folder } = this.#dependencies;
    const trained = runs.list().filter(it => (it.checkpoints.at(-1) ?? 0) > 0);
    const items = [
      ...trained.map(monitor => ({
        label: getRunName(monitor),
        description: `its start and step ${monitor.checkpoints.at(-1)}${describeLast(monitor)}`,
        iconPath: icons.metrics,
        choice: monitor,
      })),
      ...listShippedStudents(Uri.joinPath(folder.resources, "models").fsPath).map(student => ({
        label: student.label,
        description: student.description,
        iconPath: icons.checkpoint,
        choice: student,
      })),
    ];
    return (await pickOne(items, { title, text: "Which run or student to evaluate" })).choice;
  }

  async #pickTasks(): Promise<string> {
    const files = await this.#dependencies.tasks.listFiles();
    if (files.length === 0)
      throw new UserError("there are no tasks to evaluate on", "synthesize tasks first");
    return (await pickTasksFile(files, { title, text: "On which tasks" })).fsPath;
  }
}

const describeRunEvaluation = (monitor: RunMonitor): string =>
  `${getRunName(monitor)}: ${describeEvaluation(monitor.evaluation!)}.`;

const describeLast = ({ evaluation }: RunMonitor): string =>
  evaluation
    ? ` · success ${formatChange(evaluation.before.success, evaluation.after.success)}`
    : "";
