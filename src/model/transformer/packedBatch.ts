/**
 * Packs sequences of different lengths into one batch without padding, in which a beginning that
 * several sequences of a group share is computed once.
 */

/** The input of the transformer: N tokens, S segments, T predictions, M targets. */
export interface PackedBatch {
  /** (N) token ids. */
  readonly ids: Int32Array;
  /** (N) the position of each token in its own sequence. */
  readonly positions: Int32Array;
  /**
   * (S, 4) start, length, parent, tokens before: a segment attends causally to itself, and to all
   * tokens of its parent and of the parents before. The first segments of sequences have the parent
   * -1.
   */
  readonly segments: Int32Array;
  /** (T) the row whose output predicts a token. */
  readonly rows: Int32Array;
  /** (T) the predicted token's id. */
  readonly targets: Int32Array;
  /** (M) the prediction of each target: sequences with the same beginning share predictions. */
  readonly places: Int32Array;
  /**
   * (T, vocabulary) for each prediction, 1 for the tokens that could be chosen; the others have
   * probability 0. Absent if all tokens could be.
   */
  readonly allowed?: readonly Uint8Array[];
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
  /**
   * For each token that is a target, 1 for each token of the vocabulary that could be chosen. All
   * branches of a batch have it, or none.
   */
  readonly allowed?: readonly (Uint8Array | undefined)[];
}

/** Packs groups. Targets are in the order of groups, then branches, then tokens. */
export function packGroups(groups: readonly PackedGroup[]): PackedBatch {
  const writer: Writer = {
    ids: [],
    positions: [],
    segments: [],
    rows: [],
    targets: [],
    places: [],
    allowed: [],
  };
  for (const group of groups) packGroup(writer, group);
  return {
    ids: Int32Array.from(writer.ids),
    positions: Int32Array.from(writer.positions),
    segments: Int32Array.from(writer.segments),
    rows: Int32Array.from(writer.rows),
    targets: Int32Array.from(writer.targets),
    places: Int32Array.from(writer.places),
    ...(writer.allowed.length > 0 ? { allowed: writer.allowed } : {}),
  };
}

type Writer = { [Key in Exclude<keyof PackedBatch, "allowed">]: number[] } & {
  readonly allowed: Uint8Array[];
};

/** A token of one or more sequences that are equal up to it. */
interface Node {
  readonly id: number;
  /** The index of its prediction, if the token is a target. */
  prediction: number;
  readonly isTarget: boolean;
  readonly allowed: Uint8Array | undefined;
  readonly children: Node[];
}

function packGroup(writer: Writer, { prefix, branches }: PackedGroup): void {
  const root: Node = {
    id: -1,
    isTarget: false,
    allowed: undefined,
    prediction: -1,
    children: [],
  };
  const start = prefix.reduce((node, id) => findOrAddChild(node, id, false), root);
  const paths = branches.map(({ ids, mask, allowed }) => {
    if (ids.length !== mask.length)
      throw new Error(`a branch of ${ids.length} tokens has a mask of ${mask.length}`);
    let node = start;
    return ids.map((id, i) => (node = findOrAddChild(node, id, Boolean(mask[i]), allowed?.[i])));
  });
  for (const child of root.children) if (child.isTarget) throw createUnpredictableError();
  for (const child of root.children) packTree(writer, child, { segment: -1, before: 0 });
  for (const path of paths)
    for (const it of path) if (it.isTarget) writer.places.push(it.prediction);
}

const createUnpredictableError = () =>
  new Error("the first token of a sequence has nothing before it that predicts it");

function findOrAddChild(node: Node, id: number, isTarget: boolean, allowed?: Uint8Array): Node {
  const found = node.children.find(
    it => it.id === id && it.isTarget === isTarget && isSameMask(it.allowed, allowed),
  );
  if (found) return found;
  const child: Node = { id, isTarget, allowed, prediction: -1, children: [] };
  node.children.push(child);
  return child;
}

const isSameMask = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0);

/**
 * Writes the tokens from a node to the next one at which sequences part as one segment, then what
 * follows. The last token of a sequence predicts nothing, so it is not part of the input.
 */
function packTree(
  writer: Writer,
  first: Node,
  parent: { readonly segment: number; readonly before: number },
): void {
  const start = writer.ids.length;
  let node = first;
  for (;;) {
    if (node.children.length === 0) break;
    const row = writer.ids.length;
    writer.ids.push(node.id);
    writer.positions.push(parent.before + row - start);
    for (const child of node.children) {
      if (!child.isTarget) continue;
      child.prediction = writer.targets.length;
      writer.rows.push(row);
      writer.targets.push(child.id);
      if (child.allowed) writer.allowed.push(child.allowed);
    }
    if (node.children.length > 1) break;
    node = node.children[0]!;
  }
  const length = writer.ids.length - start;
  if (length === 0) return;
  const segment = writer.segments.length / 4;
  writer.segments.push(start, length, parent.segment, parent.before);
  if (node.children.length > 1)
    for (const child of node.children)
      packTree(writer, child, { segment, before: parent.before + length });
}
