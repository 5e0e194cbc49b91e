// The functions that JavaScript calls. The module has no data and no runtime of its own: it imports
// and uses the memory of the wasm backend of TensorFlow.js. Addresses are in bytes, sizes in
// floats, and matrices are row-major.
export { adamW, sumSquares } from "./adamw";
export { attention, attentionGradient, attentionScratch } from "./attention";
export { attentionInCache } from "./attentionInCache";
export {
  gemm,
  gemmBatched,
  gemmPacked,
  gemmScratch,
  packB,
  packedScratch,
  packedSize,
} from "./gemm";
export { splitHeads, splitHeadsGradient, splitHeadsIntoCache } from "./heads";
export { logProbabilities, logProbabilitiesGradient, sampleRows } from "./logprob";
export { rmsNorm, rmsNormGradient } from "./norm";
export { addTo, gatherRows, segmentSum } from "./rows";
export { swiglu, swigluGradient } from "./swiglu";
