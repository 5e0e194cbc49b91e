/** The splits of tasks, as options offer them. */
import type { Task } from "../trajectory/task.ts";

export const splits = [
  "train",
  "heldout-chain",
  "heldout-server",
] as const satisfies readonly Task["split"][];
