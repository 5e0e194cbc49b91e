/** GGUF files become folders with the weights, the tokenizer and the template of the model. */
import { existsSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { model } from "../../../src/cli/model.ts";
import { startBackend } from "../../../src/compute/backend.ts";
import { readHuggingFaceConfig } from "../../../src/model/huggingface/config.ts";
import { readHuggingFaceTokenizer } from "../../../src/model/huggingface/tokenizer.ts";
import { readWeights } from "../../../src/model/weights.ts";
import { runCommand } from "../../cli/terminal.ts";
import { programs } from "../../compute/numbers.ts";
import { readExpected } from "../huggingface/families.ts";
import { writeTinyModel } from "../huggingface/tinyModel.ts";
import { describeFolder, encodeGguf, writeGguf } from "./writeGguf.ts";

beforeAll(() => startBackend("wasm", { programs }));

const newFolder = () => mkdtempSync(join(tmpdir(), "prove-gguf-"));

const convert = (cwd: string, ...options: readonly string[]) =>
  runCommand(model, ["--from-gguf", "model.gguf", "--out", "out", ...options], { cwd });

const granite = {
  model_type: "granite",
  embedding_multiplier: 12,
  attention_multiplier: 0.015625,
  residual_multiplier: 0.22,
  logits_scaling: 8,
};
const llama3 = {
  model_type: "llama",
  rms_norm_eps: 1e-5,
  rope_theta: 500_000,
  tie_word_embeddings: false,
};

test.each([
  { family: "qwen", splitting: "qwen2", config: {} },
  { family: "qwen", splitting: "qwen2", config: { model_type: "qwen2" } },
  { family: "llama", splitting: "llama-bpe", config: llama3 },
  { family: "granite", splitting: "dbrx", config: granite },
])(
  "a model with the tokenizer of $family and $config comes back",
  async ({ family, splitting, config }) => {
    const original = await writeTinyModel({ family, config });
    const cwd = newFolder();
    const { metadata, tensors } = await describeFolder(original, splitting);
    const scales = {
      "granite.embedding_scale": granite.embedding_multiplier,
      "granite.attention.scale": granite.attention_multiplier,
      "granite.residual_scale": granite.residual_multiplier,
      "granite.logit_scale": granite.logits_scaling,
    };
    const more = "embedding_multiplier" in config ? scales : {};
    writeFileSync(join(cwd, "model.gguf"), encodeGguf({ ...metadata, ...more }, tensors));
    const { code, notes } = await convert(cwd, "--json");
    expect({ code, notes }).toEqual({ code: 0, notes: [] });
    const out = join(cwd, "out");
    const { architecture } = readHuggingFaceConfig(original);
    expect(readHuggingFaceConfig(out).architecture).toEqual(architecture);
    const [expected, found] = await Promise.all(
      [original, out].map(async it => (await readWeights(join(it, "model.safetensors"))).arrays),
    );
    expect(new Map(found)).toEqual(new Map(expected));
    const [first, second] = [original, out].map(readHuggingFaceTokenizer);
    expect(second!.controlTokens).toEqual(first!.controlTokens);
    for (const { text } of readExpected(family).texts)
      expect(second!.encode(text)).toEqual(first!.encode(text));
    expect(readFileSync(join(out, "chat_template.jinja"), "utf8")).toBe(
      readFileSync(join(original, "chat_template.jinja"), "utf8"),
    );
  },
);

test("weights in 16 bits stay so, and those of 8 are written in 32", async () => {
  const original = await writeTinyModel();
  for (const [type, dtype] of [
    [1, "float16"],
    [8, "float32"],
  ] as const) {
    const cwd = newFolder();
    await writeGguf(join(cwd, "model.gguf"), original, "qwen2", type);
    expect(await convert(cwd)).toMatchObject({ code: 0 });
    const out = join(cwd, "out");
    expect(JSON.parse(readFileSync(join(out, "config.json"), "utf8"))).toMatchObject({ dtype });
    const { arrays } = await readWeights(join(out, "model.safetensors"));
    const { arrays: expected } = await readWeights(join(original, "model.safetensors"));
    const name = "model.layers.1.mlp.down_proj.weight";
    const numbers = arrays.get(name)!.values;
    const off = expected.get(name)!.values.map((it, i) => Math.abs(it - numbers[i]!));
    expect(Math.max(...off)).toBeLessThan(type === 1 ? 1e-3 : 1 / 64);
    expect(Math.max(...off)).toBeGreaterThan(0);
  }
});

test("what cannot be converted is named in one line, and nothing is left behind", async () => {
  const original = await writeTinyModel();
  const { metadata, tensors } = await describeFolder(original, "qwen2");
  const embedding = tensors["token_embd.weight"]!;
  const change = (values: Record<string, string>) =>
    encodeGguf({ ...metadata, ...values }, tensors);
  const nan = { ...embedding, values: embedding.values.map((it, i) => (i === 7 ? NaN : it)) };
  const whole = encodeGguf(metadata, tensors);
  const cases: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.from("PK\u0003\u0004 a zip"), /is not a GGUF file: it does not begin with GGUF/],
    [Buffer.from(""), /is not a GGUF file/],
    [
      whole.subarray(0, whole.length / 2),
      /is not a whole GGUF file: it ends before the numbers of/,
    ],
    [whole.subarray(0, 300), /is not a whole GGUF file: it ends before its header does/],
    [change({ "general.architecture": "mamba" }), /architecture mamba is not supported/],
    [change({ "tokenizer.ggml.model": "llama" }), /a tokenizer of the kind llama is not converted/],
    [change({ "tokenizer.ggml.pre": "tekken" }), /splits text as tekken is not converted/],
    [
      encodeGguf(metadata, { ...tensors, "token_embd.weight": { ...embedding, type: 17 } }),
      /has token_embd.weight as IQ2_XS; the types F32, /,
    ],
    [
      encodeGguf(metadata, { ...tensors, "blk.0.ssm_a.weight": embedding }),
      /has a tensor blk.0.ssm_a.weight/,
    ],
    [
      encodeGguf(metadata, { ...tensors, "token_embd.weight": nan }),
      /has NaN in token_embd.weight/,
    ],
  ];
  for (const [bytes, expected] of cases) {
    const cwd = newFolder();
    writeFileSync(join(cwd, "model.gguf"), bytes);
    await expect(convert(cwd)).rejects.toMatchObject({ what: expect.stringMatching(expected) });
    expect(existsSync(join(cwd, "out"))).toBe(false);
  }
});

test("a model without a chat template is written, with a note on what to do", async () => {
  const original = await writeTinyModel();
  const { metadata, tensors } = await describeFolder(original, "qwen2");
  const { "tokenizer.chat_template": _, ...others } = metadata;
  const cwd = newFolder();
  writeFileSync(join(cwd, "model.gguf"), encodeGguf(others, tensors));
  const { code, notes } = await convert(cwd);
  expect(code).toBe(0);
  expect(notes.join("\n")).toMatch(/has no chat template.*\n.*--template default/);
  expect(await runCommand(model, ["out", "--template", "default"], { cwd })).toMatchObject({
    code: 0,
  });
});

test("the command says what it needs", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "model.gguf"), "GGUF");
  truncateSync(join(cwd, "model.gguf"), 4);
  await expect(runCommand(model, [], { cwd })).rejects.toMatchObject({
    what: "model needs a run or model folder",
  });
  await expect(runCommand(model, ["--from-gguf", "model.gguf"], { cwd })).rejects.toMatchObject({
    what: expect.stringContaining("needs --out"),
  });
});
