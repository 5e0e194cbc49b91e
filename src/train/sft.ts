/**
 * Supervised training: the likelihood of what the student should have written, and nothing else in the conversation. Knows
 * conversations as ids and masks only.
 */
import * as tf from "@tensorflow/tfjs-core";
import { pack } from "../model/packed.ts";
import { disposeGradients, gradients, score, type Model } from "../model/transformer.ts";
import type { SftConfig } from "../run/config.ts";
import { conversationAt, corpusSize, type Conversation, type Corpus } from "./corpus.ts";
import { drawing } from "./chance.ts";
import { summed, type Company, type Ground, type Method } from "./method.ts";

export function openSft({ company, model, optimizer }: Ground, config: SftConfig, corpus: Corpus): Method {
  const { sft, seed, saveEvery } = config;
  const draw = drawing(corpus.kept, seed);
  return {
    async step(step, progress) {
      const start = performance.now();
      const places = Array.from({ length: sft.conversations }, (_, i) => (step - 1) * sft.conversations + i);
      const own = places.filter((_, i) => i % company.count === company.rank).map(place => conversationAt(corpus, draw(place)));
      const size = (of: (it: Conversation) => number) => own.reduce((sum, it) => sum + of(it), 0);
      const counts = summed(company, { taught: size(it => it.mask.filter(Boolean).length), tokens: size(it => it.ids.length) });

      // mean over all taught tokens of the step, whichever replica reads them
      const packed = pack(own.map(it => ({ prefix: [], branches: [it] })));
      const learned = gradients(model, packed, logprobs => tf.neg(tf.div(tf.sum(logprobs), counts.taught)));
      const all = company.sumGradients(learned.gradients);
      const learningRate = sft.learningRate * rateAt(step, progress, sft);
      const { norm } = optimizer.step(all, learningRate);
      disposeGradients(all);

      const { loss } = summed(company, { loss: learned.loss });
      const learning = (performance.now() - start) / 1000;
      const validation = step % saveEvery === 0 || progress >= 1 ? validate(company, model, corpus) : undefined;
      const seconds = { learning, total: (performance.now() - start) / 1000 };
      const metrics = { step, method: "sft" as const, loss, gradientNorm: norm, learningRate, ...counts, conversations: sft.conversations, seconds };
      return { metrics: validation === undefined ? metrics : { ...metrics, validation }, groups: [] };
    },
    dispose: () => {},
  };
}

/** Rises over the first steps, holds, falls to a twentieth over the last share of the run. */
export function rateAt(step: number, progress: number, { warmUp, decay }: Pick<SftConfig["sft"], "warmUp" | "decay">): number {
  const rise = Math.min(1, step / Math.max(1, warmUp));
  const fall = progress > 1 - decay ? (1 - progress) / decay : 1;
  return rise * Math.max(0.05, Math.min(1, fall));
}

/** Mean loss a token on the conversations kept apart, each replica reading its share; undefined where there are none. */
function validate(company: Company, model: Model, corpus: Corpus): number | undefined {
  const places = Array.from({ length: corpusSize(corpus) - corpus.kept }, (_, i) => corpus.kept + i);
  if (places.length === 0) return undefined;
  const own = places.filter((_, i) => i % company.count === company.rank);
  let loss = 0;
  let tokens = 0;
  for (let i = 0; i < own.length; i += 16) {
    const packed = pack(own.slice(i, i + 16).map(place => ({ prefix: [], branches: [conversationAt(corpus, place)] })));
    for (const logprob of score(model, packed)) loss -= logprob;
    tokens += packed.targets.length;
  }
  const all = summed(company, { loss, tokens });
  return all.loss / all.tokens;
}
