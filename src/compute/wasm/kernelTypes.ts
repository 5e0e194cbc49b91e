/**
 * The signatures of the WebAssembly kernels, and the memory that they share with TensorFlow.js.
 * Every argument of a kernel is a number: a size, an address in bytes, or a factor.
 */
import type * as tf from "@tensorflow/tfjs-core";

/** The exports of the compiled `kernels/kernels.ts`, where the arguments are documented. */
export interface Kernels {
  gemmScratch(columns: number, inner: number): number;
  gemm(
    transposeA: number,
    transposeB: number,
    rows: number,
    columns: number,
    inner: number,
    a: number,
    lda: number,
    b: number,
    ldb: number,
    c: number,
    ldc: number,
    scratch: number,
    alpha: number,
    add: number,
  ): void;
  packedSize(columns: number, inner: number): number;
  packedScratch(inner: number): number;
  packB(
    transposed: number,
    inner: number,
    columns: number,
    b: number,
    ldb: number,
    to: number,
  ): void;
  gemmPacked(
    transposeA: number,
    rows: number,
    columns: number,
    inner: number,
    a: number,
    lda: number,
    panels: number,
    packedInner: number,
    c: number,
    ldc: number,
    scratch: number,
    alpha: number,
    add: number,
  ): void;
  gemmBatched(
    batch: number,
    strideA: number,
    strideB: number,
    strideC: number,
    transposeA: number,
    transposeB: number,
    rows: number,
    columns: number,
    inner: number,
    a: number,
    lda: number,
    b: number,
    ldb: number,
    c: number,
    ldc: number,
    scratch: number,
  ): void;
  gatherRows(n: number, width: number, x: number, index: number, out: number): void;
  segmentSum(
    n: number,
    width: number,
    segments: number,
    x: number,
    segment: number,
    out: number,
  ): void;
  addTo(n: number, x: number, y: number): void;
  rmsNorm(
    n: number,
    width: number,
    epsilon: number,
    x: number,
    weight: number,
    y: number,
    scale: number,
  ): void;
  rmsNormGradient(
    n: number,
    width: number,
    x: number,
    weight: number,
    scale: number,
    dy: number,
    dx: number,
    dweight: number,
  ): void;
  swiglu(n: number, hidden: number, gateUp: number, out: number): void;
  swigluGradient(n: number, hidden: number, gateUp: number, dout: number, dgateUp: number): void;
  splitHeads(
    n: number,
    heads: number,
    kvHeads: number,
    width: number,
    epsilon: number,
    qkv: number,
    queryNorm: number,
    keyNorm: number,
    cos: number,
    sin: number,
    position: number,
    q: number,
    k: number,
    v: number,
    scale: number,
  ): void;
  splitHeadsGradient(
    n: number,
    heads: number,
    kvHeads: number,
    width: number,
    qkv: number,
    queryNorm: number,
    keyNorm: number,
    cos: number,
    sin: number,
    position: number,
    scale: number,
    dq: number,
    dk: number,
    dv: number,
    dqkv: number,
    dqueryNorm: number,
    dkeyNorm: number,
  ): void;
  splitHeadsIntoCache(
    n: number,
    heads: number,
    kvHeads: number,
    width: number,
    epsilon: number,
    tokensPerPage: number,
    pagesPerSlot: number,
    qkv: number,
    queryNorm: number,
    keyNorm: number,
    cos: number,
    sin: number,
    slot: number,
    position: number,
    pages: number,
    q: number,
    keys: number,
    values: number,
  ): void;
  attentionScratch(longest: number, width: number): number;
  attention(
    segments: number,
    segment: number,
    n: number,
    heads: number,
    kvHeads: number,
    width: number,
    scale: number,
    longest: number,
    q: number,
    k: number,
    v: number,
    out: number,
    logSum: number,
    scratch: number,
  ): void;
  attentionGradient(
    segments: number,
    segment: number,
    n: number,
    heads: number,
    kvHeads: number,
    width: number,
    scale: number,
    longest: number,
    q: number,
    k: number,
    v: number,
    out: number,
    logSum: number,
    dout: number,
    dq: number,
    dk: number,
    dv: number,
    scratch: number,
  ): void;
  attentionInCache(
    n: number,
    heads: number,
    kvHeads: number,
    width: number,
    scale: number,
    tokensPerPage: number,
    pagesPerSlot: number,
    slot: number,
    position: number,
    pages: number,
    q: number,
    keys: number,
    values: number,
    out: number,
    scratch: number,
  ): void;
  logProbabilities(
    n: number,
    vocabulary: number,
    logits: number,
    target: number,
    logprob: number,
    logSum: number,
    scratch: number,
  ): void;
  logProbabilitiesGradient(
    n: number,
    vocabulary: number,
    logits: number,
    target: number,
    logSum: number,
    d: number,
    dlogits: number,
  ): void;
  sampleRows(
    n: number,
    vocabulary: number,
    logits: number,
    temperature: number,
    uniform: number,
    id: number,
    logprob: number,
    scratch: number,
  ): void;
  sumSquares(n: number, x: number): number;
  adamW(
    n: number,
    weight: number,
    gradient: number,
    first: number,
    second: number,
    rate: number,
    beta1: number,
    beta2: number,
    epsilon: number,
    decay: number,
    correct1: number,
    correct2: number,
    scale: number,
  ): void;
}

// The memory that TensorFlow.js and the WebAssembly kernels share.

/**
 * A build of the kernels: `simd` with plain SIMD; `relaxed` with fused multiply-add, whose results
 * differ in the last bits; `wide` in tiles for vectors of 256 bits, with the results of `relaxed`.
 */
export type KernelBuild = "simd" | "relaxed" | "wide";

/**
 * Addresses are in bytes. The memory may move when it grows, which invalidates views but not
 * addresses.
 */
export interface WasmMemory {
  readonly kernels: Kernels;
  readonly build: KernelBuild;
  readonly addressOf: (tensor: tf.TensorInfo) => number;
  /** The values of a tensor in place; valid until the next tensor is created. */
  readonly viewOf: (tensor: tf.Tensor) => Float32Array;
  readonly floatsAt: (address: number, n: number) => Float32Array;
  readonly intsAt: (address: number, n: number) => Int32Array;
  /** Allocates n numbers of four bytes until `free`. */
  readonly allocate: (n: number) => number;
  readonly free: (address: number) => void;
  /** Returns a buffer of at least n floats, which the next call may reuse. */
  readonly scratch: (n: number) => number;
  /** Creates an output tensor of a kernel. */
  readonly output: (shape: readonly number[], dtype?: "float32" | "int32") => tf.TensorInfo;
}
