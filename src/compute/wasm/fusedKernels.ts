/**
 * Registers the WebAssembly kernels in the kernel registry of TensorFlow.js, so that it owns their
 * outputs and disposes of them with its scopes.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { WasmMemory } from "./kernelTypes.ts";

/** The numbers that kernels are given besides their inputs. */
interface KernelAttributes {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  /** Added to the mean square before a norm divides by its root. */
  readonly epsilon: number;
  /** The factor of the products of queries and keys. */
  readonly factor: number;
  /** The most rows that a segment attends to. */
  readonly longest: number;
}

type Inputs = Record<string, tf.Tensor>;
type Kernel = (
  memory: WasmMemory,
  inputs: Inputs,
  attributes: KernelAttributes,
) => tf.TensorInfo | tf.TensorInfo[];

export function registerFusedKernels(memory: WasmMemory): void {
  for (const [kernelName, kernel] of Object.entries(fusedKernels)) {
    if (tf.getKernel(kernelName, "wasm")) tf.unregisterKernel(kernelName, "wasm");
    const kernelFunc: tf.KernelFunc = ({ inputs, attrs }) =>
      kernel(memory, inputs as Inputs, attrs as unknown as KernelAttributes);
    tf.registerKernel({ kernelName, backendName: "wasm", kernelFunc });
  }
}

/** The inputs have the names that fusedOperations.ts gives them; shapes are documented there. */
const fusedKernels = {
  FusedRmsNorm({ kernels, addressOf: at, output }, { x, weight }, { epsilon }) {
    const [n, width] = sizesOf(x);
    const [y, scale] = [output([n, width]), output([n])];
    kernels.rmsNorm(n, width, epsilon, at(x!), at(weight!), at(y), at(scale));
    return [y, scale];
  },
  FusedRmsNormGradient({ kernels, addressOf: at, output }, { x, weight, scale, dy }) {
    const [n, width] = sizesOf(x);
    const [dx, dweight] = [output([n, width]), output([width])];
    kernels.rmsNormGradient(
      n,
      width,
      at(x!),
      at(weight!),
      at(scale!),
      at(dy!),
      at(dx),
      at(dweight),
    );
    return [dx, dweight];
  },
  FusedSwiglu({ kernels, addressOf: at, output }, { gateUp }) {
    const [n, both] = sizesOf(gateUp);
    const out = output([n, both / 2]);
    kernels.swiglu(n, both / 2, at(gateUp!), at(out));
    return out;
  },
  FusedSwigluGradient({ kernels, addressOf: at, output }, { gateUp, dout }) {
    const [n, both] = sizesOf(gateUp);
    const dgateUp = output([n, both]);
    kernels.swigluGradient(n, both / 2, at(gateUp!), at(dout!), at(dgateUp));
    return dgateUp;
  },
  FusedSplitHeads(
    { kernels, addressOf: at, output },
    { qkv, queryNorm, keyNorm, cos, sin, positions },
    { heads, kvHeads, headWidth, epsilon },
  ) {
    const [n] = sizesOf(qkv);
    const [q, k, v, scale] = [
      output([heads, n, headWidth]),
      output([kvHeads, n, headWidth]),
      output([kvHeads, n, headWidth]),
      output([n, heads + kvHeads]),
    ];
    kernels.splitHeads(
      n,
      heads,
      kvHeads,
      headWidth,
      epsilon,
      at(qkv!),
      queryNorm ? at(queryNorm) : 0,
      keyNorm ? at(keyNorm) : 0,
      at(cos!),
      at(sin!),
      at(positions!),
      at(q),
      at(k),
      at(v),
      at(scale),
    );
    return [q, k, v, scale];
  },
  FusedSplitHeadsGradient(
    { kernels, addressOf: at, output },
    inputs,
    { heads, kvHeads, headWidth },
  ) {
    const { qkv, queryNorm, keyNorm, cos, sin, positions, scale, dq, dk, dv } = inputs;
    const [n, width] = sizesOf(qkv);
    const dqkv = output([n, width]);
    const norms = queryNorm ? [output([headWidth]), output([headWidth])] : [];
    kernels.splitHeadsGradient(
      n,
      heads,
      kvHeads,
      headWidth,
      at(qkv!),
      queryNorm ? at(queryNorm) : 0,
      keyNorm ? at(keyNorm) : 0,
      at(cos!),
      at(sin!),
      at(positions!),
      at(scale!),
      at(dq!),
      at(dk!),
      at(dv!),
      at(dqkv),
      norms[0] ? at(norms[0]) : 0,
      norms[1] ? at(norms[1]) : 0,
    );
    return [dqkv, ...norms];
  },
  FusedAttention(
    { kernels, addressOf: at, output, scratch },
    { q, k, v, segments },
    { longest, factor },
  ) {
    const [heads, n, headWidth] = q!.shape as [number, number, number];
    const [out, logSum] = [output([n, heads * headWidth]), output([heads, n])];
    const scratchAddress = scratch(kernels.attentionScratch(longest, headWidth));
    kernels.attention(
      segments!.shape[0],
      at(segments!),
      n,
      heads,
      k!.shape[0],
      headWidth,
      factor,
      longest,
      at(q!),
      at(k!),
      at(v!),
      at(out),
      at(logSum),
      scratchAddress,
    );
    return [out, logSum];
  },
  FusedAttentionGradient(
    { kernels, addressOf: at, output, scratch },
    { q, k, v, segments, out, logSum, dout },
    { longest, factor },
  ) {
    const [heads, n, headWidth] = q!.shape as [number, number, number];
    const [dq, dk, dv] = [output(q!.shape), output(k!.shape), output(v!.shape)];
    const scratchAddress = scratch(kernels.attentionScratch(longest, headWidth));
    kernels.attentionGradient(
      segments!.shape[0],
      at(segments!),
      n,
      heads,
      k!.shape[0],
      headWidth,
      factor,
      longest,
      at(q!),
      at(k!),
      at(v!),
      at(out!),
      at(logSum!),
      at(dout!),
      at(dq),
      at(dk),
      at(dv),
      scratchAddress,
    );
    return [dq, dk, dv];
  },
  FusedLogProbabilities({ kernels, addressOf: at, output, scratch }, { logits, targets }) {
    const [n, vocabulary] = sizesOf(logits);
    const [logprobs, logSum] = [output([n]), output([n])];
    kernels.logProbabilities(
      n,
      vocabulary,
      at(logits!),
      at(targets!),
      at(logprobs),
      at(logSum),
      scratch(8),
    );
    return [logprobs, logSum];
  },
  FusedLogProbabilitiesGradient(
    { kernels, addressOf: at, output },
    { logits, targets, logSum, d },
  ) {
    const [n, vocabulary] = sizesOf(logits);
    const dlogits = output([n, vocabulary]);
    kernels.logProbabilitiesGradient(
      n,
      vocabulary,
      at(logits!),
      at(targets!),
      at(logSum!),
      at(d!),
      at(dlogits),
    );
    return dlogits;
  },
} satisfies Record<string, Kernel>;

export type FusedKernel = keyof typeof fusedKernels;

const sizesOf = (matrix: tf.Tensor | undefined): [number, number] =>
  matrix!.shape as [number, number];
