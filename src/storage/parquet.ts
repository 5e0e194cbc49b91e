/** Reads the rows of Parquet files, as JSON. */
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet/src/node.js";
import { UserError } from "../userError.ts";
import { toReadError } from "./fileErrors.ts";

/**
 * The rows of a Parquet file. Keys whose value is null are left out: a column of objects has the
 * keys of all of its rows, and null where a row has none. Throws a `UserError` for a file that
 * cannot be read, such as one that was cut off.
 */
export async function readParquetRows(file: string): Promise<readonly object[]> {
  try {
    const buffer = await asyncBufferFromFile(file);
    return (await parquetReadObjects({ file: buffer })).map(it => toJson(it) as object);
  } catch (cause) {
    const error = toReadError(file, cause);
    if (error instanceof UserError) throw error;
    throw new UserError(
      `${file} is not a whole Parquet file (${(cause as Error).message})`,
      "its index is at its end, so that none of a file that was cut off can be read: write it again",
      { cause },
    );
  }
}

function toJson(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toJson);
  if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<unknown>)].map(toJson);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, it]) =>
      it === null || it === undefined ? [] : [[key, toJson(it)]],
    ),
  );
}
