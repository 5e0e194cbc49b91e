/**
 * Reads a file in the format GGUF, in which llama.cpp keeps models: what it says of the model, and
 * its tensors one at a time. Versions 2 and 3 with the least significant byte first.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readWithoutWaiting, createIrregularError } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";
import { blockTypes, getTypeName, type BlockType } from "./blocks.ts";

/** A value of the metadata. Arrays have values of one type. */
type GgufValue = number | string | boolean | readonly GgufValue[];

interface GgufTensor {
  /** As in safetensors: the rows first. A GGUF file has them in the other order. */
  readonly shape: readonly number[];
  readonly type: BlockType;
}

export interface GgufFile {
  readonly file: string;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** The numbers of a tensor. Throws a `UserError` if one of them is NaN or infinite. */
  read(name: string): Float32Array;
  close(): void;
}

/** A file that ended early, or says something impossible of itself. */
class Damage extends Error {}

/**
 * Opens a file and checks that it is complete. Throws a `UserError` that names the file if it is
 * another format, or is cut off, or has numbers of a type that is not read. The caller closes it.
 */
export function openGguf(file: string): GgufFile {
  let descriptor: number;
  try {
    descriptor = openSync(file, readWithoutWaiting);
  } catch (cause) {
    throw new UserError(`${file} cannot be read`, "name a GGUF file that exists", { cause });
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw createIrregularError(file);
    const { metadata, tensors, start } = readHeader(file, descriptor);
    return {
      file,
      metadata,
      tensors,
      read: name => readTensor(descriptor, start, { file, name, tensor: tensors.get(name)! }),
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    if (!(error instanceof Damage)) throw error;
    throw new UserError(`${file} is not a whole GGUF file: ${error.message}`, "download it again");
  }
}

interface StoredTensor extends GgufTensor {
  /** Of its first byte, from where the numbers of all tensors begin. */
  readonly offset: number;
  readonly bytes: number;
}

function readHeader(file: string, descriptor: number) {
  const { size } = fstatSync(descriptor);
  const reader = createReader(descriptor, size);
  if (size < 4 || reader.bytes(4).toString("latin1") !== "GGUF")
    throw new UserError(
      `${file} is not a GGUF file: it does not begin with GGUF`,
      "name a file that llama.cpp reads, or use the folder of the model as it is",
    );
  const version = reader.number("u32");
  if (version !== 2 && version !== 3)
    throw new UserError(
      `${file} is of version ${version} of GGUF${version >= 2 ** 16 ? ", or has the most significant byte first" : ""}; versions 2 and 3 are read`,
      "download a newer file of the model, or convert it again with llama.cpp",
    );
  const tensorCount = reader.number("u64");
  const valueCount = reader.number("u64");
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < valueCount; i++) {
    const key = reader.text();
    metadata.set(key, readValue(reader, reader.number("u32"), key));
  }
  const tensors = new Map<string, StoredTensor>();
  for (let i = 0; i < tensorCount; i++) {
    const name = reader.text();
    const dimensions = reader.number("u32");
    if (dimensions > 4) throw new Damage(`${name} has ${dimensions} dimensions`);
    const shape = Array.from({ length: dimensions }, () => reader.number("u64")).toReversed();
    const type = findType(file, name, reader.number("u32"));
    const numbers = shape.reduce((product, n) => product * n, 1);
    const { block, bytes } = blockTypes[type];
    if ((shape.at(-1) ?? 1) % block !== 0)
      throw new Damage(`the rows of ${name} are no multiple of ${block}, as ${type} needs`);
    const offset = reader.number("u64");
    tensors.set(name, { shape, type, offset, bytes: (numbers / block) * bytes });
  }
  const alignment = metadata.get("general.alignment") ?? 32;
  if (typeof alignment !== "number" || !Number.isInteger(alignment) || alignment < 1)
    throw new Damage("general.alignment is not a number of bytes");
  const start = Math.ceil(reader.position() / alignment) * alignment;
  for (const [name, { offset, bytes }] of tensors)
    if (start + offset + bytes > size)
      throw new Damage(
        `it ends before the numbers of ${name} do: it has ${size} bytes and needs ${start + offset + bytes}`,
      );
  return { metadata, tensors, start };
}

function findType(file: string, name: string, id: number): BlockType {
  const found = Object.entries(blockTypes).find(([, it]) => it.id === id);
  if (found) return found[0] as BlockType;
  throw new UserError(
    `${file} has ${name} as ${getTypeName(id)}; the types ${Object.keys(blockTypes).join(", ")} are read`,
    "choose a file of the model in one of them, for example Q8_0 or Q4_K_M",
  );
}

