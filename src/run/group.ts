/**
 * The attempts of one step, as groups/<step>.jsonl keeps them: each with its breakdown, its
 * advantage and what was clipped.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import {
  formatBreakdownLine,
  parseBreakdownLine,
  type BreakdownLine,
} from "../reward/breakdown.ts";
import { formatTrajectoryLine, trajectorySchema } from "../trajectory/trajectoryLine.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { readLog, type Log } from "../storage/jsonLines.ts";
import { getGroupsFile, resumable } from "./folder.ts";

export const groupFormat = "prove/group@1";

const line = z.object({
  format: z.literal(groupFormat),
  step: z.int().min(1),
  task: z.string(),
  /** Which attempt of its group. */
  attempt: z.int().min(0),
  advantage: z.number(),
  success: z.boolean(),
  /** The total under the paper's own parts and weights. */
  paper: z.number(),
  breakdown: z
    .custom<BreakdownLine>(it => typeof it === "object" && it !== null && "total" in it)
    .transform(parseBreakdownLine),
  /** Places among the attempt's sampled tokens whose ratio was clipped. */
  clipped: z.array(z.int()),
  trajectory: trajectorySchema,
});

/** One attempt of a step. */
export type GroupLine = z.infer<typeof line>;

export function writeGroups(folder: string, step: number, lines: readonly GroupLine[]): void {
  const file = getGroupsFile(folder, step);
  withWriteErrors(file, () => mkdirSync(dirname(file), { recursive: true }), resumable);
  writeFileAtomicallySync(
    file,
    lines.map(it => `${JSON.stringify(formatLine(it))}\n`).join(""),
    resumable,
  );
}

const formatLine = (line: GroupLine) => ({
  ...line,
  breakdown: formatBreakdownLine(line.breakdown),
  trajectory: formatTrajectoryLine(line.trajectory),
});

/** The attempts of a step, none where they were not kept. */
export const readGroups = (folder: string, step: number): Log<GroupLine> =>
  readLog(line, getGroupsFile(folder, step));
