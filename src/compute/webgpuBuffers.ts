/**
 * The buffers of the WebGPU backend. TensorFlow.js never destroys a freed buffer, and uses it again
 * only for a tensor of exactly its size: a key-value cache, which grows by a token at each step,
 * leaves buffers of all its sizes behind. Here, the buffers in use and the freed ones together take
 * at most 1.25 times the most that was in use at one time, and `slack`. Those that were freed first
 * are destroyed first.
 */
import { BufferManager } from "@tensorflow/tfjs-backend-webgpu/dist/buffer_manager";

/** Bytes of freed buffers that are kept in any case. */
const slack = 2 ** 28;

export class BoundedBuffers extends BufferManager {
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