const numberTypes = {
  u8: { bytes: 1, read: (it: Buffer) => it.readUInt8() },
  i8: { bytes: 1, read: (it: Buffer) => it.readInt8() },
  u16: { bytes: 2, read: (it: Buffer) => it.readUInt16LE() },
  i16: { bytes: 2, read: (it: Buffer) => it.readInt16LE() },
  u32: { bytes: 4, read: (it: Buffer) => it.readUInt32LE() },
  i32: { bytes: 4, read: (it: Buffer) => it.readInt32LE() },
  f32: { bytes: 4, read: (it: Buffer) => it.readFloatLE() },
  u64: { bytes: 8, read: (it: Buffer) => Number(it.readBigUInt64LE()) },
  i64: { bytes: 8, read: (it: Buffer) => Number(it.readBigInt64LE()) },
  f64: { bytes: 8, read: (it: Buffer) => it.readDoubleLE() },
} as const;
type NumberType = keyof typeof numberTypes;

const [boolType, stringType, arrayType] = [7, 8, 9];
/** The types of numbers by their ids in a file. */
const numberIds: Readonly<Record<number, NumberType>> = {
  0: "u8",
  1: "i8",
  2: "u16",
  3: "i16",
  4: "u32",
  5: "i32",
  6: "f32",
  10: "u64",
  11: "i64",
  12: "f64",
};

function readValue(reader: Reader, type: number, key: string): GgufValue {
  const numberType = numberIds[type];
  if (numberType) return reader.number(numberType);
  if (type === boolType) return reader.number("u8") !== 0;
  if (type === stringType) return reader.text();
  if (type !== arrayType) throw new Damage(`${key} has a value of the unknown type ${type}`);
  const elementType = reader.number("u32");
  const length = reader.number("u64");
  reader.require(length);
  const values: GgufValue[] = [];
  for (let i = 0; i < length; i++) values.push(readValue(reader, elementType, key));
  return values;
}

interface Reader {
  number(type: NumberType): number;
  text(): string;
  bytes(count: number): Buffer;
  /** Throws if the file has not so many bytes more. */
  require(count: number): void;
  position(): number;
}

const pieceBytes = 2 ** 20;

/** Reads from the start of a file on, a piece at a time. */
function createReader(descriptor: number, size: number): Reader {
  let piece: Buffer = Buffer.alloc(0);
  /** Of the first byte of the piece in the file, and of the next byte in the piece. */
  let [start, next] = [0, 0];
  const require = (count: number) => {
    if (start + next + count > size) throw new Damage("it ends before its header does");
  };
  const bytes = (count: number): Buffer => {
    require(count);
    if (next + count > piece.length) {
      start += next;
      next = 0;
      piece = readBytes(descriptor, start, Math.min(Math.max(count, pieceBytes), size - start));
    }
    next += count;
    return piece.subarray(next - count, next);
  };
  const number = (type: NumberType) => numberTypes[type].read(bytes(numberTypes[type].bytes));
  return {
    number,
    text: () => bytes(number("u64")).toString("utf8"),
    bytes,
    require,
    position: () => start + next,
  };
}

function readBytes(descriptor: number, position: number, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  // one call reads at most two gigabytes
  for (let at = 0; at < count;) {
    const length = Math.min(count - at, 2 ** 30);
    const read = readSync(descriptor, bytes, { offset: at, length, position: position + at });
    if (read === 0) throw new Error("a file became shorter while it was read");
    at += read;
  }
  return bytes;
}

function readTensor(
  descriptor: number,
  start: number,
  {
    file,
    name,
    tensor: { shape, type, offset, bytes },
  }: { readonly file: string; readonly name: string; readonly tensor: StoredTensor },
): Float32Array {
  const values = new Float32Array(shape.reduce((product, n) => product * n, 1));
  const { block, bytes: blockBytes, decode } = blockTypes[type];
  // some blocks at a time, so that the file and its numbers are not both in memory
  const blocks = Math.ceil(pieceBytes / blockBytes);
  for (let at = 0; at < bytes; at += blocks * blockBytes) {
    const count = Math.min(blocks * blockBytes, bytes - at);
    const first = (at / blockBytes) * block;
    decode(
      readBytes(descriptor, start + offset + at, count),
      values.subarray(first, first + (count / blockBytes) * block),
    );
  }
  const index = values.findIndex(it => !Number.isFinite(it));
  if (index >= 0)
    throw new UserError(
      `${file} has ${values[index]} in ${name}, at index ${index}: no model can compute with it`,
      "download it again, or choose another file of the model",
    );
  return values;
}
