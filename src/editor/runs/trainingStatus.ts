/** Shows the run that is being trained in the status bar: step, reward and time left. */
import type { Disposable } from "vscode";
import { createStatusItem, type StatusItem } from "../shared/notifications.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { TrainingQueue } from "./trainingQueue.ts";
import { estimateSecondsLeft, formatTimeLeft } from "./runText.ts";

export class TrainingStatus implements Disposable {
  readonly #item: StatusItem = createStatusItem("prove.training", "PROVE Training");
  readonly #runs: Runs;
  readonly #queue: TrainingQueue;
  readonly #subscription: Disposable;

  constructor(runs: Runs, queue: TrainingQueue) {
    this.#runs = runs;
    this.#queue = queue;
    this.#subscription = runs.onDidChange(() => this.#update());
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#item.dispose();
  }

  #update(): void {
    const active = this.#runs.listAttached();
    const [monitor] = active;
    if (!monitor) return this.#item.hide();
    const { size } = this.#queue;
    const others = [
      ...(active.length > 1 ? [` · ${active.length - 1} more`] : []),
      ...(size > 0 ? [` · ${size} queued`] : []),
    ].join("");
    this.#item.show({
      icon: monitor.status.state === "paused" ? "debug-pause" : "sync~spin",
      text: `${describeTraining(monitor)}${others}`,
      tooltip: `${getRunName(monitor)}: ${monitor.status.activity}. Select to show the run.`,
      command: {
        command: "prove.showRun",
        title: "Show Run",
        arguments: [{ kind: "run", monitor }],
      },
    });
  }
}

function describeTraining({ status, steps }: RunMonitor): string {
  const last = steps.at(-1);
  const total = status.steps === undefined ? "" : `/${status.steps}`;
  const value =
    last === undefined
      ? ""
      : last.method === "grpo"
        ? ` · reward ${last.reward.mean.toFixed(2)}`
        : ` · loss ${last.loss.toFixed(2)}`;
  const left = status.state === "training" ? estimateSecondsLeft(status) : undefined;
  const state = status.state === "training" ? `step ${status.step}${total}` : status.state;
  return `${state}${value}${left === undefined ? "" : ` · ${formatTimeLeft(left)} left`}`;
}
