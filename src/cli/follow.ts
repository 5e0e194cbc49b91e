/**
 * Watches a trainer from the terminal: a line of progress for each step, and Ctrl-C as a request to
 * stop. Knows no run files.
 */
import { UserError } from "../userError.ts";
import type { TrainerEvent } from "../protocol/trainer.ts";
import type { Attachment } from "../run/attach.ts";
import type { StepMetrics } from "../run/metrics.ts";
import type { CliContext } from "./command.ts";

export interface FollowedTraining {
  readonly by: "steps" | "time" | "stop";
  readonly step: number;
  /** The steps that were seen. */
  readonly steps: readonly StepMetrics[];
}

/** Follows a training to its end. Throws its `UserError` where it failed. */
export async function followTraining(
  attachment: Attachment,
  { showProgress: progress, signal }: Pick<CliContext, "showProgress" | "signal">,
  label = "",
): Promise<FollowedTraining> {
  const stop = () => void attachment.request("stop").catch(() => {}); // one that has gone has stopped
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const steps: StepMetrics[] = [];
  let spent = 0;
  try {
    for await (const fact of attachment.events) {
      if (fact.kind === "stepped") spent += fact.metrics.seconds.total;
      if (fact.kind === "stepped") steps.push(fact.metrics);
      const end = ended(fact);
      if (end) return { ...end, steps };
      progress(`${label}${lineOf(fact, spent)}`);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    attachment.close();
  }
  throw new UserError(
    "the trainer died",
    "read trainer.log in the run folder, then go on with --resume",
  );
}

function ended(fact: TrainerEvent): { by: "steps" | "time" | "stop"; step: number } | undefined {
  if (fact.kind === "failed") throw new UserError(fact.what, fact.remedy);
  return fact.kind === "finished" ? { by: fact.by, step: fact.step } : undefined;
}

function lineOf(fact: TrainerEvent, spent: number): string {
  switch (fact.kind) {
    case "status":
      return fact.status.doing;
    case "saved":
      return `saved checkpoint ${fact.step}`;
    case "stepped":
      return `${clock(spent)}  ${formatStep(fact.metrics)}`;
    default:
      return "";
  }
}

/** One step in a line. */
export function formatStep(it: StepMetrics): string {
  if (it.method === "sft")
    return `step ${it.step}  loss ${it.loss.toFixed(3)}${it.validation === undefined ? "" : `  validation ${it.validation.toFixed(3)}`}`;
  return `step ${it.step}  reward ${it.reward.mean.toFixed(3)}  paper ${it.paper.toFixed(3)}  success ${(100 * it.success).toFixed(0)}%  flat ${(100 * it.zeroVariance).toFixed(0)}%  kl ${it.kl.toFixed(3)}  entropy ${it.entropy.toFixed(3)}`;
}

const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
