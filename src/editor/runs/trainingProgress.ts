/** Reports the progress of a training, and says how it ended. */
import type { CancellationToken } from "vscode";
import { formatCount } from "../shared/text.ts";
import type { ProgressReport } from "../shared/notifications.ts";
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

/** Says how a training ended, such as "few-1 has finished after 52 steps". */
export function describeTrainingEnd(monitor: RunMonitor, by: "steps" | "time" | "stop"): string {
  const n = monitor.steps.length;
  const when = n === 0 ? "before its first step" : `after ${formatCount(n, "step")}`;
  return `${getRunName(monitor)} ${by === "stop" ? "was stopped" : "has finished"} ${when}`;
}

/** The first and the last reward of a training, which tell less than an evaluation. */
export function describeRewards({ steps }: RunMonitor): string {
  const rewards = steps.filter(it => it.method === "grpo").map(it => it.reward.mean);
  return rewards.length
    ? `first reward ${rewards[0]!.toFixed(3)}, last reward ${rewards.at(-1)!.toFixed(3)}`
    : "";
}
