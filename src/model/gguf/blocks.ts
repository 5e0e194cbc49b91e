/**
 * The types of numbers in a GGUF file, and how they are decoded: 16 and 32 bits, and blocks of
 * quantized weights with their scales, as ggml lays them out.
 */
import { fromFloat16, fromBfloat16 } from "../weights.ts";

interface BlockFormat {
  /** As files name it. */
  readonly id: number;
  /** Numbers in a block, and its bytes. */
  readonly block: number;
  readonly bytes: number;
  /** Decodes whole blocks. */
  readonly decode: (bytes: Buffer, values: Float32Array) => void;
}

/** Decodes one block of `bytes` from `at` into `values` from `to` on. */
type DecodeBlock = (bytes: Buffer, at: number, values: Float32Array, to: number) => void;

const createFormat = (
  id: number,
  block: number,
  bytes: number,
  decodeBlock: DecodeBlock,
): BlockFormat => ({
  id,
  block,
  bytes,
  decode(from, values) {
    for (let i = 0; i * bytes < from.length; i++) decodeBlock(from, i * bytes, values, i * block);
  },
});

const read16Bits = (bytes: Buffer): Uint16Array =>
  Uint16Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16LE(2 * i));

/** The scale or offset of a block, in 16 bits. */
const readHalf = (bytes: Buffer, at: number): number => {
  half[0] = bytes.readUInt16LE(at);
  return fromFloat16(half)[0]!;
};
const half = new Uint16Array(1);

/** Blocks of 32 numbers in 4 bits, of 5 with the highest in bits of their own. */
const createSmallFormat = (
  id: number,
  { bits, hasOffset }: { readonly bits: 4 | 5; readonly hasOffset: boolean },
): BlockFormat => {
  const highAt = hasOffset ? 4 : 2;
  const lowAt = highAt + (bits === 5 ? 4 : 0);
  const middle = hasOffset ? 0 : 2 ** (bits - 1);
  return createFormat(id, 32, lowAt + 16, (bytes, at, values, to) => {
    const scale = readHalf(bytes, at);
    const offset = hasOffset ? readHalf(bytes, at + 2) : 0;
    const high = bits === 5 ? bytes.readUInt32LE(at + highAt) : 0;
    for (let i = 0; i < 32; i++) {
      const byte = bytes[at + lowAt + (i % 16)]!;
      const low = i < 16 ? byte & 15 : byte >> 4;
      values[to + i] = (low + (((high >>> i) & 1) << 4) - middle) * scale + offset;
    }
  });
};

/**
 * The scale and offset of a group of 32 in a block of 256, which has eight of each in 6 bits: those
 * of the last four groups are in the highest bits of the first four, and in four bytes more.
 */
function readGroup(bytes: Buffer, at: number, group: number): readonly [number, number] {
  const i = group % 4;
  const [scales, offsets, more] = [bytes[at + i]!, bytes[at + 4 + i]!, bytes[at + 8 + i]!];
  return group < 4
    ? [scales & 63, offsets & 63]
    : [(more & 15) | ((scales >> 6) << 4), (more >> 4) | ((offsets >> 6) << 4)];
}

/** Blocks of 256 numbers in 4 bits, of 5 with the highest in bits of their own. */
const createGroupedFormat = (id: number, bits: 4 | 5): BlockFormat => {
  const lowAt = bits === 5 ? 48 : 16;
  return createFormat(id, 256, lowAt + 128, (bytes, at, values, to) => {
    const scale = readHalf(bytes, at);
    const offset = readHalf(bytes, at + 2);
    for (let group = 0; group < 8; group++) {
      const [groupScale, groupOffset] = readGroup(bytes, at + 4, group);
      for (let i = 0; i < 32; i++) {
        const byte = bytes[at + lowAt + 32 * (group >> 1) + i]!;
        const low = group % 2 === 0 ? byte & 15 : byte >> 4;
        const high = bits === 5 ? ((bytes[at + 16 + i]! >> group) & 1) << 4 : 0;
        values[to + 32 * group + i] = scale * groupScale * (low + high) - offset * groupOffset;
      }
    }
  });
};

const decodeQ6K: DecodeBlock = (bytes, at, values, to) => {
  const scale = readHalf(bytes, at + 208);
  for (let i = 0; i < 256; i++) {
    // two halves of 128; in each, four rows of 32, whose bits are beside each other
    const [side, row, column] = [i >> 7, (i >> 5) & 3, i & 31];
    const byte = bytes[at + 64 * side + 32 * (row & 1) + column]!;
    const low = row < 2 ? byte & 15 : byte >> 4;
    const high = (bytes[at + 128 + 32 * side + column]! >> (2 * row)) & 3;
    const groupScale = bytes.readInt8(at + 192 + (i >> 4));
    values[to + i] = scale * groupScale * ((low | (high << 4)) - 32);
  }
};

export const blockTypes = {
  F32: createFormat(0, 1, 4, (bytes, at, values, to) => {
    values[to] = bytes.readFloatLE(at);
  }),
  F16: {
    id: 1,
    block: 1,
    bytes: 2,
    decode: (bytes, values) => values.set(fromFloat16(read16Bits(bytes))),
  },
  BF16: {
    id: 30,
    block: 1,
    bytes: 2,
    decode: (bytes, values) => values.set(fromBfloat16(read16Bits(bytes))),
  },
  Q4_0: createSmallFormat(2, { bits: 4, hasOffset: false }),
  Q4_1: createSmallFormat(3, { bits: 4, hasOffset: true }),
  Q5_0: createSmallFormat(6, { bits: 5, hasOffset: false }),
  Q5_1: createSmallFormat(7, { bits: 5, hasOffset: true }),
  Q8_0: createFormat(8, 32, 34, (bytes, at, values, to) => {
    const scale = readHalf(bytes, at);
    for (let i = 0; i < 32; i++) values[to + i] = bytes.readInt8(at + 2 + i) * scale;
  }),
  Q4_K: createGroupedFormat(12, 4),
  Q5_K: createGroupedFormat(13, 5),
  Q6_K: createFormat(14, 256, 210, decodeQ6K),
} satisfies Record<string, BlockFormat>;

export type BlockType = keyof typeof blockTypes;

/** Types that are not read, by their ids in a file. */
const otherTypes: Readonly<Record<number, string>> = {
  9: "Q8_1",
  10: "Q2_K",
  11: "Q3_K",
  15: "Q8_K",
  16: "IQ2_XXS",
  17: "IQ2_XS",
  18: "IQ3_XXS",
  19: "IQ1_S",
  20: "IQ4_NL",
  21: "IQ3_S",
  22: "IQ2_S",
  23: "IQ4_XS",
  24: "I8",
  25: "I16",
  26: "I32",
  27: "I64",
  28: "F64",
  29: "IQ1_M",
  34: "TQ1_0",
  35: "TQ2_0",
  39: "MXFP4",
};

/** The name of a type that is not read. */
export const getTypeName = (id: number): string => otherTypes[id] ?? `the unknown type ${id}`;
