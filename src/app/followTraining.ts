/**
 * Follows a trainer from the terminal: prints a line of progress for each step, and asks the
 * trainer to stop when the command is interrupted.
 */
import { UserError } from "../userError.ts";
import type { TrainerEvent } from "../protocol/trainer.ts";
import type { Attachment } from "../run/attach.ts";
import { findFinalAlarms, formatAlarm, formatFinalAlarms } from "../run/alarms.ts";
import { readMetrics } from "../run/folder.ts";
import { findDeathError } from "../run/start.ts";
import type { Alarm, StepMetrics } from "../run/metrics.ts";
import type { AppContext } from "./context.ts";

/** How a training ended; `alarm` if its weights were spoiled, so that it could not go on. */
interface TrainingEnd {
  readonly by: "steps" | "time" | "stop" | "alarm";
  readonly step: number;
}

export interface FollowedTraining extends TrainingEnd {
  /** The steps that were trained while it was followed. */
  readonly steps: readonly StepMetrics[];
  /** The alarms of the run that hold at its end, and what they say in one line. */
  readonly alarms: readonly Alarm[];
  readonly warning?: string;
}

/**
 * Follows the training of a run folder to its end. Throws the trainer's `UserError` if it fails for
 * a reason other than an alarm.
 */
export async function followTraining(
  folder: string,
  attachment: Attachment,
  { printNote, showProgress, signal }: Pick<AppContext, "printNote" | "showProgress" | "signal">,
  label = "",
): Promise<FollowedTraining> {
  // a trainer that cannot be reached has stopped already
  const stop = () => void attachment.request("stop").catch(() => {});
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const steps: StepMetrics[] = [];
  const warnings = new Set<string>();
  let seconds = 0;
  try {
    for await (const event of attachment.events) {
      if (event.kind === "stepped") {
        seconds += event.metrics.seconds.total;
        steps.push(event.metrics);
        for (const it of event.metrics.alarms ?? [])
          // this one ends the training, and is said then
          if (it.kind !== "not-a-number")
            printNote(`${label}${formatAlarm(event.metrics.step, it)}`);
      }
      if (event.kind === "status")
        for (const it of event.status.warnings ?? []) {
          if (!warnings.has(it)) printNote(`${label}${it}`);
          warnings.add(it);
        }
      const end = findEnd(event, steps);
      if (end) return { ...end, steps, ...checkAlarms(readMetrics(folder).lines) };
      showProgress(`${label}${formatEvent(event, steps.at(-1), seconds)}`);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    attachment.close();
  }
  throw (
    (await findDeathError(folder, attachment.pid)) ??
    new UserError(
      "the connection to the trainer is lost",
      "follow the training again with --resume",
    )
  );
}

function checkAlarms(steps: readonly StepMetrics[]): Pick<FollowedTraining, "alarms" | "warning"> {
  const alarms = findFinalAlarms(steps);
  return { alarms, ...(alarms.length > 0 ? { warning: formatFinalAlarms(alarms, steps) } : {}) };
}

function findEnd(event: TrainerEvent, steps: readonly StepMetrics[]): TrainingEnd | undefined {
  if (event.kind === "finished") return { by: event.by, step: event.step };
  if (event.kind !== "failed") return undefined;
  const last = steps.at(-1);
  if (!last?.alarms?.some(it => it.kind === "not-a-number"))
    throw new UserError(event.what, event.remedy);
  return { by: "alarm", step: last.step };
}

/** While a step is taken, the metrics of the last one stay. */
function formatEvent(event: TrainerEvent, last: StepMetrics | undefined, seconds: number): string {
  switch (event.kind) {
    case "status":
      return last
        ? `${formatTime(seconds)}  ${formatStep(last)}  ${event.status.doing}`
        : event.status.doing;
    case "saved":
      return `saved checkpoint ${event.step}`;
    case "stepped":
      return `${formatTime(seconds)}  ${formatStep(event.metrics)}`;
    default:
      return "";
  }
}

/** The metrics of a step in one line. */
export function formatStep(metrics: StepMetrics): string {
  if (metrics.method === "sft") {
    const { step, loss, validation } = metrics;
    return `step ${step}  loss ${loss.toFixed(3)}${validation === undefined ? "" : `  validation ${validation.toFixed(3)}`}`;
  }
  const { step, reward, paper, success, zeroVariance, kl, entropy } = metrics;
  return `step ${step}  reward ${reward.mean.toFixed(3)}  paper ${paper.toFixed(3)}  success ${(100 * success).toFixed(0)}%  flat ${(100 * zeroVariance).toFixed(0)}%  kl ${kl?.toFixed(3) ?? "-"}  entropy ${entropy.toFixed(3)}`;
}

const formatTime = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
