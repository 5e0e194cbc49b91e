/**
 * Reads and writes groups/<step>.jsonl, the attempts of one step: each with its breakdown, its
 * advantage and the tokens whose ratio was clipped.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import {
  formatBreakdownLine,
  parseBreakdownLine,
  type BreakdownLine,
} from "../reward/breakdown.ts";
import { createTaskLine, parseTaskLine, taskLineSchema } from "../trajectory/task.ts";
import { formatTrajectoryLine, trajectorySchema } from "../trajectory/trajectory.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { isTooDeep } from "../storage/jsonDepth.ts";
import { readLog, type Log } from "../storage/jsonLines.ts";
import { getGroupsFile, resumable } from "./folder.ts";

export const groupFormat = "prove/group@1";

const groupLineSchema = z.object({
  format: z.literal(groupFormat),
  step: z.int().min(1),
  task: z.string(),
  /** The number of the attempt in its group, from 0. */
  attempt: z.int().min(0),
  advantage: z.number(),
  /** What is added to the advantage of each call's tokens; only with `grpo.credit: "call"`. */
  credits: z.array(z.number()).optional(),
  success: z.boolean(),
  /** The total under the paper's profile. */
  paper: z.number(),
  breakdown: z
    .custom<BreakdownLine>(it => typeof it === "object" && it !== null && "total" in it)
    .transform(parseBreakdownLine),
  /** The positions of the sampled tokens whose ratio was clipped. */
  clipped: z.array(z.int()),
  trajectory: trajectorySchema,
  /** The task, if it is a variant that was made for this step. */
  variant: taskLineSchema.transform(parseTaskLine).optional(),
});

/** One attempt of a step. */
export type GroupLine = z.infer<typeof groupLineSchema>;

export function writeGroups(folder: string, step: number, lines: readonly GroupLine[]): void {
  const file = getGroupsFile(folder, step);
  withWriteErrors(file, () => mkdirSync(dirname(file), { recursive: true }), resumable);
  writeFileAtomicallySync(
    file,
    lines.map(it => `${JSON.stringify(formatLine(it))}\n`).join(""),
    resumable,
  );
}

const formatLine = ({ variant, ...line }: GroupLine) => ({
  ...line,
  breakdown: formatBreakdownLine(line.breakdown),
  trajectory: formatTrajectoryLine(line.trajectory),
  ...(variant ? { variant: createTaskLine(variant) } : {}),
});

/** The attempt of a line's JSON, or undefined if it is none. */
export const parseGroupLine = (json: unknown): GroupLine | undefined =>
  isTooDeep(json, "document") ? undefined : groupLineSchema.safeParse(json).data;

/** The attempts of a step; empty if they were not stored. */
export const readGroups = (folder: string, step: number): Log<GroupLine> =>
  readLog(groupLineSchema, getGroupsFile(folder, step));

/** The attempts of a step in the order of its tasks, whichever replica made them. */
export const sortAttempts = (groups: readonly GroupLine[]): readonly GroupLine[] =>
  groups.toSorted((a, b) => getTaskIndex(a) - getTaskIndex(b) || a.attempt - b.attempt);

/** The index of the task within its step, from the id `task/step.index.attempt`. */
const getTaskIndex = ({ trajectory }: GroupLine): number =>
  Number(trajectory.header.id.split("/").at(-1)!.split(".")[1]);
