/**
 * Reads and writes the state of an optimizer: a file beside the weights of a checkpoint, in full
 * precision, because a resumed run must equal an uninterrupted one.
 */
import { UserError } from "../userError.ts";
import { readWeights, writeWeights, type NamedArray } from "../model/weights.ts";
import type { OptimizerState } from "./optimizer.ts";

export async function writeOptimizer(
  file: string,
  { step, first, second }: OptimizerState,
): Promise<void> {
  const arrays = new Map<string, NamedArray>();
  for (const [kind, moments] of [
    ["first", first],
    ["second", second],
  ] as const)
    for (const [name, values] of moments)
      arrays.set(`${kind}.${name}`, { shape: [values.length], values });
  await writeWeights(file, { arrays, metadata: { step: String(step) } }, "F32");
}

export async function readOptimizer(file: string): Promise<OptimizerState> {
  const { arrays, metadata } = await readWeights(file);
  const step = Number(metadata["step"]);
  if (!Number.isInteger(step))
    throw new UserError(
      `${file} has no number of steps in its metadata`,
      "resume from an earlier checkpoint",
    );
  const moments = (kind: string) =>
    new Map(
      [...arrays]
        .filter(([name]) => name.startsWith(`${kind}.`))
        .map(([name, it]) => [name.slice(kind.length + 1), it.values]),
    );
  return { step, first: moments("first"), second: moments("second") };
}
