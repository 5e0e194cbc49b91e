/** Writes GGUF files as llama.cpp's converter does, in F32, F16 and Q8_0. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readWeights, toFloat16 } from "../../../src/model/weights.ts";

type Value = number | string | boolean | readonly string[] | readonly number[];

export interface TensorData {
  readonly shape: readonly number[];
  /** 0 is F32, 1 F16 and 8 Q8_0, whose blocks have a scale of 1/64 here. */
  readonly type: number;
  readonly values: Float32Array;
}

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const f32 = (value: number) => Buffer.from(new Float32Array([value]).buffer);

function encodeValue(value: Value): Buffer {
  if (typeof value === "string") return Buffer.concat([u32(8), text(value)]);
  if (typeof value === "boolean") return Buffer.concat([u32(7), Buffer.from([Number(value)])]);
  if (typeof value === "number")
    return Number.isInteger(value)
      ? Buffer.concat([u32(4), u32(value)])
      : Buffer.concat([u32(6), f32(value)]);
  const items = value.map(it => (typeof it === "string" ? text(it) : u32(it)));
  const type = typeof value[0] === "string" ? 8 : 5;
  return Buffer.concat([u32(9), u32(type), u64(value.length), ...items]);
}

function encodeNumbers({ type, values }: TensorData): Buffer {
  if (type === 0) return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  if (type === 1) return Buffer.from(toFloat16(values).buffer);
  const blocks = Array.from({ length: values.length / 32 }, (_, i) => {
    const scale = Buffer.from(toFloat16(new Float32Array([1 / 64])).buffer);
    const numbers = Int8Array.from(values.subarray(32 * i, 32 * i + 32), it => it * 64);
    return Buffer.concat([scale, Buffer.from(numbers.buffer)]);
  });
  return Buffer.concat(blocks);
}

const alignment = 32;
const padding = (length: number) => Buffer.alloc((alignment - (length % alignment)) % alignment);

export function encodeGguf(
  metadata: Readonly<Record<string, Value>>,
  tensors: Readonly<Record<string, TensorData>>,
): Buffer {
  const numbers: Buffer[] = [];
  const infos: Buffer[] = [];
  let offset = 0;
  for (const [name, tensor] of Object.entries(tensors)) {
    const shape = tensor.shape.toReversed();
    infos.push(text(name), u32(shape.length), ...shape.map(u64), u32(tensor.type), u64(offset));
    const bytes = encodeNumbers(tensor);
    const padded = Buffer.concat([bytes, padding(bytes.length)]);
    numbers.push(padded);
    offset += padded.length;
  }
  const header = Buffer.concat([
    Buffer.from("GGUF"),
    u32(3),
    u64(Object.keys(tensors).length),
    u64(Object.keys(metadata).length),
    ...Object.entries(metadata).flatMap(([key, value]) => [text(key), encodeValue(value)]),
    ...infos,
  ]);
  return Buffer.concat([header, padding(header.length), ...numbers]);
}

/** How transformers names the tensors of a layer, and llama.cpp. */
const layerNames: Readonly<Record<string, string>> = {
  input_layernorm: "attn_norm",
  post_attention_layernorm: "ffn_norm",
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.o_proj": "attn_output",
  "self_attn.q_norm": "attn_q_norm",
  "self_attn.k_norm": "attn_k_norm",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down",
};
const wholeNames: Readonly<Record<string, string>> = {
  "model.embed_tokens.weight": "token_embd.weight",
  "model.norm.weight": "output_norm.weight",
  "lm_head.weight": "output.weight",
};

/** llama.cpp's name of a tensor of transformers. */
function renameTensor(name: string): string {
  const whole = wholeNames[name];
  if (whole !== undefined) return whole;
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.*)\.(\w+)$/.exec(name)!;
  return `blk.${layer}.${layerNames[part!]}.${kind}`;
}

/** Of each head, the first half of the rows and the second one by turns, as llama.cpp has them. */
function interleave({ shape, values, type }: TensorData, heads: number): TensorData {
  const [rows, columns = 1] = shape as [number, number?];
  const width = rows / heads;
  const order = Array.from({ length: rows }, (_, row) => {
    const inHead = row % width;
    return row - inHead + (inHead % 2) * (width / 2) + Math.floor(inHead / 2);
  });
  const parts = order.map(row => [...values.subarray(row * columns, (row + 1) * columns)]);
  return { shape, type, values: Float32Array.from(parts.flat()) };
}

interface Config {
  readonly model_type: string;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly [key: string]: unknown;
}

/** The metadata and tensors of a GGUF file with the model of a folder. */
export async function describeFolder(folder: string, splitting: string, type = 0) {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const config = JSON.parse(read("config.json")) as Config;
  const { model: encoding, added_tokens: added } = JSON.parse(read("tokenizer.json")) as {
    model: { vocab: Record<string, number>; merges: [string, string][] };
    added_tokens: { id: number; content: string; special: boolean }[];
  };
  const { arrays } = await readWeights(join(folder, "model.safetensors"));
  const tensors: Record<string, TensorData> = {};
  const isInterleaved = ["llama", "granite"].includes(config.model_type);
  for (const [name, { shape, values }] of arrays) {
    const tensor = { shape, values, type: shape.length === 1 ? 0 : type };
    const [, part] = /\.([qk])_proj\./.exec(name) ?? [];
    const heads = part === "q" ? config.num_attention_heads : config.num_key_value_heads;
    tensors[renameTensor(name)] =
      isInterleaved && part !== undefined ? interleave(tensor, heads) : tensor;
  }
  const kinds = new Map(added.map(it => [it.id, it.special ? 3 : 4]));
  const ids = new Map(added.map(it => [it.id, it.content]));
  for (const [token, id] of Object.entries(encoding.vocab)) ids.set(id, token);
  const size = config["vocab_size"] as number;
  const tokens = Array.from({ length: size }, (_, id) => ids.get(id) ?? `[PAD${id}]`);
  const name = config.model_type;
  const metadata: Record<string, Value> = {
    "general.architecture": name,
    [`${name}.block_count`]: config["num_hidden_layers"] as number,
    [`${name}.context_length`]: config["max_position_embeddings"] as number,
    [`${name}.embedding_length`]: config["hidden_size"] as number,
    [`${name}.feed_forward_length`]: config["intermediate_size"] as number,
    [`${name}.attention.head_count`]: config.num_attention_heads,
    [`${name}.attention.head_count_kv`]: config.num_key_value_heads,
    [`${name}.attention.key_length`]: config["head_dim"] as number,
    [`${name}.attention.layer_norm_rms_epsilon`]: (config["rms_norm_eps"] as number) ?? 1e-6,
    [`${name}.rope.freq_base`]: (config["rope_theta"] as number) ?? 10_000,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": splitting,
    "tokenizer.ggml.tokens": tokens,
    "tokenizer.ggml.token_type": tokens.map((_, id) => kinds.get(id) ?? (ids.has(id) ? 1 : 5)),
    "tokenizer.ggml.merges": encoding.merges.map(it => it.join(" ")),
    "tokenizer.ggml.eos_token_id": added[0]!.id,
    "tokenizer.chat_template": read("chat_template.jinja"),
  };
  return { metadata, tensors };
}

export async function writeGguf(
  file: string,
  folder: string,
  splitting: string,
  type = 0,
): Promise<void> {
  const { metadata, tensors } = await describeFolder(folder, splitting, type);
  writeFileSync(file, encodeGguf(metadata, tensors));
}
