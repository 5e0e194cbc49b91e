/** How a run ends if its trainer fails: what happened, and what the user can do. */
import type { RunEnd } from "../run/folder.ts";
import { UserError } from "../userError.ts";

/** `hasBegun`: whether the first step of this training has begun. */
export function describeFailure(error: unknown, step: number, hasBegun: boolean): RunEnd {
  // an error of a worker is the cause of another error
  const userError = [error, (error as Error).cause].find(
    it => it instanceof UserError || (it as Error | undefined)?.name === "UserError",
  ) as UserError | undefined;
  if (userError) {
    const { what, remedy } = userError;
    return { by: "failed", step, what, remedy, ...(hasBegun ? {} : { isRefused: true }) };
  }
  return {
    by: "failed",
    step,
    what: `the training failed: ${(error as Error).message}`,
    remedy: "trainer.log in the run folder has the details; the run can be resumed",
  };
}
