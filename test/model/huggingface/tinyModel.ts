/** Writes the folder of a tiny Hugging Face model with random weights and a stored tokenizer. */
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readHuggingFaceConfig } from "../../../src/model/huggingface/config.ts";
import {
  readHuggingFaceSettings,
  writeHuggingFaceSettings,
  type HuggingFaceSettings,
} from "../../../src/model/huggingface/folder.ts";
import { readHuggingFaceTokenizer } from "../../../src/model/huggingface/tokenizer.ts";
import { writeHuggingFaceWeights } from "../../../src/model/huggingface/weights.ts";
import { initializeModel } from "../../../src/model/transformer/transformer.ts";
import { getFamilyFolder } from "./families.ts";

/** Needs a backend that has been started. */
export async function writeTinyModel({
  family = "qwen",
  longest = 8192,
  settings = {},
  config = {},
}: {
  family?: string;
  longest?: number;
  settings?: Partial<HuggingFaceSettings>;
  config?: object;
} = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "prove-tiny-"));
  for (const name of ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"])
    cpSync(join(getFamilyFolder(family), name), join(folder, name), { force: true });
  const tiny = {
    model_type: "qwen3",
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 16,
    max_position_embeddings: longest,
    vocab_size: Math.ceil(readHuggingFaceTokenizer(folder).size / 8) * 8,
    tie_word_embeddings: true,
    ...config,
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(tiny));
  if (Object.keys(settings).length > 0)
    writeHuggingFaceSettings(folder, { ...readHuggingFaceSettings(folder), ...settings });
  const { architecture } = readHuggingFaceConfig(folder);
  const model = initializeModel(architecture, 5);
  const read = (name: string) => model.parameters.get(name)!.data<"float32">();
  await writeHuggingFaceWeights(folder, architecture, read);
  model.dispose();
  return folder;
}
