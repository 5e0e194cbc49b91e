/**
 * Low-rank adapters (LoRA, Hu et al., 2021): a frozen linear layer W x becomes W x + α/r B A x, and
 * only A (r, inputs) and B (outputs, r) are trained.
 */
import * as tf from "@tensorflow/tfjs-core";
import { matMulTransposed } from "../../compute/operations.ts";
import { createRandom } from "../../environment/random.ts";
import { UserError } from "../../userError.ts";
import type { AdapterConfig } from "../../storage/adapterConfig.ts";
import {
  type Architecture,
  listProjections,
  type BlockMatrix,
  type Projection,
} from "./architecture.ts";

export interface Adapters {
  readonly config: AdapterConfig;
  /** The projections of each matrix of a block, in the order of their rows. */
  readonly projections: ReadonlyMap<BlockMatrix, readonly Projection[]>;
  /** A and B of each adapted linear layer, with the names of `nameAdapter`, in a fixed order. */
  readonly parameters: ReadonlyMap<string, tf.Variable>;
  dispose(): void;
}

/** The name of a matrix of an adapter; the names of a block start as those of its weights do. */
const nameAdapter = (layer: number, projection: string, matrix: "A" | "B"): string =>
  `layers.${layer}.${projection}.lora_${matrix}`;

/** The names and shapes of the matrices of adapters, in a fixed order. */
export function listAdapterParameters(
  architecture: Architecture,
  { rank, targets }: AdapterConfig,
): readonly { readonly name: string; readonly shape: readonly [number, number] }[] {
  const projections = listProjections(architecture);
  const unknown = targets?.find(it => !projections.some(other => other.name === it));
  const names = projections.map(it => it.name).join(", ");
  if (unknown !== undefined)
    throw new UserError(
      `the model has no linear layer ${unknown} that adapters could be added to`,
      `choose among ${names}`,
    );
  const adapted = projections.filter(it => targets?.includes(it.name) ?? true);
  if (adapted.length === 0 || !Number.isInteger(rank) || rank < 1)
    throw new UserError(
      `adapters of rank ${rank} for ${targets?.length ?? projections.length} linear layers train nothing`,
      `choose a rank of at least 1 and linear layers among ${names}`,
    );
  const smallest = adapted.reduce((a, b) => (getLargestRank(b) < getLargestRank(a) ? b : a));
  if (rank > getLargestRank(smallest))
    throw new UserError(
      `adapters of rank ${rank} are larger than the linear layer ${smallest.name}, which is ${smallest.outputs} x ${smallest.inputs}`,
      `choose a rank of at most ${getLargestRank(smallest)}, or other linear layers`,
    );
  return Array.from({ length: architecture.layers }, (_, layer) =>
    adapted.flatMap(({ name, inputs, outputs }) => [
      { name: nameAdapter(layer, name, "A"), shape: [rank, inputs] as const },
      { name: nameAdapter(layer, name, "B"), shape: [outputs, rank] as const },
    ]),
  ).flat();
}

const getLargestRank = ({ inputs, outputs }: Projection): number => Math.min(inputs, outputs);

/** The number of parameters of adapters, counted as single numbers. */
export const countAdapterParameters = (architecture: Architecture, config: AdapterConfig): number =>
  listAdapterParameters(architecture, config).reduce(
    (sum, { shape: [rows, columns] }) => sum + rows * columns,
    0,
  );

/** Creates adapters from values by name. The caller has checked that each is present. */
export function createAdapters(
  architecture: Architecture,
  config: AdapterConfig,
  getValues: (name: string, shape: readonly [number, number]) => Float32Array,
): Adapters {
  const parameters = new Map<string, tf.Variable>();
  for (const { name, shape } of listAdapterParameters(architecture, config))
    parameters.set(
      name,
      tf.tidy(() => tf.variable(tf.tensor2d(getValues(name, shape), [...shape]))),
    );
  const projections = new Map<BlockMatrix, Projection[]>();
  for (const it of listProjections(architecture))
    projections.set(it.matrix, [...(projections.get(it.matrix) ?? []), it]);
  return { config, projections, parameters, dispose: () => tf.dispose([...parameters.values()]) };
}

/** Creates adapters that change nothing yet: A is random and depends only on the seed, B is 0. */
export function initializeAdapters(
  architecture: Architecture,
  config: AdapterConfig,
  seed: number,
): Adapters {
  const random = createRandom(seed);
  return createAdapters(architecture, config, (name, [rows, columns]) => {
    const values = new Float32Array(rows * columns);
    if (name.endsWith("B")) return values;
    // uniform in ±1/√inputs, as PEFT initializes A
    const bound = 1 / Math.sqrt(columns);
    return values.map(() => (2 * random.next() - 1) * bound);
  });
}

/** What the adapters of a matrix add to its outputs, (N, inputs) to (N, outputs), if any. */
export function adaptLinear(
  adapters: Adapters,
  layer: number,
  matrix: BlockMatrix,
  x: tf.Tensor2D,
): tf.Tensor2D | undefined {
  const pairs = findPairs(adapters, layer, matrix);
  if (!pairs) return undefined;
  const parts = pairs.map(({ pair, outputs }) =>
    pair
      ? matMulTransposed(tf.mul(matMulTransposed(x, pair.a), getFactor(adapters)), pair.b)
      : tf.zeros<tf.Rank.R2>([x.shape[0], outputs]),
  );
  return parts.length === 1 ? parts[0]! : tf.concat(parts, 1);
}

/** W + α/r B A of a matrix of a block; undefined if it has no adapter. */
function mergeMatrix(
  adapters: Adapters,
  layer: number,
  matrix: BlockMatrix,
  weight: tf.Tensor2D,
): tf.Tensor2D | undefined {
  const pairs = findPairs(adapters, layer, matrix);
  if (!pairs) return undefined;
  const inputs = weight.shape[1];
  return tf.tidy(() => {
    const parts = pairs.map(({ pair, outputs }) =>
      pair ? tf.matMul(pair.b, pair.a) : tf.zeros<tf.Rank.R2>([outputs, inputs]),
    );
    const added = parts.length === 1 ? parts[0]! : tf.concat(parts, 0);
    return tf.add(weight, tf.mul(added, getFactor(adapters)));
  });
}

/** A parameter of a model with what its adapters add; undefined if they add nothing to it. */
export function mergeParameter(
  adapters: Adapters,
  name: string,
  parameter: tf.Tensor,
): tf.Tensor2D | undefined {
  const [, layer, part] = /^layers\.(\d+)\.(.+)$/.exec(name) ?? [];
  const matrix = part as BlockMatrix | undefined;
  if (matrix === undefined || !adapters.projections.has(matrix)) return undefined;
  return mergeMatrix(adapters, Number(layer), matrix, parameter as tf.Tensor2D);
}

const getFactor = ({ config }: Adapters): number => config.alpha / config.rank;

/** The adapters of the projections of a matrix, in their order; undefined if none has one. */
function findPairs({ projections, parameters }: Adapters, layer: number, matrix: BlockMatrix) {
  const pairs = projections.get(matrix)!.map(({ name, outputs }) => {
    const [a, b] = [
      parameters.get(nameAdapter(layer, name, "A")),
      parameters.get(nameAdapter(layer, name, "B")),
    ];
    return { outputs, pair: a && b ? { a: a as tf.Tensor2D, b: b as tf.Tensor2D } : undefined };
  });
  return pairs.some(it => it.pair) ? pairs : undefined;
}
