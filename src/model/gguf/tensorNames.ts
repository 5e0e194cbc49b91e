/** The tensors of a GGUF file under the names that transformers gives them. */

/** What frequencies of positions are divided by, in models with Llama 3's scaling. */
export const ropeFactorsTensor = "rope_freqs.weight";

const wholeNames: Readonly<Record<string, string>> = {
  "token_embd.weight": "model.embed_tokens.weight",
  "output_norm.weight": "model.norm.weight",
  "output.weight": "lm_head.weight",
};

/** In each layer, without `.weight` and `.bias`. */
const layerNames: Readonly<Record<string, string>> = {
  attn_norm: "input_layernorm",
  ffn_norm: "post_attention_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
};

/** Undefined for a tensor that these architectures do not have. */
export function findTensorName(name: string): string | undefined {
  const [, layer, part, kind] = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/.exec(name) ?? [];
  if (layer === undefined) return wholeNames[name];
  const found = layerNames[part!];
  return found === undefined ? undefined : `model.layers.${layer}.${found}.${kind}`;
}
