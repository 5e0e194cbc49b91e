/**
 * The WebGPU backend of TensorFlow.js with all its kernels, and with shaders of our own. The
 * package's own entry point starts the backend in a way that only works in browsers.
 */
import "@tensorflow/tfjs-backend-webgpu/dist/flags_webgpu";
import "@tensorflow/tfjs-backend-webgpu/dist/register_all_kernels";
import { WebGPUBackend } from "@tensorflow/tfjs-backend-webgpu/dist/backend_webgpu";
import * as tf from "@tensorflow/tfjs-core";
import { BufferManager } from "@tensorflow/tfjs-backend-webgpu/dist/buffer_manager";

/** A compute shader. Each tensor and each number has the name that the code gives it. */
export interface Shader {
  readonly name: string;
  /** Tensors that are written, float32. */
  readonly outputs: readonly string[];
  /** Tensors that are read, with the types of their elements. */
  readonly inputs: Readonly<Record<string, "f32" | "i32">>;
  /** Numbers, which the code reads as `u.name`, with their types. */
  readonly numbers: Readonly<Record<string, "f32" | "u32">>;
  /** Functions and variables outside of `main`. */
  readonly declarations?: string;
  /**
   * The body of `main`, in WGSL: `lane` is the number of the invocation in its workgroup of
   * `workgroupSize`, `group` that of the workgroup, and `index` that of the invocation in all.
   */
  readonly code: string;
}

/** The invocations of a workgroup. */
export const workgroupSize = 64;

interface ShaderRun {
  readonly outputs: readonly (readonly number[])[];
  /** The inputs in the order of the shader's. */
  readonly inputs: readonly tf.TensorInfo[];
  /** The numbers in the order of the shader's. */
  readonly numbers: readonly number[];
  /** At least 1: no output is empty. */
  readonly workgroups: number;
}

/** The members of the class that are needed here, of which TensorFlow.js declares some private. */
interface Internals {
  commandEncoder: GPUCommandEncoder | null;
  computePassEncoder: GPUComputePassEncoder | null;
  readonly commandQueueOwnedIds: WeakSet<object>;
  readonly uniformPendingDisposal: GPUBuffer[];
  dispatchCountInPass: number;
}

interface Compiled {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
}

export class ShaderBackend extends WebGPUBackend {
  readonly #compiled = new Map<Shader, Compiled>();

  constructor(device: GPUDevice, adapterInfo: GPUAdapterInfo) {
    super(device, adapterInfo);
    this.bufferManager = new BoundedBuffers(device);
  }

  /**
   * Values are written through the queue. TensorFlow.js creates a mapped buffer for each upload,
   * even of a single number. A step of a training has thousands of them, and on an NVIDIA H200 it
   * took 8 GB more of the card each time.
   */
  override uploadToGPU(dataId: tf.DataId): void {
    const data = this.tensorMap.get(dataId);
    if (data.resource != null) return;
    const size = Math.max(4, 4 * tf.util.sizeFromShape(data.shape));
    // free buffers are in no command that has not been submitted, so that nothing is overtaken
    const buffer = this.bufferManager.acquireBuffer(size, tensorUsage());
    data.resource = buffer;
    if (!data.values) return;
    const values = data.values as tf.TypedArray | number[];
    const Numbers = data.dtype === "float32" ? Float32Array : Int32Array;
    this.queue.writeBuffer(buffer, 0, values instanceof Numbers ? values : Numbers.from(values));
    // once uploaded, values are not kept here
    data.values = null!;
  }

  /** Runs a shader, in the order of the backend's own programs. Returns its outputs. */
  runShader(shader: Shader, { outputs, inputs, numbers, workgroups }: ShaderRun): tf.TensorInfo[] {
    const results = outputs.map(it => this.makeTensorInfo([...it], "float32"));
    const { pipeline, layout } = this.#compile(shader);
    const internals = this as unknown as Internals;
    const buffers = [...results, ...inputs].map(it => {
      this.uploadToGPU(it.dataId);
      internals.commandQueueOwnedIds.add(it.dataId);
      return this.tensorMap.get(it.dataId).resource as GPUBuffer;
    });
    // WebGPU limits the workgroups in one dimension
    const x = Math.min(workgroups, 2 ** 15);
    const y = Math.ceil(workgroups / x);
    const uniforms = this.#writeUniforms(shader, [...numbers, x]);
    const bindGroup = this.device.createBindGroup({
      layout,
      entries: [...buffers, uniforms].map((buffer, binding) => ({
        binding,
        resource: { buffer },
      })),
    });
    this.ensureCommandEncoderReady();
    internals.computePassEncoder ??= internals.commandEncoder!.beginComputePass();
    internals.computePassEncoder.setPipeline(pipeline);
    internals.computePassEncoder.setBindGroup(0, bindGroup);
    internals.computePassEncoder.dispatchWorkgroups(x, y);
    internals.dispatchCountInPass++;
    if (internals.dispatchCountInPass >= tf.env().getNumber("WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE")) {
      this.endComputePassEncoder();
      this.submitQueue();
    }
    return results;
  }

