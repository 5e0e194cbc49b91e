/**
 * Replaces kernels of TensorFlow.js. In its wasm backend, the matrix product is a scalar loop for
 * transposed or batched operands, which every gradient has, and keeps packed copies of weights, so
 * that it misses changes in place; and UnsortedSegmentSum, the gradient of `gather`, is missing. In
 * the cpu backend, the time of that sum grows with segments times rows.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { WasmMemory } from "./kernelTypes.ts";

type Operands = Record<string, tf.Tensor>;

export function registerReplacementKernels(memory: WasmMemory): void {
  const { kernels, addressOf, output } = memory;
  const stockGather = tf.getKernel("GatherV2", "wasm");
  replaceKernel("BatchMatMul", "wasm", ({ inputs, attrs }) =>
    batchMatMul(memory, inputs as Operands, attrs as unknown as Transposes),
  );
  // the stock kernel copies the values, which doubles the memory of all that gradients save
  replaceKernel("Identity", "wasm", ({ inputs, backend }) => {
    const { x } = inputs as { x: tf.TensorInfo };
    (backend as tf.KernelBackend).incRef(x.dataId);
    return { dataId: x.dataId, shape: x.shape, dtype: x.dtype };
  });
  replaceKernel("GatherV2", "wasm", params => {
    const { x, indices } = params.inputs as { x: tf.Tensor; indices: tf.Tensor };
    const { axis, batchDims } = params.attrs as unknown as { axis: number; batchDims?: number };
    if (axis !== 0 || (batchDims ?? 0) !== 0 || x.dtype !== "float32" || x.shape.length !== 2)
      return stockGather.kernelFunc(params);
    const width = x.shape[1];
    const out = output([...indices.shape, width]);
    kernels.gatherRows(
      sizeOf(indices.shape),
      width,
      addressOf(x),
      addressOf(indices),
      addressOf(out),
    );
    return out;
  });
  replaceKernel("UnsortedSegmentSum", "wasm", ({ inputs, attrs }) => {
    const { x, segmentIds } = inputs as { x: tf.Tensor; segmentIds: tf.Tensor };
    const { numSegments } = attrs as unknown as { numSegments: number };
    const inner = x.shape.slice(segmentIds.shape.length);
    const out = output([numSegments, ...inner]);
    kernels.segmentSum(
      sizeOf(segmentIds.shape),
      sizeOf(inner),
      numSegments,
      addressOf(x),
      addressOf(segmentIds),
      addressOf(out),
    );
    return out;
  });
}

interface Transposes {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

function batchMatMul(
  { kernels, addressOf, output, scratch }: WasmMemory,
  inputs: Operands,
  { transposeA, transposeB }: Transposes,
): tf.TensorInfo {
  const { a, b } = inputs as { a: tf.Tensor; b: tf.Tensor };
  const [rowsA, columnsA] = a.shape.slice(-2) as [number, number];
  const [rowsB, columnsB] = b.shape.slice(-2) as [number, number];
  const [rows, inner] = transposeA ? [columnsA, rowsA] : [rowsA, columnsA];
  const [innerB, columns] = transposeB ? [columnsB, rowsB] : [rowsB, columnsB];
  if (inner !== innerB)
    throw new Error(
      `a matrix product of (${a.shape.join()}) and (${b.shape.join()}): inner sizes ${inner} and ${innerB} differ`,
    );
  const [batchA, batchB] = [sizeOf(a.shape.slice(0, -2)), sizeOf(b.shape.slice(0, -2))];
  if (batchA !== batchB && batchA !== 1 && batchB !== 1)
    throw new Error(`a matrix product of batches of ${batchA} and ${batchB}`);
  const out = output([...(batchA >= batchB ? a : b).shape.slice(0, -2), rows, columns]);
  kernels.gemmBatched(
    Math.max(batchA, batchB),
    batchA === 1 ? 0 : rows * inner,
    batchB === 1 ? 0 : inner * columns,
    rows * columns,
    Number(transposeA),
    Number(transposeB),
    rows,
    columns,
    inner,
    addressOf(a),
    columnsA,
    addressOf(b),
    columnsB,
    addressOf(out),
    columns,
    scratch(kernels.gemmScratch(columns, inner)),
  );
  return out;
}

/** UnsortedSegmentSum for the cpu backend, in time proportional to the rows. */
export function registerCpuSegmentSum(): void {
  replaceKernel("UnsortedSegmentSum", "cpu", ({ inputs, attrs, backend }) => {
    const { x, segmentIds } = inputs as { x: tf.Tensor; segmentIds: tf.Tensor };
    const { numSegments } = attrs as unknown as { numSegments: number };
    const cpu = backend as CpuBackend;
    const inner = x.shape.slice(segmentIds.shape.length);
    const width = sizeOf(inner);
    const [values, segments] = [
      cpu.data.get(x.dataId).values,
      cpu.data.get(segmentIds.dataId).values,
    ];
    const sums = new Float32Array(numSegments * width);
    for (let row = 0; row < segments.length; row++) {
      const to = (segments[row] as number) * width;
      if (to < 0) continue;
      for (let j = 0; j < width; j++)
        sums[to + j] = (sums[to + j] as number) + (values[row * width + j] as number);
    }
    return cpu.makeTensorInfo([numSegments, ...inner], "float32", sums);
  });
}

interface CpuBackend {
  readonly data: { get(id: object): { values: Float32Array | Int32Array } };
  makeTensorInfo(shape: number[], dtype: string, values: Float32Array): tf.TensorInfo;
}

function replaceKernel(kernelName: string, backendName: string, kernelFunc: tf.KernelFunc): void {
  if (tf.getKernel(kernelName, backendName)) tf.unregisterKernel(kernelName, backendName);
  tf.registerKernel({ kernelName, backendName, kernelFunc });
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);
