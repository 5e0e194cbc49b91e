/**
 * Models in Hugging Face folders: the logits of tiny random models of each family against those of
 * transformers, which test/engines/parity_models.py stored; saving; and folders that are refused.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startBackend } from "../../../src/compute/backend.ts";
import { setRunningBackend } from "../../../src/compute/runningBackend.ts";
import { openDecoder } from "../../../src/model/transformer/decoder.ts";
import { readHuggingFaceConfig } from "../../../src/model/huggingface/config.ts";
import {
  writeHuggingFaceFolder,
  readHuggingFaceSettings,
} from "../../../src/model/huggingface/folder.ts";
import { loadHuggingFaceModel } from "../../../src/model/huggingface/weights.ts";
import { modelFormat, type ModelConfig } from "../../../src/model/modelConfig.ts";
import { copyWeights } from "../../../src/model/modelFolder.ts";
import { packGroups } from "../../../src/model/transformer/packedBatch.ts";
import { computeLogits, type Model } from "../../../src/model/transformer/transformer.ts";
import { readWeights, writeWeights } from "../../../src/model/weights.ts";
import { UserError } from "../../../src/userError.ts";
import { programs } from "../../compute/numbers.ts";

const families = ["llama", "qwen2", "qwen3", "granite", "granite-hybrid"];
const folderOf = (family: string) => join(import.meta.dirname, "../parity", family);

async function readExpected(family: string) {
  const { arrays } = await readWeights(join(folderOf(family), "expected.safetensors"));
  return { ids: [...arrays.get("ids")!.values], logits: arrays.get("logits")!.values };
}

/** The logits after every token, (N, vocabulary). */
const computeAllLogits = (model: Model, ids: readonly number[]) =>
  computeLogits(
    model,
    packGroups([
      {
        prefix: ids.slice(0, 1),
        branches: [{ ids: [...ids.slice(1), 0], mask: ids.map(() => 1) }],
      },
    ]),
  );

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-model-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(["cpu", "wasm"] as const)("on %s", name => {
  beforeAll(() => startBackend(name, { programs }));

  test.each(families)(
    "%s has the logits of transformers, in one pass and decoded",
    async family => {
      const { ids, logits } = await readExpected(family);
      const model = await loadHuggingFaceModel(folderOf(family));
      const computed = await computeAllLogits(model, ids);
      const difference = computed.map((it, i) => Math.abs(it - logits[i]!));
      expect(difference.length).toBe(logits.length);
      expect(Math.max(...difference)).toBeLessThan(1e-4);
      const decoder = openDecoder(model, { slots: 1 });
      const slot = decoder.open();
      const { vocabulary } = model.architecture;
      for (const [at, part] of [ids.slice(0, 9), ids.slice(9, 10), ids.slice(10)].entries()) {
        const last = [8, 9, ids.length - 1][at]!;
        const row = [...logits.subarray(last * vocabulary, (last + 1) * vocabulary)];
        const best = row.indexOf(Math.max(...row));
        const sum = row.reduce((total, it) => total + Math.exp(it - row[best]!), 0);
        const choose = { temperature: 0, uniform: 0 };
        const [chosen] = await decoder.feed([{ slot, ids: part, choose }]);
        expect(chosen!.id).toBe(best);
        expect(Math.abs(chosen!.logprob + Math.log(sum))).toBeLessThan(1e-4);
      }
      decoder.dispose();
      model.dispose();
    },
  );
});

