/** Reads and writes named arrays in the safetensors format, in 32 or 16 bits. */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { UserError } from "../userError.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { fromFloat16, toFloat16 } from "./float16.ts";

export interface NamedArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export interface Weights {
  readonly arrays: ReadonlyMap<string, NamedArray>;
  /** The `__metadata__` of the file. */
  readonly metadata: Readonly<Record<string, string>>;
}

export type Precision = "F32" | "F16";

const bytesOf = { F32: 4, F16: 2 } as const;

/** Writes all arrays in one precision; F16 rounds to nearest, ties to even. */
export async function writeWeights(
  file: string,
  { arrays, metadata }: Weights,
  precision: Precision,
): Promise<void> {
  const entries: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  for (const [name, { shape, values }] of arrays) {
    const begin = end;
    end += values.length * bytesOf[precision];
    entries[name] = { dtype: precision, shape, data_offsets: [begin, end] };
  }
  // the format recommends that the numbers begin at a multiple of 8
  const text = Buffer.from(JSON.stringify(entries));
  const header = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const numbers = [...arrays.values()].map(({ values }) => encode(values, precision));
  await writeFileAtomically(file, [length, header, ...numbers]);
}

function encode(values: Float32Array, precision: Precision): Uint8Array {
  const numbers = precision === "F32" ? values : toFloat16(values);
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

const entry = z.object({
  dtype: z.enum(["F32", "F16"]),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});
const metadataEntry = z.record(z.string(), z.string());

/**
 * Reads a file of F32 and F16 arrays. Throws a `UserError` that names the file if it is missing,
 * incomplete or in another format, and the array that has NaN or an infinite number.
 */
export async function readWeights(file: string): Promise<Weights> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new UserError(`the weights ${file} cannot be read`, "name a file that exists", { cause });
  });
  const createError = (why: string, cause?: unknown) =>
    new UserError(
      `${file} is not a whole safetensors file: ${why}`,
      "copy it again, or choose another checkpoint",
      { cause },
    );
  const start = bytes.length < 8 ? Infinity : 8 + Number(bytes.readBigUInt64LE());
  if (start > bytes.length) throw createError("it ends before its header does");
  let header: Record<string, unknown>;
  try {
    header = z.record(z.string(), z.unknown()).parse(JSON.parse(bytes.toString("utf8", 8, start)));
  } catch (cause) {
    throw createError("its header is not JSON", cause);
  }
  const { __metadata__: rawMetadata = {}, ...entries } = header;
  const metadata = metadataEntry.safeParse(rawMetadata);
  if (!metadata.success) throw createError("its metadata are not strings");
  const arrays = new Map<string, NamedArray>();
  for (const [name, value] of Object.entries(entries)) {
    const parsed = entry.safeParse(value);
    if (!parsed.success)
      throw createError(
        `${name} is described in a way that is not understood, or is neither F32 nor F16`,
      );
    const {
      dtype,
      shape,
      data_offsets: [begin, end],
    } = parsed.data;
    if (start + end > bytes.length) throw createError(`it ends before the numbers of ${name} do`);
    const count = shape.reduce((product, n) => product * n, 1);
    if (end - begin !== count * bytesOf[dtype])
      throw createError(`${name} of shape ${shape.join(" x ")} takes ${end - begin} bytes`);
    const values = decode(bytes, start + begin, count, dtype);
    const invalid = values.findIndex(it => !Number.isFinite(it));
    if (invalid >= 0)
      throw new UserError(
        `${file} has ${values[invalid]} in ${name}, at index ${invalid}: no model can compute with it`,
        "choose an earlier checkpoint, or copy the file again",
      );
    arrays.set(name, { shape, values });
  }
  return { arrays, metadata: metadata.data };
}

function decode(bytes: Buffer, from: number, count: number, dtype: Precision): Float32Array {
  // a copy, because the numbers may not be aligned to their size
  const copy = new Uint8Array(bytes.subarray(from, from + count * bytesOf[dtype])).buffer;
  return dtype === "F32" ? new Float32Array(copy) : fromFloat16(new Uint16Array(copy));
}
