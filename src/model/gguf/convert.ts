/** Converts a GGUF file to a model folder in the format of Hugging Face. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomically } from "../../storage/atomicWrite.ts";
import { withWriteErrors } from "../../storage/fileErrors.ts";
import { UserError } from "../../userError.ts";
import { writeWeights, type LazyArray } from "../weights.ts";
import { readGgufConfiguration, type GgufConfiguration } from "./configuration.ts";
import { openGguf, type GgufFile } from "./file.ts";
import { findTensorName, ropeFactorsTensor } from "./tensorNames.ts";
import { readGgufTokenizer } from "./tokenizer.ts";

/**
 * Writes a folder, which is new or empty. Throws a `UserError` before anything is written if the
 * file is not whole, or has a part that is not converted.
 */
export async function convertGguf(file: string, folder: string): Promise<void> {
  const gguf = openGguf(file);
  try {
    const precision = choosePrecision(gguf);
    const dtype = { F32: "float32", F16: "float16", BF16: "bfloat16" }[precision];
    const configuration = readGgufConfiguration(gguf, dtype);
    const { tokenizer, settings, templates } = readGgufTokenizer(gguf);
    const arrays = listArrays(gguf, configuration);
    const files: Record<string, string> = {
      "config.json": formatJson(configuration.config),
      "generation_config.json": formatJson(configuration.generation),
      "tokenizer.json": formatJson(tokenizer),
      "tokenizer_config.json": formatJson(settings),
    };
    for (const [name, text] of templates)
      files[
        name === "default" ? "chat_template.jinja" : `additional_chat_templates/${name}.jinja`
      ] = text;
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      withWriteErrors(path, () => mkdirSync(dirname(path), { recursive: true }));
      await writeFileAtomically(path, text);
    }
    const metadata = { format: "pt" };
    await writeWeights(join(folder, "model.safetensors"), { arrays, metadata }, precision);
  } finally {
    gguf.close();
  }
}

const formatJson = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** The precision of the file's matrices; 32 bits for quantized ones, which need them. */
function choosePrecision({ tensors }: GgufFile): "F32" | "F16" | "BF16" {
  const types = [...tensors.values()].filter(it => it.shape.length > 1).map(it => it.type);
  const [type, ...others] = [...new Set(types)];
  return others.length === 0 && (type === "F16" || type === "BF16") ? type : "F32";
}

function listArrays(gguf: GgufFile, configuration: GgufConfiguration): Map<string, LazyArray> {
  const arrays = new Map<string, LazyArray>();
  for (const [name, { shape, type }] of gguf.tensors) {
    if (name === ropeFactorsTensor) continue;
    const found = findTensorName(name);
    if (found === undefined)
      throw new UserError(
        `${gguf.file} has a tensor ${name}, which the architecture ${configuration.architecture} is not known to use`,
        "choose another model: this one would be computed incorrectly",
      );
    const heads = countHeads(name, configuration);
    const read = () => {
      const values = gguf.read(name);
      return Promise.resolve(heads === undefined ? values : separatePairs(values, shape, heads));
    };
    arrays.set(found, { shape, ...(type === "F32" ? { precision: "F32" as const } : {}), read });
  }
  return arrays;
}

/** The heads of a tensor whose rows are in another order than in transformers. */
function countHeads(name: string, { isInterleaved, heads, kvHeads }: GgufConfiguration) {
  if (!isInterleaved) return undefined;
  if (/\.attn_q\.(weight|bias)$/.test(name)) return heads;
  return /\.attn_k\.(weight|bias)$/.test(name) ? kvHeads : undefined;
}

/** In each head, moves the first rows of all pairs before the second ones. */
function separatePairs(
  values: Float32Array,
  [rows, columns = 1]: readonly number[],
  heads: number,
): Float32Array {
  const separated = new Float32Array(values.length);
  const size = rows! / heads;
  for (let row = 0; row < rows!; row++) {
    const inHead = row % size;
    const target = row - inHead + (inHead % 2) * (size / 2) + (inHead >> 1);
    separated.set(values.subarray(row * columns, (row + 1) * columns), target * columns);
  }
  return separated;
}
