/**
 * Sequences of different lengths laid end to end, so that training pays for no padding, and a
 * prompt that several sequences begin with is worked once. Knows token ids only, not what they say.
 */

/** A batch as the transformer reads it. N tokens, S segments, M targets. */
export interface PackedBatch {
  /** (N) token ids. */
  readonly ids: Int32Array;
  /** (N) each token's place in its own sequence. */
  readonly positions: Int32Array;
  /**
   * (S, 4) start, length, prefix start, prefix length: a segment attends to itself, causally, and
   * to the whole of its prefix.
   */
  readonly segments: Int32Array;
  /** (M) the row whose output foretells each target. */
  readonly rows: Int32Array;
  /** (M) the token id that stood there. */
  readonly targets: Int32Array;
}

/** Sequences that begin alike: each is the prefix followed by one of the branches. */
export interface PackedGroup {
  /** May be empty. Its own tokens are never targets. */
  readonly prefix: readonly number[];
  readonly branches: readonly Branch[];
}

export interface Branch {
  readonly ids: readonly number[];
  /** Beside `ids`: 1 where the token's log-probability is asked for. */
  readonly mask: readonly number[];
}

/** Packs sheaves; targets come in the order of sheaves, then branches, then tokens. */
export function packGroups(sheaves: readonly PackedGroup[]): PackedBatch {
  const writer: Writer = { ids: [], positions: [], segments: [], rows: [], targets: [] };
  for (const sheaf of sheaves) packGroup(writer, sheaf);
  return {
    ids: Int32Array.from(writer.ids),
    positions: Int32Array.from(writer.positions),
    segments: Int32Array.from(writer.segments),
    rows: Int32Array.from(writer.rows),
    targets: Int32Array.from(writer.targets),
  };
}

type Writer = { [Key in keyof PackedBatch]: number[] };

function packGroup(writer: Writer, { prefix, branches }: PackedGroup): void {
  const [only] = branches;
  // a prefix that nothing shares joins its branch: one segment is less work than two
  if (branches.length === 1 && only)
    return packSegment(writer, prefix, only, { start: 0, length: 0 });
  const shared = { start: writer.ids.length, length: prefix.length };
  if (prefix.length > 0)
    packSegment(writer, prefix, { ids: [], mask: [] }, { start: 0, length: 0 });
  for (const branch of branches) packSegment(writer, [], branch, shared);
}

function packSegment(
  writer: Writer,
  head: readonly number[],
  { ids, mask }: Branch,
  prefix: { start: number; length: number },
): void {
  if (ids.length !== mask.length)
    throw new Error(`a branch of ${ids.length} tokens has a mask of ${mask.length}`);
  const start = writer.ids.length;
  // the last token of a branch foretells nothing, so it is not fed
  const fed = ids.length === 0 ? head : [...head, ...ids.slice(0, -1)];
  fed.forEach((id, i) => {
    writer.ids.push(id);
    writer.positions.push(prefix.length + i);
  });
  if (fed.length > 0) writer.segments.push(start, fed.length, prefix.start, prefix.length);
  ids.forEach((id, i) => {
    if (!mask[i]) return;
    const before = head.length + i - 1;
    if (before < 0 && prefix.length === 0)
      throw new Error("the first token of a sequence has nothing before it that could foretell it");
    writer.rows.push(before < 0 ? prefix.start + prefix.length - 1 : start + before);
    writer.targets.push(id);
  });
}
