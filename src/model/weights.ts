/** Reads and writes named arrays in the safetensors format, in 32 or 16 bits. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { z } from "zod";
import { UserError } from "../userError.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { createIrregularError, readWithoutWaiting } from "../storage/textFiles.ts";

export interface NamedArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** An array that is read when it is written, so that not all are in memory at once. */
export interface LazyArray {
  readonly shape: readonly number[];
  /** If it differs from that of the file. */
  readonly precision?: Precision;
  read(): Promise<Float32Array>;
}

export interface Weights<T extends NamedArray | LazyArray = NamedArray> {
  readonly arrays: ReadonlyMap<string, T>;
  /** The `__metadata__` of the file. */
  readonly metadata: Readonly<Record<string, string>>;
}

type Precision = "F32" | "F16" | "BF16";

const bytesOf = { F32: 4, F16: 2, BF16: 2 } as const;

/** Writes arrays in a precision; 16 bits are rounded to nearest, ties to even. */
export async function writeWeights(
  file: string,
  { arrays, metadata }: Weights<NamedArray | LazyArray>,
  precision: Precision,
): Promise<void> {
  const entries: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  const getPrecision = (it: NamedArray | LazyArray) =>
    ("precision" in it ? it.precision : undefined) ?? precision;
  for (const [name, array] of arrays) {
    const [begin, dtype] = [end, getPrecision(array)];
    end += countNumbers(array.shape) * bytesOf[dtype];
    entries[name] = { dtype, shape: array.shape, data_offsets: [begin, end] };
  }
  // the format recommends that the numbers begin at a multiple of 8
  const text = Buffer.from(JSON.stringify(entries));
  const header = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await writeFileAtomically(file, {
    async *[Symbol.asyncIterator]() {
      yield* [length, header];
      for (const it of arrays.values())
        yield encode("read" in it ? await it.read() : it.values, getPrecision(it));
    },
  });
}

const countNumbers = (shape: readonly number[]): number => shape.reduce((size, n) => size * n, 1);

