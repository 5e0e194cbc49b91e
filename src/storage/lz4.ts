/** Decompresses LZ4 as it is in Parquet files: as blocks, with or without the frames of Hadoop. */

/** The contents of one block, which must have `length` bytes. */
export function decompressLz4Block(bytes: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  const written = readBlock(bytes, output, 0);
  if (written !== length) throw new Error(`its contents have ${written} bytes, not ${length}`);
  return output;
}

/**
 * The contents of what the codec `LZ4` names, which must have `length` bytes: frames, each with the
 * size of its contents and one or more blocks with their sizes, or a single block without a frame.
 */
export function decompressLz4(bytes: Uint8Array, length: number): Uint8Array {
  return readFrames(bytes, length) ?? decompressLz4Block(bytes, length);
}

/** Undefined if the bytes are not frames. */
function readFrames(bytes: Uint8Array, length: number): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const output = new Uint8Array(length);
  let [read, written] = [0, 0];
  try {
    while (read < bytes.length) {
      const end = written + view.getUint32(read);
      read += 4;
      if (end > length) return undefined;
      while (written < end) {
        const size = view.getUint32(read);
        read += 4;
        if (size > bytes.length - read) return undefined;
        written = readBlock(bytes.subarray(read, read + size), output, written);
        read += size;
      }
      if (written > end) return undefined;
    }
  } catch {
    return undefined;
  }
  return written === length ? output : undefined;
}

/** The shortest repetition. */
const minMatch = 4;

/** Writes the contents of a block from a position on, and returns the position after them. */
function readBlock(bytes: Uint8Array, output: Uint8Array, start: number): number {
  let [read, written] = [0, start];
  const readByte = (): number => {
    const byte = bytes[read++];
    if (byte === undefined) throw new Error("its contents are cut off");
    return byte;
  };
  /** A length of four bits goes on in the next bytes if all of its bits are set. */
  const readLength = (bits: number): number => {
    let length = bits;
    for (let more = bits === 15; more;) {
      const byte = readByte();
      length += byte;
      more = byte === 255;
    }
    return length;
  };
  while (read < bytes.length) {
    const token = readByte();
    const literals = readLength(token >> 4);
    if (literals > bytes.length - read) throw new Error("its contents are cut off");
    if (literals > output.length - written) throw new Error("its contents are too long");
    output.set(bytes.subarray(read, read + literals), written);
    read += literals;
    written += literals;
    // the last sequence has literals only
    if (read === bytes.length) break;
    const distance = readByte() | (readByte() << 8);
    const end = written + readLength(token & 15) + minMatch;
    if (distance === 0 || distance > written - start)
      throw new Error("it repeats what comes before its start");
    if (end > output.length) throw new Error("its contents are too long");
    // the repetition may overlap with what it repeats
    for (; written < end; written++) output[written] = output[written - distance]!;
  }
  return written;
}
