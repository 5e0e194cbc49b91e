/**
 * Supervised training: the likelihood of what the student should have written, and nothing else in
 * the conversation. Knows conversations as ids and masks only.
 */
import * as tf from "@tensorflow/tfjs-core";
import { pack, type Sheaf } from "../model/packed.ts";
import { disposeGradients, gradients, score, type Model } from "../model/transformer.ts";
import type { SftConfig } from "../run/config.ts";
import {
  conversationAt,
  corpusSize,
  given,
  taught,
  silent,
  type EncodedConversation,
  type Corpus,
} from "./corpus.ts";
import { createEpochSampler } from "./epochSampler.ts";
import { summed, type Company, type Ground, type Method } from "./method.ts";

export function openSft(
  { company, model, optimizer }: Ground,
  config: SftConfig,
  corpus: Corpus,
): Method {
  const { sft, seed, saveEvery } = config;
  const draw = createEpochSampler(corpus.kept, seed);
  return {
    async step(step, progress) {
      const start = performance.now();
      const places = Array.from(
        { length: sft.conversations },
        (_, i) => (step - 1) * sft.conversations + i,
      );
      const own = places
        .filter((_, i) => i % company.count === company.rank)
        .map(place => conversationAt(corpus, draw(place)));
      const count = (part: number) =>
        own.reduce((sum, it) => sum + it.parts.filter(of => of === part).length, 0);
      const counts = summed(company, {
        taught: count(taught),
        given: count(given),
        silent: count(silent),
      });

      // mean over all taught tokens of the step, whichever replica reads them
      const weights = Float32Array.from(
        own.flatMap(it =>
          it.parts
            .slice(1)
            .filter(part => isTarget(part, sft.given))
            .map(part => (part === taught ? 1 : sft.given)),
        ),
      );
      const learned = gradients(model, pack(own.map(it => sheafOf(it, sft.given))), logprobs =>
        tf.neg(tf.div(tf.sum(tf.mul(logprobs, tf.tensor1d(weights))), counts.taught)),
      );
      const all = company.sumGradients(learned.gradients);
      const learningRate = sft.learningRate * rateAt(step, progress, sft);
      const { norm } = optimizer.step(all, learningRate);
      disposeGradients(all);

      const { loss } = summed(company, {
        loss:
          learned.logprobs.reduce((sum, it, i) => (weights[i] === 1 ? sum - it : sum), 0) /
          counts.taught,
      });
      const learning = (performance.now() - start) / 1000;
      const validation =
        step % saveEvery === 0 || progress >= 1 ? validate(company, model, corpus) : undefined;
      const seconds = { learning, total: (performance.now() - start) / 1000 };
      const metrics = {
        step,
        method: "sft" as const,
        loss,
        gradientNorm: norm,
        learningRate,
        taught: counts.taught,
        tokens: counts.taught + counts.given + counts.silent,
        conversations: sft.conversations,
        seconds,
      };
      return {
        metrics: validation === undefined ? metrics : { ...metrics, validation },
        groups: [],
      };
    },
    dispose: () => {},
  };
}

/** A conversation for the packer; its first token has nothing before it that could foretell it. */
const sheafOf = ({ ids, parts }: EncodedConversation, weightOfGiven: number): Sheaf => ({
  prefix: [],
  branches: [
    { ids, mask: parts.map((part, i) => (i > 0 && isTarget(part, weightOfGiven) ? 1 : 0)) },
  ],
});

const isTarget = (part: number, weightOfGiven: number) =>
  part === taught || (part === given && weightOfGiven > 0);

/** Rises over the first steps, holds, falls to a twentieth over the last share of the run. */
export function rateAt(
  step: number,
  progress: number,
  { warmUp, decay }: Pick<SftConfig["sft"], "warmUp" | "decay">,
): number {
  const rise = Math.min(1, step / Math.max(1, warmUp));
  const fall = progress > 1 - decay ? (1 - progress) / decay : 1;
  return rise * Math.max(0.05, Math.min(1, fall));
}

/**
 * Mean loss a token on the conversations kept apart, each replica reading its share; undefined
 * where there are none.
 */
function validate(company: Company, model: Model, corpus: Corpus): number | undefined {
  const places = Array.from(
    { length: corpusSize(corpus) - corpus.kept },
    (_, i) => corpus.kept + i,
  );
  if (places.length === 0) return undefined;
  const own = places.filter((_, i) => i % company.count === company.rank);
  let loss = 0;
  let tokens = 0;
  for (let i = 0; i < own.length; i += 16) {
    const packed = pack(
      own.slice(i, i + 16).map(place => sheafOf(conversationAt(corpus, place), 0)),
    );
    for (const logprob of score(model, packed)) loss -= logprob;
    tokens += packed.targets.length;
  }
  const all = summed(company, { loss, tokens });
  return all.loss / all.tokens;
}