function encode(values: Float32Array, precision: Precision): Uint8Array {
  const numbers =
    precision === "F32" ? values : precision === "F16" ? toFloat16(values) : toBfloat16(values);
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

const entry = z.object({
  dtype: z.string(),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});
interface Entry extends z.infer<typeof entry> {
  readonly dtype: Precision;
}
const metadataEntry = z.record(z.string(), z.string());

/** A file whose arrays are read one at a time. */
interface WeightFile {
  readonly file: string;
  /** The `__metadata__` of the file. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly arrays: ReadonlyMap<string, Pick<Entry, "dtype" | "shape">>;
  /** Throws a `UserError` that names the array if it has NaN or an infinite number. */
  read(name: string): Float32Array;
  /** The numbers of an array, some millions at a time. Throws as `read` does. */
  readPieces(name: string): Iterable<Float32Array>;
  /** Throws as `read` does, for all arrays, without having one of them in memory. */
  checkNumbers(): void;
  close(): void;
}

/** Numbers that are read at a time where they are only checked. */
const pieceLength = 2 ** 22;

/**
 * Reads a file of F32, F16 and BF16 arrays. Throws a `UserError` that names the file if it is
 * missing, incomplete or in another format, and the array that has NaN or an infinite number.
 */
export async function readWeights(file: string): Promise<Weights> {
  const opened = openWeights(file);
  try {
    const arrays = new Map<string, NamedArray>();
    for (const [name, { shape }] of opened.arrays)
      arrays.set(name, { shape, values: opened.read(name) });
    return { arrays, metadata: opened.metadata };
  } finally {
    opened.close();
  }
}

/** Opens a file of arrays and checks that it is complete. The caller closes it. */
export function openWeights(file: string): WeightFile {
  let descriptor: number;
  try {
    descriptor = openSync(file, readWithoutWaiting);
  } catch (cause) {
    throw new UserError(`the weights ${file} cannot be read`, "name a file that exists", { cause });
  }
  try {
    const { metadata, entries, start } = readHeader(file, descriptor);
    const read = (name: string): Float32Array => {
      const array = entries.get(name);
      if (!array) throw new Error(`${file} has no ${name}`);
      const values = decode(readBytes(descriptor, start, array.data_offsets), array.dtype);
      checkFinite(values, 0, { file, name });
      return values;
    };
    const readPieces = function* (name: string) {
      const { dtype, data_offsets } = entries.get(name)!;
      const [begin, end] = data_offsets;
      const size = pieceLength * bytesOf[dtype];
      for (let at = begin; at < end; at += size) {
        const values = decode(readBytes(descriptor, start, [at, Math.min(at + size, end)]), dtype);
        checkFinite(values, (at - begin) / bytesOf[dtype], { file, name });
        yield values;
      }
    };
    const checkNumbers = () => {
      for (const name of entries.keys()) for (const _ of readPieces(name));
    };
    const close = () => closeSync(descriptor);
    return { file, metadata, arrays: entries, read, readPieces, checkNumbers, close };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** More than a model has, and the longest header that safetensors allow. */
const [maxArrays, maxHeaderBytes] = [100_000, 100_000_000];

function readHeader(file: string, descriptor: number) {
  const createError = (why: string, cause?: unknown) =>
    new UserError(
      `${file} is not a whole safetensors file: ${why}`,
      "copy it again, or choose another checkpoint",
      { cause },
    );
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) throw createIrregularError(file);
  const { size } = stats;
  checkPointer(file, descriptor, size);
  const length = size < 8 ? Infinity : Number(readBytes(descriptor, 0, [0, 8]).readBigUInt64LE());
  const start = 8 + length;
  if (start > size) throw createError("it ends before its header does");
  if (length > maxHeaderBytes)
    throw createError(`its header has ${length} bytes, and ${maxHeaderBytes} are the most`);
  let header: Record<string, unknown>;
  try {
    const text = readBytes(descriptor, 0, [8, start]).toString("utf8");
    header = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch (cause) {
    throw createError("its header is not JSON", cause);
  }
  const { __metadata__: rawMetadata = {}, ...described } = header;
  const metadata = metadataEntry.safeParse(rawMetadata);
  if (!metadata.success) throw createError("its metadata are not strings");
  const count = Object.keys(described).length;
  if (count > maxArrays) throw createError(`it has ${count} arrays, and ${maxArrays} are the most`);
  const entries = new Map<string, Entry>();
  for (const [name, value] of Object.entries(described)) {
    const parsed = entry.safeParse(value);
    if (!parsed.success) throw createError(`${name} is described in a way that is not understood`);
    const {
      shape,
      data_offsets: [begin, end],
    } = parsed.data;
    const dtype = checkPrecision(file, name, parsed.data.dtype);
    if (start + end > size)
      throw createError(
        `it ends before the numbers of ${name} do: it has ${size} bytes and needs ${start + end}`,
      );
    if (end - begin !== countNumbers(shape) * bytesOf[dtype])
      throw createError(`${name} of shape ${shape.join(" x ")} takes ${end - begin} bytes`);
    entries.set(name, { ...parsed.data, dtype });
  }
  return { metadata: metadata.data, entries, start };
}

/** How the small text begins that Git has in the place of a large file until that is fetched. */
const pointerStart = "version https://git-lfs";

function checkPointer(file: string, descriptor: number, size: number): void {
  if (size < pointerStart.length || size > 1024) return;
  if (readBytes(descriptor, 0, [0, pointerStart.length]).toString() !== pointerStart) return;
  throw new UserError(
    `${file} only says where Git LFS has the weights`,
    "fetch them with git lfs pull, or download the whole model folder again",
  );
}

function checkPrecision(file: string, name: string, dtype: string): Precision {
  if (Object.hasOwn(bytesOf, dtype)) return dtype as Precision;
  throw new UserError(
    `${file} has ${name} as ${dtype}, and weights can be ${Object.keys(bytesOf).join(", ")}`,
    "choose a version of the model that is not quantized",
  );
}

/** The bytes of a file from `start + begin` to `start + end`. */
function readBytes(
  descriptor: number,
  start: number,
  [begin, end]: readonly [number, number],
): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(end - begin));
  // one call reads at most two gigabytes
  for (let at = 0; at < bytes.length;) {
    const count = readSync(descriptor, bytes, {
      offset: at,
      length: Math.min(bytes.length - at, 2 ** 30),
      position: start + begin + at,
    });
    if (count === 0) throw new Error("a file became shorter while it was read");
    at += count;
  }
  return bytes;
}

function decode({ buffer }: Buffer, dtype: Precision): Float32Array {
  if (dtype === "F32") return new Float32Array(buffer);
  return dtype === "F16"
    ? fromFloat16(new Uint16Array(buffer))
    : fromBfloat16(new Uint16Array(buffer));
}

/** `start` is the index of the first value in its array. */
function checkFinite(
  values: Float32Array,
  start: number,
  { file, name }: { readonly file: string; readonly name: string },
): void {
  for (let i = 0; i < values.length; i++)
    if (!Number.isFinite(values[i]))
      throw new UserError(
        `${file} has ${values[i]} in ${name}, at index ${start + i}: no model can compute with it`,
        "choose an earlier checkpoint, or copy the file again",
      );
}

// Converts numbers to and from 16 bits: IEEE 754 binary16, for Nodes without Float16Array, and
// bfloat16, which is the upper half of 32 bits.

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** Rounds to nearest, ties to even. Numbers that are too large become infinite. */
export function toFloat16(values: Float32Array): Uint16Array {
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) halves[i] = encodeFloat16(values[i] as number);
  return halves;
}

export function fromFloat16(halves: Uint16Array): Float32Array {
  decoded ??= Float32Array.from({ length: 2 ** 16 }, (_, half) => decodeFloat16(half));
  const values = new Float32Array(halves.length);
  for (let i = 0; i < values.length; i++) values[i] = decoded[halves[i] as number] as number;
  return values;
}

/** The number that each of the 65,536 halves stands for: faster than decoding every weight. */
let decoded: Float32Array | undefined;

function encodeFloat16(value: number): number {
  single[0] = value;
  const word = bits[0] as number;
  const sign = (word >>> 16) & 0x8000;
  const exponent = (word >>> 23) & 0xff;
  const fraction = word & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction ? 0x200 : 0);
  const scaled = exponent - 127 + 15;
  if (scaled >= 0x1f) return sign | 0x7c00;
  // below 2^-14 the number is subnormal: the leading 1 is explicit and the fraction shifted
  const shift = scaled <= 0 ? 14 - scaled : 13;
  if (shift > 24) return sign;
  const whole = scaled <= 0 ? fraction | 0x800000 : fraction;
  const truncated = (scaled <= 0 ? 0 : scaled << 10) | (whole >>> shift);
  const rest = whole & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  // rounding up may carry into the exponent, which is correct
  return sign | (truncated + (rest > middle || (rest === middle && (truncated & 1) === 1) ? 1 : 0));
}

function decodeFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Rounds to nearest, ties to even. */
function toBfloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) {
    const word = words[i] as number;
    halves[i] = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}

export function fromBfloat16(halves: Uint16Array): Float32Array {
  const words = new Uint32Array(halves.length);
  for (let i = 0; i < words.length; i++) words[i] = (halves[i] as number) << 16;
  return new Float32Array(words.buffer);
}
