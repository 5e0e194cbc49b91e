/**
 * The checks that the Test Explorer runs on stored attempts: whether each call gives the recorded
 * result again, and whether the attempt succeeds.
 */
import type { Catalog } from "../../environment/catalog.ts";
import { defaultProfile } from "../../reward/profiles.ts";
import { createScorer, scoreRecorded } from "../../reward/scorer.ts";
import { getSuccess } from "../../reward/success.ts";
import { describeReplaced, type RecordedAttempt } from "../../trajectory/attempt.ts";
import { checkReplay, type ReplayedStep } from "../../trajectory/replay.ts";
import { type CallEvent, formatCallLine } from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";

export type CheckResult =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      readonly message: string;
      /** The index of the event that the message is about; undefined for the attempt's end. */
      readonly event?: number;
      /** What differs in a call's result, as JSON. */
      readonly difference?: { readonly expected: string; readonly actual: string };
    }
  /** Why the attempt cannot be checked. */
  | { readonly kind: "errored"; readonly message: string };

export type Check = (catalog: Catalog, attempt: RecordedAttempt) => CheckResult;

/** Makes the recorded calls again in a fresh session, and compares their results. */
export const checkResults: Check = (catalog, { trajectory }) =>
  withUserErrors(() => {
    const { verdict, first, what, remedy } = checkReplay(catalog, trajectory);
    if (verdict === "same" || !first) return { kind: "passed" };
    return {
      kind: "failed",
      message: `${what}; ${remedy}`,
      event: first.event,
      difference: {
        expected: formatFields(first.recorded, first),
        actual: formatFields(first.replayed, first),
      },
    };
  });

/** Whether the final state is right and everything asked for was shown. */
export const checkSuccess: Check = (catalog, attempt) => {
  const score = scoreRecorded(createScorer(catalog), attempt, defaultProfile);
  if ("unscorable" in score) return { kind: "errored", message: score.unscorable };
  const { achieved, reasons } = getSuccess(score.attempt);
  if (achieved) return { kind: "passed" };
  const note = describeReplaced(score.attempt);
  const message = reasons.join("; ");
  return { kind: "failed", message: note === undefined ? message : `${message} (${note})` };
};

/** A missing server, fixture or tool is a result of the check. */
function withUserErrors(check: () => CheckResult): CheckResult {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: "errored", message: `${error.what}; ${error.remedy}` };
  }
}

const formatFields = (call: CallEvent, { differingFields }: ReplayedStep): string => {
  const line = formatCallLine(call);
  const fields = Object.fromEntries(differingFields.map(it => [it, line[it]]));
  return JSON.stringify(fields, null, 2);
};
