/** Divides long loops into short slices, so that the extension host stays responsive. */
import { setImmediate } from "node:timers/promises";

/** The duration of a slice. */
export const sliceMilliseconds = 8;

/**
 * Calls `visit` with each item and lets other work run between slices. Throws the signal's reason
 * when it is aborted.
 */
export async function forEachInSlices<Item>(
  items: Iterable<Item>,
  visit: (item: Item) => void,
  signal?: AbortSignal,
): Promise<void> {
  let sliceStart = performance.now();
  for (const it of items) {
    visit(it);
    if (performance.now() - sliceStart < sliceMilliseconds) continue;
    await setImmediate();
    signal?.throwIfAborted();
    sliceStart = performance.now();
  }
}
