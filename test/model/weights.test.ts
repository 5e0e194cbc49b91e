/** Weights in the safetensors format: round trips, the layout, files that are refused, 16 bits. */
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  fromFloat16,
  toFloat16,
  openWeights,
  readWeights,
  writeWeights,
  type Weights,
} from "../../src/model/weights.ts";
import { UserError } from "../../src/userError.ts";
import { randomArray } from "../compute/numbers.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-"));
const file = join(folder, "weights.safetensors");

const createWeights = (
  ...arrays: readonly (readonly [string, readonly number[], Float32Array])[]
): Weights => ({
  arrays: new Map(arrays.map(([name, shape, values]) => [name, { shape, values }])),
  metadata: { name: "tiny", step: "12" },
});

const createSample = () =>
  createWeights(
    ["a", [3, 5], randomArray(15, 1)],
    ["b.c", [7], randomArray(7, 2)],
    ["one", [], Float32Array.of(4)],
  );

test("32-bit weights are read as written, with names, shapes, order and metadata", async () => {
  await writeWeights(file, createSample(), "F32");
  expect(await readWeights(file)).toEqual(createSample());
  expect(readdirSync(folder)).toEqual(["weights.safetensors"]);
});

test("16-bit weights are read rounded, and do not change when they are written again", async () => {
  await writeWeights(file, createSample(), "F16");
  const rounded = await readWeights(file);
  for (const [name, { shape, values }] of createSample().arrays) {
    expect(rounded.arrays.get(name)!.shape).toEqual(shape);
    // half of the last bit of eleven
    rounded.arrays
      .get(name)!
      .values.forEach((it, i) =>
        expect(Math.abs(it - values[i]!)).toBeLessThanOrEqual(
          Math.abs(values[i]!) * 2 ** -11 + 2 ** -25,
        ),
      );
  }
  const bytes = readFileSync(file);
  await writeWeights(file, rounded, "F16");
  expect(readFileSync(file)).toEqual(bytes);
});

test("the file has the layout of the safetensors format", async () => {
  await writeWeights(file, createWeights(["x", [2], Float32Array.of(1, -2)]), "F32");
  const bytes = readFileSync(file);
  const length = Number(bytes.readBigUInt64LE(0));
  expect(length % 8).toBe(0);
  expect(JSON.parse(bytes.toString("utf8", 8, 8 + length))).toEqual({
    __metadata__: { name: "tiny", step: "12" },
    x: { dtype: "F32", shape: [2], data_offsets: [0, 8] },
  });
  expect([bytes.readFloatLE(8 + length), bytes.readFloatLE(12 + length)]).toEqual([1, -2]);
  expect(bytes.length).toBe(16 + length);
});

describe("a file without complete weights is refused by name", () => {
  const createHeader = (text: string) => {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([length, Buffer.from(text)]);
  };
  const check = (title: string, message: RegExp, content: () => Promise<Uint8Array> | Uint8Array) =>
    test(title, async () => {
      const broken = join(folder, "broken.safetensors");
      writeFileSync(broken, await content());
      const reading = readWeights(broken);
      await expect(reading).rejects.toThrow(UserError);
      await expect(reading).rejects.toThrow(message);
      await expect(reading).rejects.toThrow("broken.safetensors");
    });
  const writeSample = async () => {
    await writeWeights(file, createSample(), "F32");
    return readFileSync(file);
  };
  check("empty", /ends before its header/, () => Buffer.alloc(0));
  check("a text file", /ends before its header/, () => Buffer.from("these are no weights at all"));
  check("incomplete header", /ends before its header/, async () =>
    (await writeSample()).subarray(0, 40),
  );
  check("incomplete numbers", /ends before the numbers of/, async () =>
    (await writeSample()).subarray(0, -4),
  );
  check("a header that is not JSON", /header is not JSON/, () => createHeader("{nonsense"));
  check("without a shape", /x is described in a way that is not understood/, () =>
    createHeader('{"x":{"dtype":"F32","data_offsets":[0,0]}}'),
  );
  check("another precision", /has x as I32, and weights can be F32, F16, BF16/, () =>
    createHeader('{"x":{"dtype":"I32","shape":[0],"data_offsets":[0,0]}}'),
  );
  check("a pointer of Git LFS", /only says where Git LFS has the weights/, () =>
    Buffer.from("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 135\n"),
  );
  check("numbers that do not fill the shape", /x of shape 2 x 2 takes 0 bytes/, () =>
    createHeader('{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,0]}}'),
  );
  check("metadata of another kind", /metadata/, () => createHeader('{"__metadata__":{"step":12}}'));
});

