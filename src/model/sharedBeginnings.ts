/**
 * Which slots of a key-value cache read the beginning of their sequence in another slot. The
 * attempts at a task have one copy of its prompt, so that it stays in the processor's cache while
 * all of them attend to it.
 */
export class SharedBeginnings {
  /** For each slot, the one that has its beginning; usually itself. */
  readonly slots: Int32Array;
  /**
   * The length of the beginning. It stays when the beginning moves to the slot itself, so that sums
   * are computed in the same order.
   */
  readonly lengths: Int32Array;
  readonly #copy: (from: number, to: number, length: number) => void;

  /** `copy` copies the first `length` keys and values of a slot. */
  constructor(slots: number, copy: (from: number, to: number, length: number) => void) {
    this.slots = Int32Array.from({ length: slots }, (_, i) => i);
    this.lengths = new Int32Array(slots);
    this.#copy = copy;
  }

  /** Lets others begin as `slot` does, with its first `length` tokens. */
  share(slot: number, others: readonly number[], length: number): void {
    if (this.slots[slot] !== slot) {
      this.#copy(this.slots[slot]!, slot, this.lengths[slot]!);
      this.slots[slot] = slot;
    }
    for (const other of others) {
      this.prepare(other);
      this.slots[other] = slot;
      this.lengths[other] = length;
    }
    this.lengths[slot] = length;
  }

  /** Prepares an empty slot for other tokens. What others read in it moves to one of them. */
  prepare(slot: number): void {
    const readers = [...this.slots.keys()].filter(it => it !== slot && this.slots[it] === slot);
    if (readers.length === 0) return;
    const heir = readers.reduce((a, b) => (this.lengths[b]! > this.lengths[a]! ? b : a));
    this.#copy(slot, heir, this.lengths[heir]!);
    for (const reader of readers) this.slots[reader] = heir;
  }

  /** Empties a slot. Others may go on to read their beginning in it until it is used again. */
  release(slot: number): void {
    this.slots[slot] = slot;
    this.lengths[slot] = 0;
  }
}
