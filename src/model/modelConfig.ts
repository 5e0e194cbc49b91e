/**
 * What is known of a model: its sizes, its trainings so far, and what it has seen in them, which
 * therefore does not count as held out.
 */
import { z } from "zod";

export const modelFormat = "prove/model@1";

/** More layers than any model has, each of which takes memory even before its weights are read. */
export const maxLayers = 4096;

const count = z.int().min(1);
export const modelConfig = z.strictObject({
  format: z.literal(modelFormat),
  name: z.string(),
  architecture: z.strictObject({
    vocabulary: count,
    width: count,
    layers: count.max(maxLayers),
    heads: count,
    kvHeads: count,
    headWidth: count,
    hidden: count,
    context: count,
    ropeBase: z.number().positive(),
  }),
  /** The hash of the chat format and the tokenizer. */
  chat: z.string(),
  /** Of adapters that were trained: the digest of their base model, as in `hashModelFiles`. */
  base: z.string().optional(),
  /** What the model was trained on, which therefore does not count as held out. */
  saw: z.strictObject({
    /** The digest of the tools of each server, as in `computeToolsDigest`. */
    servers: z.record(z.string(), z.string()),
    /** The tools that its tasks required. */
    tools: z.array(z.string()),
    /** The sets of tools that one task required: ascending indices in `tools`, joined by `+`. */
    chains: z.array(z.string()),
    /** The edges along which values flowed; absent in models of earlier versions. */
    edges: z.array(z.string()).optional(),
    /** The numbers of the generated worlds; absent in models of earlier versions. */
    worlds: z.array(z.int()).optional(),
    /**
     * The calls of single turns, in their order: indices in `tools`, joined by `>`. Absent in
     * models that were trained before this was recorded.
     */
    sequences: z.array(z.string()).optional(),
  }),
  /** The trainings of the model so far, for a person. */
  training: z.array(
    z.strictObject({
      method: z.enum(["sft", "grpo"]),
      steps: z.int(),
      seconds: z.number(),
      seed: z.int(),
      tasks: z.int(),
      profile: z.string().optional(),
      from: z.string().optional(),
    }),
  ),
});

export type ModelConfig = z.infer<typeof modelConfig>;
