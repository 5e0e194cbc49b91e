/** What a format of rollouts is: how its files are read, and what a row of them says. */
import { z } from "zod";
import type { Rollout } from "./rollout.ts";

/** Checks a part of a row. Throws a `UserError` that names the line and the key. */
export type CheckRow = <T>(schema: z.ZodType<T>, json: unknown) => T;

/** A rollout whose id is the file and line unless the row has one. */
export type ParsedRollout = Omit<Rollout, "id"> & { readonly id?: string | undefined };

export interface RolloutFormat {
  readonly name: string;
  /** What a row is; completes "log.jsonl:3 is not …". */
  readonly noun: string;
  /** The software that writes such files. */
  readonly writer: string;
  /** The key of the list, if a file is one JSON document with a list of rollouts. */
  readonly listKey?: string;
  /** The names of the rows in an archive, if files can be archives. */
  readonly archivedRows?: RegExp;
  /** Undefined for a row that is no rollout, such as a heading. */
  readonly parseRow: (json: unknown, check: CheckRow) => ParsedRollout | undefined;
}

/**
 * A number as Python software writes it, perhaps as a text. Null stands for no number, as do the
 * texts of Python for NaN and infinity.
 */
export function toNumber(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^\s*([+-]?(nan|inf(inity)?))?\s*$/i.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

export const numberSchema = z.preprocess(toNumber, z.number().nullish()).nullish();

/** The columns of our exports that name the attempted task. */
export const taskColumns = {
  task_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  // -1 stands for the whole task
  turn: z
    .preprocess(toNumber, z.int().min(-1).nullish())
    .nullish()
    .transform(it => (it === -1 ? undefined : it)),
};
