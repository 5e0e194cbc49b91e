/**
 * Follows a trainer from the terminal: prints a line of progress for each step, and asks the
 * trainer to stop when the command is interrupted.
 */
import { UserError } from "../userError.ts";
import type { TrainerEvent } from "../protocol/trainer.ts";
import type { Attachment } from "../run/attach.ts";
import { formatAlarm } from "../run/alarms.ts";
import type { StepMetrics } from "../run/metrics.ts";
import type { CliContext } from "./command.ts";

export interface TrainingEnd {
  readonly by: "steps" | "time" | "stop";
  readonly step: number;
}

export interface FollowedTraining extends TrainingEnd {
  /** The steps that were trained while it was followed. */
  readonly steps: readonly StepMetrics[];
}

/** Follows a training to its end. Throws the trainer's `UserError` if it fails. */
export async function followTraining(
  attachment: Attachment,
  { printNote, showProgress, signal }: Pick<CliContext, "printNote" | "showProgress" | "signal">,
  label = "",
): Promise<FollowedTraining> {
  // a trainer that cannot be reached has stopped already
  const stop = () => void attachment.request("stop").catch(() => {});
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const steps: StepMetrics[] = [];
  let seconds = 0;
  try {
    for await (const event of attachment.events) {
      if (event.kind === "stepped") {
        seconds += event.metrics.seconds.total;
        steps.push(event.metrics);
        for (const it of event.metrics.alarms ?? [])
          printNote(`${label}${formatAlarm(event.metrics.step, it)}`);
      }
      const end = readEnd(event);
      if (end) return { ...end, steps };
      showProgress(`${label}${formatEvent(event, seconds)}`);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    attachment.close();
  }
  throw new UserError(
    "the trainer died",
    "read trainer.log in the run folder, then continue with --resume",
  );
}

function readEnd(event: TrainerEvent): TrainingEnd | undefined {
  if (event.kind === "failed") throw new UserError(event.what, event.remedy);
  return event.kind === "finished" ? { by: event.by, step: event.step } : undefined;
}

function formatEvent(event: TrainerEvent, seconds: number): string {
  switch (event.kind) {
    case "status":
      return event.status.doing;
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
  return `step ${step}  reward ${reward.mean.toFixed(3)}  paper ${paper.toFixed(3)}  success ${(100 * success).toFixed(0)}%  flat ${(100 * zeroVariance).toFixed(0)}%  kl ${kl.toFixed(3)}  entropy ${entropy.toFixed(3)}`;
}

const formatTime = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
