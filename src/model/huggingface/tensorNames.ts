/** Which tensors of a Hugging Face model make up each parameter. */
import type { Architecture } from "../architecture.ts";
import { listProjections } from "../projections.ts";

/** A parameter: the rows of these tensors, one after the other. */
export interface StoredParameter {
  /** As in `listParameters`. */
  readonly name: string;
  readonly tensors: readonly { readonly name: string; readonly shape: readonly number[] }[];
}

export const embeddingTensor = "model.embed_tokens.weight";
/** The output layer, which many models share with the embedding. */
export const outputTensor = "lm_head.weight";

/** The parameters of an architecture and the tensors that they are stored in. */
export function listStoredParameters(architecture: Architecture): readonly StoredParameter[] {
  const { vocabulary, width, headWidth, layers, hasBias, hasHeadNorms, hasOutput } = architecture;
  const single = (name: string, tensor: string, ...shape: number[]): StoredParameter => ({
    name,
    tensors: [{ name: `${tensor}.weight`, shape }],
  });
  const joined = (layer: number, matrix: string, kind: "weight" | "bias") =>
    listProjections(architecture)
      .filter(it => it.matrix === matrix)
      .map(({ name, outputs, inputs }) => ({
        name: `${getModulePath(layer, name)}.${kind}`,
        shape: kind === "weight" ? [outputs, inputs] : [outputs],
      }));
  const matrices = ["attention.qkv", "attention.out", "feed.gateUp", "feed.down"];
  const blocks = Array.from({ length: layers }, (_, layer) => {
    const [at, from] = [`layers.${layer}`, `model.layers.${layer}`];
    return [
      single(`${at}.attention.norm`, `${from}.input_layernorm`, width),
      single(`${at}.feed.norm`, `${from}.post_attention_layernorm`, width),
      ...(hasHeadNorms
        ? [
            single(`${at}.attention.queryNorm`, `${from}.self_attn.q_norm`, headWidth),
            single(`${at}.attention.keyNorm`, `${from}.self_attn.k_norm`, headWidth),
          ]
        : []),
      ...(hasBias
        ? [{ name: `${at}.attention.bias`, tensors: joined(layer, "attention.qkv", "bias") }]
        : []),
      ...matrices.map(matrix => ({
        name: `${at}.${matrix}`,
        tensors: joined(layer, matrix, "weight"),
      })),
    ];
  });
  return [
    single("embedding", "model.embed_tokens", vocabulary, width),
    ...blocks.flat(),
    single("norm", "model.norm", width),
    ...(hasOutput ? [single("output", "lm_head", vocabulary, width)] : []),
  ];
}

/** The name of a linear layer of a block, such as `model.layers.0.self_attn.q_proj`. */
export function getModulePath(layer: number, projection: string): string {
  const isAttention = ["q_proj", "k_proj", "v_proj", "o_proj"].includes(projection);
  const isShared = ["input_linear", "output_linear"].includes(projection);
  const part = isAttention ? "self_attn" : isShared ? "shared_mlp" : "mlp";
  return `model.layers.${layer}.${part}.${projection}`;
}
