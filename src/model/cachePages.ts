/**
 * The pages of a key-value cache: each has the keys and values of some tokens that follow each
 * other, in all layers. Slots take pages as their sequences grow, and read the same pages where
 * their sequences begin alike, until one of them writes to such a page.
 */
import type { WasmMemory } from "../compute/wasmMemory.ts";

/** The tokens of a page. */
export const tokensPerPage = 64;

/** Pages are allocated so many at a time. Those of one layer follow each other. */
const pagesPerBlock = 16;

export interface CachePagesOptions {
  readonly slots: number;
  /** The longest sequence of a slot, in tokens. */
  readonly context: number;
  readonly layers: number;
  /** The size of the keys of one token in one layer, in bytes. Values are as large. */
  readonly keyBytes: number;
}

export class CachePages {
  /** The most pages of a slot. */
  readonly perSlot: number;
  /** The address of a table (slots, perSlot) with the address of each page in the first layer. */
  readonly table: number;
  readonly #memory: WasmMemory;
  readonly #options: CachePagesOptions;
  /** The addresses of each slot's pages. */
  readonly #pages: number[][];
  /** How many slots read a page. */
  readonly #readers = new Map<number, number>();
  readonly #free: number[] = [];
  readonly #blocks: number[] = [];

  constructor(memory: WasmMemory, options: CachePagesOptions) {
    this.#memory = memory;
    this.#options = options;
    this.perSlot = Math.ceil(options.context / tokensPerPage);
    this.table = memory.allocate(options.slots * this.perSlot);
    this.#pages = Array.from({ length: options.slots }, () => []);
  }

  /** The offsets of a layer's keys and values from the address of a page, in bytes. */
  offsetsOf(layer: number): { readonly keys: number; readonly values: number } {
    const keys = layer * pagesPerBlock * this.#layerBytes;
    return { keys, values: keys + this.#layerBytes / 2 };
  }

  /** Gives a slot pages of its own for the tokens from `start` on, up to a length. */
  prepare(slot: number, start: number, length: number): void {
    const pages = this.#pages[slot]!;
    const first = Math.floor(start / tokensPerPage);
    const shared = pages[first];
    if (shared !== undefined && this.#readers.get(shared)! > 1) {
      const copy = this.#take();
      this.#copy(shared, copy);
      this.#releasePage(shared);
      pages[first] = copy;
    }
    while (pages.length * tokensPerPage < length) pages.push(this.#take());
    this.#writeTable(slot);
  }

  /** Lets other slots read the first `length` tokens of a slot, instead of what they have. */
  share(slot: number, others: readonly number[], length: number): void {
    const pages = this.#pages[slot]!.slice(0, Math.ceil(length / tokensPerPage));
    for (const other of others) {
      this.release(other);
      for (const page of pages) this.#readers.set(page, this.#readers.get(page)! + 1);
      this.#pages[other] = [...pages];
      this.#writeTable(other);
    }
  }

  /** Empties a slot. */
  release(slot: number): void {
    for (const page of this.#pages[slot]!) this.#releasePage(page);
    this.#pages[slot] = [];
  }

  dispose(): void {
    for (const address of [this.table, ...this.#blocks]) this.#memory.free(address);
  }

  /** The size of a page in one layer, in bytes. */
  get #layerBytes(): number {
    return 2 * tokensPerPage * this.#options.keyBytes;
  }

  #take(): number {
    if (this.#free.length === 0) this.#allocateBlock();
    const page = this.#free.pop()!;
    this.#readers.set(page, 1);
    return page;
  }

  /** Frees a page once no slot reads it. */
  #releasePage(page: number): void {
    const readers = this.#readers.get(page)! - 1;
    this.#readers.set(page, readers);
    if (readers === 0) this.#free.push(page);
  }

  #allocateBlock(): void {
    const layer = pagesPerBlock * this.#layerBytes;
    const block = this.#memory.allocate((this.#options.layers * layer) / 4);
    this.#blocks.push(block);
    for (let i = pagesPerBlock - 1; i >= 0; i--) this.#free.push(block + i * this.#layerBytes);
  }

  #copy(from: number, to: number): void {
    const floats = this.#layerBytes / 4;
    for (let layer = 0; layer < this.#options.layers; layer++) {
      const { keys } = this.offsetsOf(layer);
      this.#memory.floatsAt(to + keys, floats).set(this.#memory.floatsAt(from + keys, floats));
    }
  }

  #writeTable(slot: number): void {
    this.#memory.intsAt(this.table + 4 * slot * this.perSlot, this.perSlot).set(this.#pages[slot]!);
  }
}
