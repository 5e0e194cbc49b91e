/** Creates runs that differ from another one by the seed alone, to tell an effect from chance. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRun, getCheckpointFolder } from "../../run/folder.ts";
import { version } from "../../version.ts";
import { ActionableError } from "../shared/report.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName } from "./runs.ts";

/** Whether a run has the model that it started from, so that others can start from it, too. */
export const canRepeat = ({ folder, config }: RunMonitor): boolean =>
  config.engine === undefined && existsSync(getCheckpointFolder(folder, 0));

/**
 * Creates runs like `monitor` with seeds that no run like it has, and returns their folders. `runs`
 * are all runs. Throws a `UserError` if the run no longer has the model that it started from.
 */
export function createSeededRuns(
  monitor: RunMonitor,
  runs: readonly RunMonitor[],
  count: number,
): readonly string[] {
  if (!canRepeat(monitor))
    throw new ActionableError(
      `${getRunName(monitor)} does not have the model that it started from`,
      "start a new training",
      { title: "Start Training", command: "prove.startTraining" },
    );
  const { folder, config } = monitor;
  const used = new Set(
    runs
      .filter(it => it.config.tasks === config.tasks && it.config.from === config.from)
      .map(it => it.config.seed),
  );
  const name = getRunName(monitor).replace(/-seed-\d+$/, "");
  const getFolder = (seed: number) => join(dirname(folder), `${name}-seed-${seed}`);
  const created: string[] = [];
  for (let seed = config.seed + 1; created.length < count; seed++) {
    if (used.has(seed) || existsSync(getFolder(seed))) continue;
    const { trainedWith: _, ...settings } = config;
    // the list of runs is in the order in which they began
    const began = new Date(Date.now() + created.length).toISOString();
    const repeated = { ...settings, version, began, seed };
    createRun(getFolder(seed), repeated, getCheckpointFolder(folder, 0));
    created.push(getFolder(seed));
  }
  return created;
}
