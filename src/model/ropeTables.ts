/** The rotary position embedding: the angle of every position and pair of numbers of a head. */
import * as tf from "@tensorflow/tfjs-core";
import type { RopeTables } from "../compute/attentionLayout.ts";
import type { Architecture, RopeScaling } from "./architecture.ts";

/** Cosines and sines of the angles of every position, (context, headWidth / 2). */
export function createRopeTables(architecture: Architecture): RopeTables {
  const { context, headWidth, ropeBase, ropeScaling } = architecture;
  const half = headWidth / 2;
  const frequencies = Array.from({ length: half }, (_, i) =>
    scaleFrequency(ropeBase ** (-i / half), ropeScaling),
  );
  const createTable = (wave: (angle: number) => number) =>
    tf.tensor2d(
      Float32Array.from({ length: context * half }, (_, i) =>
        wave(Math.floor(i / half) * (frequencies[i % half] as number)),
      ),
      [context, half],
    );
  return { cos: createTable(Math.cos), sin: createTable(Math.sin) };
}

/** The angle per position, for sequences longer than those that the model was first trained with. */
function scaleFrequency(frequency: number, scaling: RopeScaling | undefined): number {
  switch (scaling?.kind) {
    case undefined:
      return frequency;
    case "linear":
      return frequency / scaling.factor;
    case "llama3": {
      const { factor, lowFrequency, highFrequency, originalContext } = scaling;
      const turns = (originalContext * frequency) / (2 * Math.PI);
      if (turns > highFrequency) return frequency;
      if (turns < lowFrequency) return frequency / factor;
      const share = (turns - lowFrequency) / (highFrequency - lowFrequency);
      return (1 - share) * (frequency / factor) + share * frequency;
    }
  }
}
