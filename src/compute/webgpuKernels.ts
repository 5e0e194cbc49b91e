/**
 * The WebGPU backend of TensorFlow.js with all its kernels. The package's own entry point starts
 * the backend in a way that only works in browsers.
 */
import "@tensorflow/tfjs-backend-webgpu/dist/flags_webgpu";
import "@tensorflow/tfjs-backend-webgpu/dist/register_all_kernels";

export { WebGPUBackend } from "@tensorflow/tfjs-backend-webgpu/dist/backend_webgpu";
