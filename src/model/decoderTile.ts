/** The tokens of a decoder step in parts of limited size, which a cache computes one at a time. */
import type { Feed, SamplingChoice } from "./decoderStep.ts";

/** The most rows in one pass. A call with more takes several. */
export const rowsPerTile = 256;

/** At most `rowsPerTile` rows. Each row is a token at a position of a slot. */
export interface Tile {
  readonly ids: number[];
  readonly slots: number[];
  readonly positions: number[];
  /** The rows after which a token is sampled. */
  readonly sampled: (SamplingChoice & { readonly row: number; readonly slot: number })[];
}

export function* splitIntoTiles(
  feeds: readonly Feed[],
  starts: readonly number[],
): Generator<Tile> {
  const createEmpty = (): Tile => ({ ids: [], slots: [], positions: [], sampled: [] });
  let tile = createEmpty();
  for (const [i, { slot, ids, choose }] of feeds.entries())
    for (const [j, id] of ids.entries()) {
      tile.ids.push(id);
      tile.slots.push(slot);
      tile.positions.push((starts[i] as number) + j);
      if (choose && j === ids.length - 1)
        tile.sampled.push({ row: tile.ids.length - 1, slot, ...choose });
      if (tile.ids.length === rowsPerTile) {
        yield tile;
        tile = createEmpty();
      }
    }
  if (tile.ids.length > 0) yield tile;
}