describe("a saved model", () => {
  beforeAll(() => startBackend("wasm", { programs }));

  const save = async (family: string, model: Model) => {
    const from = folderOf(family);
    const { architecture } = readHuggingFaceConfig(from);
    const { saw, training, ...settings } = readHuggingFaceSettings(from);
    const config: ModelConfig = {
      format: modelFormat,
      name: family,
      architecture,
      chat: "",
      saw,
      training,
    };
    const stored = { folder: from, config, settings: { ...settings, saw, training } };
    await writeHuggingFaceFolder(folder, stored, await copyWeights(model));
  };

  test.each(families)("of %s is one file with the tensors it came from", async family => {
    const model = await loadHuggingFaceModel(folderOf(family));
    await save(family, model);
    const saved = await loadHuggingFaceModel(folder);
    for (const [name, it] of model.parameters)
      expect(saved.parameters.get(name)!.dataSync(), name).toEqual(it.dataSync());
    model.dispose();
    saved.dispose();
  });

  test("has its configuration as it was written, apart from the precision", async () => {
    const model = await loadHuggingFaceModel(folderOf("granite-hybrid"));
    await save("granite-hybrid", model);
    const [before, after] = [folderOf("granite-hybrid"), folder].map(it =>
      readFileSync(join(it, "config.json"), "utf8"),
    );
    expect(before).toContain('"dtype": "bfloat16"');
    expect(after).toBe(before!.replace('"dtype": "bfloat16"', '"dtype": "float32"'));
    model.dispose();
  });
});

describe("a folder is refused", () => {
  test("with a tensor that is larger than those of the backend", async () => {
    const backend = await startBackend("wasm", { programs });
    // as WebGPU has a limit, which depends on the graphics card
    setRunningBackend({ ...backend, name: "webgpu", maxTensorBytes: 2 ** 12 });
    await expect(loadHuggingFaceModel(folderOf("qwen3"))).rejects.toThrow(
      /embedding of .* takes .* a tensor of the backend webgpu has at most 0\.00 GiB here/,
    );
    setRunningBackend(backend);
  });

  beforeAll(() => startBackend("wasm", { programs }));

  const refuse = (
    title: string,
    message: RegExp,
    family: string,
    change: () => void | Promise<void>,
  ) =>
    test(title, async () => {
      cpSync(folderOf(family), folder, { recursive: true });
      await change();
      const loading = loadHuggingFaceModel(folder);
      await expect(loading).rejects.toThrow(UserError);
      await expect(loading).rejects.toThrow(message);
    });
  const changeConfig = (changes: object) => () => {
    const file = join(folder, "config.json");
    const config: unknown = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...(config as object), ...changes }));
  };
  const changeWeights = (change: (arrays: Map<string, Float32Array>) => void) => async () => {
    const file = join(folder, "model.safetensors");
    const { arrays, metadata } = await readWeights(file);
    const values = new Map([...arrays].map(([name, it]) => [name, it.values]));
    change(values);
    const changed = new Map(
      [...values].map(([name, it]) => [
        name,
        { shape: arrays.get(name)?.shape ?? shapeOf(it), values: it },
      ]),
    );
    await writeWeights(file, { arrays: changed, metadata }, "F32");
  };

  /** New arrays are outputs or biases. */
  const shapeOf = ({ length }: Float32Array) => (length === 64 * 32 ? [64, 32] : [length]);

  refuse("without a shard", /no model-00002-of-00003.safetensors, .* 3 files/, "qwen3", () =>
    rmSync(join(folder, "model-00002-of-00003.safetensors")),
  );
  refuse("with an index of files elsewhere", /names ..\/model.safetensors, which is/, "qwen3", () =>
    writeFileSync(
      join(folder, "model.safetensors.index.json"),
      JSON.stringify({ weight_map: { "model.norm.weight": "../model.safetensors" } }),
    ),
  );
  refuse("with an incomplete file", /it has 9000 bytes and needs 10304/, "llama", () =>
    truncateSync(join(folder, "model.safetensors"), 9000),
  );
  refuse("without weights", /neither model.safetensors nor/, "llama", () =>
    rmSync(join(folder, "model.safetensors")),
  );
  refuse("without a configuration", /config.json/, "llama", () =>
    rmSync(join(folder, "config.json")),
  );
  refuse(
    "of another type",
    /models of the type gpt2 are not/,
    "llama",
    changeConfig({ model_type: "gpt2" }),
  );
  refuse(
    "with another rope scaling",
    /the rope scaling yarn is not/,
    "llama",
    changeConfig({ rope_parameters: { rope_type: "yarn", factor: 4, rope_theta: 1e4 } }),
  );
  refuse(
    "with heads of a size that is not computed",
    /config.json: a model's headWidth 20 is not a multiple of 8/,
    "qwen3",
    changeConfig({ head_dim: 20 }),
  );
  refuse(
    "with mamba layers",
    /a layer of the type mamba/,
    "granite-hybrid",
    changeConfig({ layer_types: ["mamba", "attention"] }),
  );
  refuse(
    "with experts",
    /a mixture of experts/,
    "granite-hybrid",
    changeConfig({ num_local_experts: 4 }),
  );
  refuse(
    "with a billion layers",
    /num_hidden_layers.*4096/,
    "qwen2",
    changeConfig({ num_hidden_layers: 1e9 }),
  );
  refuse(
    "with a sliding window",
    /a sliding window/,
    "qwen2",
    changeConfig({ use_sliding_window: true }),
  );
  refuse(
    "with other sizes than its weights",
    /embed_tokens.weight as \[64, 32\]; config.json says \[80, 32\]/,
    "llama",
    changeConfig({ vocab_size: 80 }),
  );
  refuse(
    "with NaN",
    /NaN in model.norm.weight, at index 3/,
    "llama",
    changeWeights(arrays => void (arrays.get("model.norm.weight")![3] = NaN)),
  );
  refuse(
    "without a tensor",
    /have no lm_head.weight/,
    "llama",
    changeWeights(arrays => void arrays.delete("lm_head.weight")),
  );
  refuse(
    "with an output layer that is another one than its configuration says",
    /an lm_head.weight that differs from model.embed_tokens.weight/,
    "qwen2",
    changeWeights(arrays => {
      const output = new Float32Array(arrays.get("model.embed_tokens.weight")!);
      output[70] = 1.5;
      arrays.set("lm_head.weight", output);
    }),
  );
  refuse(
    "with a tensor that is not computed",
    /o_proj.bias, which this architecture/,
    "llama",
    changeWeights(
      arrays => void arrays.set("model.layers.0.self_attn.o_proj.bias", new Float32Array(32)),
    ),
  );
  refuse(
    "with more weights than the backend can hold, before they are read",
    /take 28\.\d+ GiB in 32 bits; the backend wasm has 4.00 GiB/,
    "qwen2",
    changeConfig({
      vocab_size: 152_064,
      hidden_size: 3584,
      intermediate_size: 18_944,
      num_hidden_layers: 28,
      num_attention_heads: 28,
      num_key_value_heads: 4,
      tie_word_embeddings: false,
    }),
  );
});

