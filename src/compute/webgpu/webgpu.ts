/**
 * Starts the WebGPU backend of TensorFlow.js in Node, on the implementation of WebGPU in the npm
 * package `webgpu` (Dawn). The package is not part of the extension.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { UserError } from "../../userError.ts";
import { createMissingError, describeLoadError } from "../loadError.ts";

/** The part of the package `webgpu` that is used here. */
interface Dawn {
  /** Options are those of Dawn, such as `adapter=NAME`. */
  create(options: readonly string[]): Gpu;
  /** The constants of WebGPU, such as GPUBufferUsage, and its classes. */
  readonly globals: object;
}

interface Gpu {
  requestAdapter(options: { powerPreference: string }): Promise<Adapter | null>;
}

interface Adapter {
  readonly features: ReadonlySet<string>;
  readonly limits: Readonly<Record<string, number>>;
  readonly info: {
    readonly vendor: string;
    readonly architecture: string;
    readonly device: string;
    readonly description: string;
    readonly isFallbackAdapter?: boolean;
  };
  requestDevice(options: object): Promise<Device>;
}

interface Device {
  addEventListener(
    kind: "uncapturederror",
    listener: (event: { error: { message: string } }) => void,
  ): void;
  readonly lost: Promise<{ readonly message: string; readonly reason: string }>;
  destroy(): void;
}

/** Limits of the adapter that the device should have; the defaults are far lower. */
const neededLimits = [
  "maxComputeWorkgroupStorageSize",
  "maxComputeWorkgroupsPerDimension",
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxComputeWorkgroupSizeX",
  "maxComputeInvocationsPerWorkgroup",
  "maxStorageBuffersPerShaderStage",
];

interface StartedWebgpu {
  /** The name of the adapter. */
  readonly device: string;
  /** Whether the adapter computes on the processor. */
  readonly isSoftware: boolean;
  /** The largest tensor, in bytes. */
  readonly maxTensorBytes: number;
  /** Throws the errors that WebGPU has reported since the last call: results are then wrong. */
  check(): void;
}

let started: StartedWebgpu | undefined;

/** Makes `webgpu` the backend of this thread. `folder` has the package `webgpu` in node_modules. */
export async function startWebgpu(folder: string | undefined): Promise<StartedWebgpu> {
  started ??= await registerWebgpu(folder);
  if (!(await tf.setBackend("webgpu"))) throw new Error("the webgpu backend did not start");
  await tf.ready();
  return started;
}

async function registerWebgpu(folder: string | undefined): Promise<StartedWebgpu> {
  if (process.versions["electron"])
    throw new UserError(
      "WebGPU does not run in Electron's version of Node",
      "install Node 20 or later, so that PROVE finds node on the PATH",
    );
  const gpu = loadPackage(folder);
  // the backend looks for the implementation here; Node 20 has no navigator
  const scope = globalThis as { navigator?: object };
  if (!scope.navigator)
    Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
  Object.defineProperty(scope.navigator, "gpu", { value: gpu, configurable: true });
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter)
    throw new UserError(
      "WebGPU found no graphics adapter",
      "install the driver of your graphics card with Vulkan, Metal or Direct3D 12, or use the backend wasm",
    );
  const device = await adapter.requestDevice({
    requiredFeatures: ["timestamp-query"].filter(it => adapter.features.has(it)),
    requiredLimits: Object.fromEntries(neededLimits.map(it => [it, adapter.limits[it]])),
  });
  const { ShaderBackend } = await import("./webgpuBackend.ts");
  const { registerShaders } = await import("./registerShaders.ts");
  tf.registerBackend("webgpu", () => new ShaderBackend(device as never, adapter.info as never), 0);
  registerShaders();
  // by default, 15 programs; each submission takes time of its own
  tf.env().set("WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE", 100);
  return describe(adapter, collectErrors(device));
}

/** Loads the implementation of WebGPU and makes its constants global, as in a browser. */
function loadPackage(folder: string | undefined): Gpu {
  if (folder === undefined) throw createMissingError("webgpu");
  try {
    const { create, globals } = createRequire(join(folder, "any.js"))("webgpu") as Dawn;
    Object.assign(globalThis, globals);
    return create([]);
  } catch (cause) {
    throw new UserError(
      `the package webgpu cannot be loaded from ${folder}: ${describeLoadError(cause)}`,
      `its native library is missing or does not fit Node ${process.versions.node} on this system: remove it with prove-rl backend remove webgpu, and install it again`,
      { cause },
    );
  }
}

/** WebGPU reports errors after the call that caused them, and the call returns wrong numbers. */
function collectErrors(device: Device): () => void {
  const errors: string[] = [];
  device.addEventListener("uncapturederror", event => errors.push(event.error.message));
  void device.lost.then(({ reason, message }) => {
    if (reason !== "destroyed") errors.push(`the graphics device was lost: ${message}`);
  });
  return () => {
    const [first] = errors.splice(0);
    if (first !== undefined) throw new Error(`WebGPU failed: ${first}`);
  };
}

function describe({ info, limits }: Adapter, check: () => void): StartedWebgpu {
  const device = [info.device || info.description || info.architecture, info.vendor]
    .filter(Boolean)
    .join(", ");
  return {
    device: device || "a graphics adapter without a name",
    isSoftware:
      info.isFallbackAdapter === true ||
      /swiftshader|llvmpipe|software/i.test(JSON.stringify(info)),
    maxTensorBytes: Math.min(limits["maxStorageBufferBindingSize"]!, limits["maxBufferSize"]!),
    check,
  };
}
