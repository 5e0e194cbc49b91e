/** Shows the progress and the end of a training run in notifications. */
import type { CancellationToken } from "vscode";
import { formatCount } from "../shared/count.ts";
import { showInformation, type ProgressReport } from "../shared/notifications.ts";
import { reportRejection } from "../shared/report.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName } from "./runs.ts";

/** Reports each step until the trainer exits. Cancelling asks the trainer to stop. */
export function reportProgress(
  monitor: RunMonitor,
  progress: ProgressReport,
  token: CancellationToken,
): Promise<void> {
  return new Promise(resolve => {
    let reportedStep = monitor.status.step;
    const report = () => {
      const { step, steps, activity } = monitor.status;
      const last = monitor.steps.at(-1);
      const reward = last?.method === "grpo" ? ` · reward ${last.reward.mean.toFixed(3)}` : "";
      const increment = steps ? (100 * (step - reportedStep)) / steps : 0;
      progress.report({ message: `${activity}${reward}`, increment });
      reportedStep = step;
    };
    const subscription = monitor.onChange(() => {
      report();
      resolveWhenDetached();
    });
    const resolveWhenDetached = () => {
      if (monitor.isAttached) return;
      subscription.dispose();
      resolve();
    };
    token.onCancellationRequested(() => reportRejection(monitor.request("stop")));
    report();
    // the trainer may have exited before the subscription
    resolveWhenDetached();
  });
}

/** Announces that a run has finished or was stopped, with a button that calls `showRun`. */
export function announceEnd(
  monitor: RunMonitor,
  by: "steps" | "time" | "stop",
  showRun: () => void,
): void {
  const rewards = monitor.steps.filter(it => it.method === "grpo").map(it => it.reward.mean);
  const change = rewards.length
    ? `: first reward ${rewards[0]!.toFixed(3)}, last reward ${rewards.at(-1)!.toFixed(3)}`
    : "";
  const n = monitor.steps.length;
  const when = n === 0 ? "before its first step" : `after ${formatCount(n, "step")}`;
  const ended = by === "stop" ? "was stopped" : "has finished";
  const message = `${getRunName(monitor)} ${ended} ${when}${change}.`;
  reportRejection(showInformation(message, "Show Run").then(chosen => chosen && showRun()));
}
