/**
 * Writes metrics as TensorBoard event files: records with a length and checksums, each of which
 * contains scalars as a protobuf event.
 */
import { join } from "node:path";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { appendBytes } from "../storage/writtenFiles.ts";
import { resumable } from "./folder.ts";
import type { StepMetrics } from "./metrics.ts";

/**
 * Creates an event file of a run. After a resume, a new file replaces the later steps of others.
 */
export function openEventWriter(
  folder: string,
  opening: { readonly seconds: number; readonly firstStep: number },
): (seconds: number, metrics: StepMetrics) => void {
  const file = join(
    folder,
    `events.out.tfevents.${Math.floor(opening.seconds)}.${String(opening.firstStep).padStart(6, "0")}`,
  );
  const append = (event: Uint8Array) =>
    withWriteErrors(file, () => appendBytes(file, formatRecord(event)), resumable);
  append(message(double(1, opening.seconds), bytes(3, text("brain.Event:2"))));
  // SessionLog START: TensorBoard ignores later steps in other files of the run
  append(
    message(
      double(1, opening.seconds),
      varint(2, opening.firstStep),
      bytes(7, message(varint(1, 1))),
    ),
  );
  return (seconds, metrics) => {
    const values = [...listScalars(metrics)].map(([tag, value]) =>
      bytes(1, message(bytes(1, text(tag)), float(2, value))),
    );
    append(message(double(1, seconds), varint(2, metrics.step), bytes(5, message(...values))));
  };
}

/** All numbers of a step by path, such as `parts/coverage`. */
export function listScalars(metrics: StepMetrics): ReadonlyMap<string, number> {
  const scalars = new Map<string, number>();
  const collect = (value: unknown, path: string) => {
    if (typeof value === "number") scalars.set(path, value);
    else if (typeof value === "object" && value !== null && !Array.isArray(value))
      for (const [key, it] of Object.entries(value)) collect(it, path ? `${path}/${key}` : key);
  };
  const { step: _step, ...rest } = metrics;
  collect(rest, "");
  return scalars;
}

const text = (it: string) => new TextEncoder().encode(it);
const message = (...fields: readonly Uint8Array[]) => Buffer.concat(fields);
const tag = (field: number, wire: number) => Uint8Array.of((field << 3) | wire);

function varint(field: number, value: number): Uint8Array {
  return Buffer.concat([tag(field, 0), number(value)]);
}

function number(value: number): Uint8Array {
  const digits: number[] = [];
  let rest = value;
  do {
    digits.push((rest % 128) + (rest >= 128 ? 128 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Uint8Array.from(digits);
}

function double(field: number, value: number): Uint8Array {
  const it = Buffer.alloc(8);
  it.writeDoubleLE(value);
  return Buffer.concat([tag(field, 1), it]);
}

function float(field: number, value: number): Uint8Array {
  const it = Buffer.alloc(4);
  it.writeFloatLE(value);
  return Buffer.concat([tag(field, 5), it]);
}

const bytes = (field: number, value: Uint8Array) =>
  Buffer.concat([tag(field, 2), number(value.length), value]);

/** A record: the length, the length's checksum, the bytes and their checksum. */
function formatRecord(event: Uint8Array): Uint8Array {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(event.length));
  return Buffer.concat([
    length,
    computeMaskedChecksum(length),
    event,
    computeMaskedChecksum(event),
  ]);
}

/** The masked CRC-32C of TensorFlow's record format. */
function computeMaskedChecksum(data: Uint8Array): Uint8Array {
  const crc = crc32c(data);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  return bytes;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, i) => {
  let it = i;
  for (let bit = 0; bit < 8; bit++) it = it & 1 ? (it >>> 1) ^ 0x82f63b78 : it >>> 1;
  return it;
});

/** CRC-32C (Castagnoli). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = crcTable[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
