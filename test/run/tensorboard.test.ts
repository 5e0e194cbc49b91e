/** Event files, parsed as TensorBoard parses them: records, checksums and protobuf fields. */
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SftStep } from "../../src/run/metrics.ts";
import { crc32c, openEventWriter, listScalars } from "../../src/run/tensorboard.ts";

const metrics: SftStep = {
  step: 300,
  method: "sft",
  loss: 0.5,
  gradientNorm: 2,
  learningRate: 1e-3,
  tokens: 10,
  taught: 4,
  conversations: 1,
  seconds: { learning: 0.25, total: 1 },
};

/** The payloads of a record file. Throws where a length or a checksum is wrong. */
function recordsIn(file: Buffer): Buffer[] {
  const records: Buffer[] = [];
  const unmasked = (at: number) => {
    const rotated = (file.readUInt32LE(at) - 0xa282ead8) >>> 0;
    return ((rotated << 15) | (rotated >>> 17)) >>> 0;
  };
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at));
    if (unmasked(at + 8) !== crc32c(file.subarray(at, at + 8)))
      throw new Error("the length's checksum is wrong");
    const payload = file.subarray(at + 12, at + 12 + length);
    if (unmasked(at + 12 + length) !== crc32c(payload)) throw new Error("the checksum is wrong");
    records.push(payload);
    at += 16 + length;
  }
  return records;
}

/** A protobuf message's fields: numbers by their bytes, nested messages as bytes. */
function fieldsOf(message: Buffer): { field: number; value: number | Buffer }[] {
  const fields: { field: number; value: number | Buffer }[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const field = tag >> 3;
    if ((tag & 7) === 0) fields.push({ field, value: varint() });
    else if ((tag & 7) === 1) fields.push({ field, value: message.readDoubleLE((at += 8) - 8) });
    else if ((tag & 7) === 5) fields.push({ field, value: message.readFloatLE((at += 4) - 4) });
    else {
      const length = varint();
      fields.push({ field, value: message.subarray(at, (at += length)) });
    }
  }
  return fields;
}

describe("an event file", () => {
  test("uses the format's checksum, CRC-32C", () =>
    expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283));

  test("begins with its version and first step, and contains each step's numbers by path", () => {
    const folder = mkdtempSync(join(tmpdir(), "prove-events-"));
    const append = openEventWriter(folder, { seconds: 1000.5, firstStep: 300 });
    append(1001, metrics);
    const [file] = readdirSync(folder);
    expect(file).toMatch(/^events\.out\.tfevents\.1000\./);
    const [version, opening, step] = recordsIn(readFileSync(join(folder, file!))).map(fieldsOf);
    expect(version!.find(it => it.field === 3)!.value.toString()).toBe("brain.Event:2");
    expect(opening!.find(it => it.field === 2)!.value).toBe(300);
    expect(step!.slice(0, 2)).toEqual([
      { field: 1, value: 1001 },
      { field: 2, value: 300 },
    ]);
    const values = fieldsOf(step!.find(it => it.field === 5)!.value as Buffer).map(it =>
      fieldsOf(it.value as Buffer),
    );
    expect(values.map(([tag, value]) => [tag!.value.toString(), value!.value])).toContainEqual([
      "seconds/learning",
      0.25,
    ]);
    expect(values).toHaveLength(listScalars(metrics).size);
  });
});