test.each([NaN, Infinity, -Infinity])("%s is refused with the name of its array", async value => {
  for (const precision of ["F32", "F16"] as const) {
    const values = Float32Array.of(1, 2, value, 4);
    await writeWeights(
      file,
      createWeights(["fine", [1], Float32Array.of(1)], ["layers.0.broken", [2, 2], values]),
      precision,
    );
    await expect(readWeights(file)).rejects.toMatchObject({
      name: "UserError",
      what: expect.stringContaining(
        `weights.safetensors has ${value} in layers.0.broken, at index 2`,
      ),
    });
  }
});

test("numbers are checked in pieces, with their places in the array", async () => {
  const values = new Float32Array(2 ** 22 + 3).fill(0.5);
  for (const precision of ["F32", "BF16"] as const) {
    await writeWeights(file, createWeights(["first", [1], values], ["x", [2], values]), precision);
    const opened = openWeights(file);
    expect(() => opened.checkNumbers()).not.toThrow();
    opened.close();
  }
  values[2 ** 22 + 1] = NaN;
  await writeWeights(file, createWeights(["x", [values.length], values]), "F32");
  const opened = openWeights(file);
  expect(() => opened.checkNumbers()).toThrow(`NaN in x, at index ${2 ** 22 + 1}`);
  opened.close();
});

test.each(["none", "."])("%s is refused: it is no file", async name => {
  await expect(readWeights(join(folder, name))).rejects.toThrow(UserError);
});

test("a failed write leaves the old file and no temporary file", async () => {
  await writeWeights(file, createSample(), "F32");
  const before = readFileSync(file);
  await expect(writeWeights(join(file, "inside"), createSample(), "F32")).rejects.toThrow(
    UserError,
  );
  expect(readFileSync(file)).toEqual(before);
  expect(readdirSync(folder).filter(it => it.endsWith(".writing"))).toEqual([]);
});

describe("16-bit numbers", () => {
  const getBits = (value: number) => toFloat16(Float32Array.of(value))[0];
  test.each([
    ["1", 1, 0x3c00],
    ["-2", -2, 0xc000],
    ["zero", 0, 0],
    ["minus zero", -0, 0x8000],
    ["the largest, 65504", 65504, 0x7bff],
    ["65520 rounds to infinity", 65520, 0x7c00],
    ["infinity", -Infinity, 0xfc00],
    ["the smallest normal, 2^-14", 2 ** -14, 0x0400],
    ["the smallest of all, 2^-24", 2 ** -24, 1],
    ["half of the smallest ties to even, zero", 2 ** -25, 0],
    ["three quarters of the smallest rounds up", 1.5 * 2 ** -25, 1],
    ["1 + 2^-11 ties to even, 1", 1 + 2 ** -11, 0x3c00],
    ["1 + 3·2^-11 ties to even, up", 1 + 3 * 2 ** -11, 0x3c02],
    ["rounding up carries into the exponent", 2 - 2 ** -12, 0x4000],
  ])("%s", (_, value, expected) => expect(getBits(value)).toBe(expected));

  test("every 16-bit number converts to 32 bits and back without a change", () => {
    const all = Uint16Array.from({ length: 65536 }, (_, i) => i).filter(
      it => (it & 0x7c00) !== 0x7c00 || (it & 0x3ff) === 0,
    );
    expect(toFloat16(fromFloat16(all))).toEqual(all);
    expect(Number.isNaN(fromFloat16(toFloat16(Float32Array.of(NaN)))[0])).toBe(true);
  });
});
