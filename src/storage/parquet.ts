/** Reads the rows of Parquet files, as JSON. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { CompressionCodec, Compressors } from "hyparquet";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet/src/node.js";
import { UserError } from "../userError.ts";
import { toReadError } from "./fileErrors.ts";
import type { OnReplaced } from "./pythonJson.ts";
import { decompressZstandard } from "./zstandard.ts";

/**
 * The rows of a Parquet file. Inside a row, keys whose value is null are left out: a column of
 * objects has the keys of all of its rows, and null where a row has none. Throws a `UserError` for
 * a file that cannot be read, such as one that was cut off.
 */
export async function readParquetRows(
  file: string,
  onReplaced?: OnReplaced,
): Promise<readonly object[]> {
  let replaced = 0;
  const toJson = (value: unknown): unknown => {
    if (value === undefined) return null;
    if (typeof value === "bigint") return Number(value);
    if (typeof value === "number" && !Number.isFinite(value)) {
      replaced++;
      return null;
    }
    if (value instanceof Date) return value.toISOString();
    if (Array.isArray(value)) return value.map(toJson);
    if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<unknown>)].map(toJson);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, it]) =>
        it === null || it === undefined ? [] : [[key, toJson(it)]],
      ),
    );
  };
  try {
    const buffer = await asyncBufferFromFile(file);
    const rows = await parquetReadObjects({ file: buffer, compressors: createCompressors(file) });
    const json = rows.map(row =>
      Object.fromEntries(Object.entries(row).map(([key, it]) => [key, toJson(it)])),
    );
    if (replaced > 0) onReplaced?.(replaced);
    return json;
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

/** What decompresses the parts of a file, besides Snappy. */
function createCompressors(file: string): Compressors {
  const refuse = (codec: CompressionCodec) => (): never => {
    throw new UserError(
      `${file} is compressed with ${codec}, which cannot be read`,
      "write it with Zstandard, Snappy, gzip or Brotli, or without compression",
    );
  };
  return {
    GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(length, 1) }),
    BROTLI: (input, length) =>
      brotliDecompressSync(input, { maxOutputLength: Math.max(length, 1) }),
    ZSTD: decompressZstandard,
    LZ4: refuse("LZ4"),
    LZ4_RAW: refuse("LZ4_RAW"),
    LZO: refuse("LZO"),
  };
}
