/**
 * What an optimizer remembers, as a file beside a checkpoint's weights. Full precision: a resumed
 * run must equal an unbroken one.
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
      `${file} does not say how many steps it has done`,
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