test("an output layer that is stored although it is the embedding is not loaded twice", async () => {
  await startBackend("wasm", { programs });
  cpSync(folderOf("qwen2"), folder, { recursive: true });
  const file = join(folder, "model.safetensors");
  const { arrays, metadata } = await readWeights(file);
  const output = arrays.get("model.embed_tokens.weight")!;
  const more = { arrays: new Map([...arrays, ["lm_head.weight", output]]), metadata };
  await writeWeights(file, more, "F32");
  const model = await loadHuggingFaceModel(folder);
  expect([...model.parameters.keys()]).not.toContain("output");
  model.dispose();
});

test("the configurations of earlier versions of transformers are read", () => {
  const config = {
    model_type: "llama",
    vocab_size: 128_256,
    hidden_size: 2048,
    intermediate_size: 8192,
    num_hidden_layers: 16,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    head_dim: 64,
    hidden_act: "silu",
    max_position_embeddings: 131_072,
    rms_norm_eps: 1e-5,
    rope_theta: 500_000,
    rope_scaling: {
      factor: 32,
      high_freq_factor: 4,
      low_freq_factor: 1,
      original_max_position_embeddings: 8192,
      rope_type: "llama3",
    },
    tie_word_embeddings: true,
    eos_token_id: 128_001,
    torch_dtype: "bfloat16",
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  writeFileSync(
    join(folder, "generation_config.json"),
    JSON.stringify({ eos_token_id: [128_001, 128_008, 128_009] }),
  );
  expect(readHuggingFaceConfig(folder)).toMatchObject({
    modelType: "llama",
    eosTokenIds: [128_001, 128_008, 128_009],
    architecture: {
      ropeBase: 500_000,
      ropeScaling: { kind: "llama3", factor: 32, originalContext: 8192 },
      hasOutput: false,
    },
  });
});
