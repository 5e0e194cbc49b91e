/** How a run ends if its trainer fails: what happened, and what the user can do. */
import type { RunEnd } from "../run/folder.ts";
import { UserError } from "../userError.ts";

export function describeFailure(error: unknown, step: number): RunEnd {
  // an error of a worker is the cause of another error
  const userError = [error, (error as Error).cause].find(
    it => it instanceof UserError || (it as Error | undefined)?.name === "UserError",
  ) as UserError | undefined;
  if (userError) return { by: "failed", step, what: userError.what, remedy: userError.remedy };
  return {
    by: "failed",
    step,
    what: `the training failed: ${(error as Error).message}`,
    remedy: "trainer.log in the run folder has the details; the run can be resumed",
  };
}