  #compile(shader: Shader): Compiled {
    let compiled = this.#compiled.get(shader);
    if (!compiled) {
      const module = this.device.createShaderModule({ code: writeShader(shader) });
      const pipeline = this.device.createComputePipeline({
        label: shader.name,
        layout: "auto",
        compute: { module, entryPoint: "main" },
      });
      compiled = { pipeline, layout: pipeline.getBindGroupLayout(0) };
      this.#compiled.set(shader, compiled);
    }
    return compiled;
  }

  #writeUniforms({ numbers }: Shader, values: readonly number[]): GPUBuffer {
    const types = [...Object.values(numbers), "u32"];
    const view = new DataView(new ArrayBuffer(Math.ceil(values.length / 4) * 16));
    for (const [i, it] of values.entries())
      if (types[i] === "f32") view.setFloat32(4 * i, it, true);
      else view.setUint32(4 * i, it, true);
    const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.UNIFORM;
    const buffer = this.bufferManager.acquireBuffer(view.byteLength, usage);
    this.queue.writeBuffer(buffer, 0, view.buffer);
    (this as unknown as Internals).uniformPendingDisposal.push(buffer);
    return buffer;
  }
}

/** The constants exist only after WebGPU was loaded. */
const tensorUsage = (): number =>
  GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

function writeShader({ outputs, inputs, numbers, declarations = "", code }: Shader): string {
  const bindings = [
    ...outputs.map(it => `var<storage, read_write> ${it}: array<f32>;`),
    ...Object.entries(inputs).map(([name, type]) => `var<storage, read> ${name}: array<${type}>;`),
    "var<uniform> u: Numbers;",
  ];
  const fields = Object.entries(numbers).map(([name, type]) => `${name}: ${type},`);
  return `
struct Numbers { ${fields.join(" ")} groupsInRow: u32 }
${bindings.map((it, i) => `@group(0) @binding(${i}) ${it}`).join("\n")}
${declarations}
@compute @workgroup_size(${workgroupSize})
fn main(@builtin(workgroup_id) groupId: vec3u, @builtin(local_invocation_index) lane: u32) {
  let group = groupId.y * u.groupsInRow + groupId.x;
  let index = group * ${workgroupSize}u + lane;
  ${code}
}`;
}

// The buffers of the WebGPU backend. TensorFlow.js never destroys a freed buffer, and uses it again
// only for a tensor of exactly its size: a key-value cache, which grows by a token at each step,
// leaves buffers of all its sizes behind. Here, the buffers in use and the freed ones together take
// at most 1.25 times the most that was in use at one time, and `slack`. Those that were freed first
// are destroyed first.

/** Bytes of freed buffers that are kept in any case. */
const slack = 2 ** 28;

class BoundedBuffers extends BufferManager {
  readonly #device: GPUDevice;
  /** Freed buffers by size and usage; the last one is used first. */
  readonly #free = new Map<string, GPUBuffer[]>();
  /** The same in the order in which they were freed. */
  readonly #order = new Set<GPUBuffer>();
  /** The most bytes that were in use at one time. */
  #peak = 0;

  constructor(device: GPUDevice) {
    super(device);
    this.#device = device;
  }

  override acquireBuffer(
    size: number,
    usage: GPUBufferUsageFlags,
    mappedAtCreation = false,
    reuse = true,
  ): GPUBuffer {
    this.numBytesUsed += size;
    this.#peak = Math.max(this.#peak, this.numBytesUsed);
    const freed = reuse ? this.#free.get(getKey(size, usage))?.pop() : undefined;
    if (freed) {
      this.#order.delete(freed);
      return freed;
    }
    this.numBytesAllocated += size;
    this.#trim();
    return this.#device.createBuffer({ size, usage, mappedAtCreation });
  }

  override releaseBuffer(buffer: GPUBuffer, reuse = true): void {
    this.numBytesUsed -= buffer.size;
    if (!reuse) return this.#destroy(buffer);
    const key = getKey(buffer.size, buffer.usage);
    const same = this.#free.get(key);
    if (same) same.push(buffer);
    else this.#free.set(key, [buffer]);
    this.#order.add(buffer);
    this.#trim();
  }

  /** Buffers in use are left to the device, which is destroyed with the backend. */
  override dispose(): void {
    for (const it of this.#order) this.#destroy(it);
    this.#order.clear();
    this.#free.clear();
  }

  #trim(): void {
    for (const oldest of this.#order) {
      if (this.numBytesAllocated <= 1.25 * this.#peak + slack) break;
      this.#forget(oldest);
      this.#destroy(oldest);
    }
  }

  #forget(buffer: GPUBuffer): void {
    this.#order.delete(buffer);
    const key = getKey(buffer.size, buffer.usage);
    const same = this.#free.get(key)!;
    same.splice(same.indexOf(buffer), 1);
    if (same.length === 0) this.#free.delete(key);
  }

  /** What the card still computes with it is not affected. */
  #destroy(buffer: GPUBuffer): void {
    this.numBytesAllocated -= buffer.size;
    buffer.destroy();
  }
}

const getKey = (size: number, usage: GPUBufferUsageFlags): string => `${size} ${usage}`;
