/**
 * Packs sequences of different lengths into one batch without padding, in which a prompt that
 * several sequences share is computed once.
 */

/** The input of the transformer: N tokens, S segments, M targets. */
export interface PackedBatch {
  /** (N) token ids. */
  readonly ids: Int32Array;
  /** (N) the position of each token in its own sequence. */
  readonly positions: Int32Array;
  /**
   * (S, 4) start, length, prefix start, prefix length: a segment attends causally to itself, and to
   * its whole prefix.
   */
  readonly segments: Int32Array;
  /** (M) the row whose output predicts each target. */
  readonly rows: Int32Array;
  /** (M) the token id of each target. */
  readonly targets: Int32Array;
}

/** Sequences with a common prefix: each is the prefix followed by one of the branches. */
export interface PackedGroup {
  /** May be empty. Its tokens are never targets. */
  readonly prefix: readonly number[];
  readonly branches: readonly Branch[];
}

export interface Branch {
  readonly ids: readonly number[];
  /** For each token, 1 if it is a target. */
  readonly mask: readonly number[];
}

/** Packs groups. Targets are in the order of groups, then branches, then tokens. */
export function packGroups(groups: readonly PackedGroup[]): PackedBatch {
  const writer: Writer = { ids: [], positions: [], segments: [], rows: [], targets: [] };
  for (const group of groups) packGroup(writer, group);
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
  // with one branch, prefix and branch become one segment, which is less work than two
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
  // the last token of a branch predicts no target, so it is not part of the input
  const input = ids.length === 0 ? head : [...head, ...ids.slice(0, -1)];
  input.forEach((id, i) => {
    writer.ids.push(id);
    writer.positions.push(prefix.length + i);
  });
  if (input.length > 0) writer.segments.push(start, input.length, prefix.start, prefix.length);
  ids.forEach((id, i) => {
    if (!mask[i]) return;
    const previous = head.length + i - 1;
    if (previous < 0 && prefix.length === 0)
      throw new Error("the first token of a sequence has nothing before it that predicts it");
    writer.rows.push(previous < 0 ? prefix.start + prefix.length - 1 : start + previous);
    writer.targets.push(id);
  });
}
