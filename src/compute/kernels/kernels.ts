// Everything that JavaScript calls. The module has no data and no runtime of its own: it works in
// the memory of TensorFlow.js's wasm backend, which it imports. Addresses are bytes, sizes are
// numbers of floats, matrices lie row after row.
export { adamW, sumSquares } from "./adamw";
export { attention, attentionGradient, attentionInCache, attentionScratch } from "./attention";
export { gemm, gemmBatched, gemmScratch } from "./gemm";
export { splitHeads, splitHeadsGradient, splitHeadsIntoCache } from "./heads";
export { logProbabilities, logProbabilitiesGradient, sampleRows } from "./logprob";
export { rmsNorm, rmsNormGradient } from "./norm";
export { addTo, gatherRows, segmentSum } from "./rows";
export { swiglu, swigluGradient } from "./swiglu";
