/** Finds the position of a value in JSON text, even if the text is not valid. */
import {
  findNodeAtLocation,
  parseTree,
  type Node,
  type ParseError,
  type ParseOptions,
} from "jsonc-parser";

/** A part of a text, in UTF-16 code units; `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The range of the value at a path. For a value that is missing, the opening bracket of its nearest
 * ancestor. Broken text is read as far as possible.
 */
export function findRange(text: string, path: readonly PropertyKey[]): TextRange {
  const root = readJsonTree(text);
  if (root)
    for (let depth = path.length; depth >= 0; depth--) {
      const node = findNode(root, path.slice(0, depth));
      if (!node) continue;
      const { offset, length } = node;
      return { start: offset, end: offset + (depth === path.length ? Math.max(length, 1) : 1) };
    }
  return { start: 0, end: Math.min(1, text.length) };
}

/** The range of the key of the entry at a path; for an item of a list, that of the item. */
export function findKeyRange(text: string, path: readonly PropertyKey[]): TextRange {
  const root = readJsonTree(text);
  const property = root && findNode(root, path)?.parent;
  const key = property?.type === "property" ? property.children?.[0] : undefined;
  return key ? { start: key.offset, end: key.offset + key.length } : findRange(text, path);
}

/**
 * The range to mark for the value at a path: a record's or a list's is that of its key, so that a
 * mark stays on one line.
 */
export function findMarkedRange(
  text: string,
  path: readonly PropertyKey[],
  marksKey = false,
): TextRange {
  const range = findRange(text, path);
  return marksKey || /^[{[]./s.test(text.slice(range.start, range.end))
    ? findKeyRange(text, path)
    : range;
}

/** The line, from 1, of the value at a path or of its nearest ancestor. */
export const findLine = (text: string, path: readonly PropertyKey[]): number =>
  countLines(text, findRange(text, path).start);

/** The line, from 1, where a text stops being JSON; undefined where no such place is found. */
export function findSyntaxErrorLine(text: string): number | undefined {
  const errors: ParseError[] = [];
  readJsonTree(text, errors, { disallowComments: true });
  return errors[0] && countLines(text, errors[0].offset);
}

/**
 * The tree of a text, as far as it is JSON; undefined if it is empty, or is nested so deeply that
 * the parser, which is recursive, gives up.
 */
function readJsonTree(
  text: string,
  errors?: ParseError[],
  options?: ParseOptions,
): Node | undefined {
  try {
    return parseTree(text, errors, options);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const findNode = (root: Node, path: readonly PropertyKey[]): Node | undefined =>
  findNodeAtLocation(
    root,
    path.map(it => (typeof it === "symbol" ? String(it) : it)),
  );

const countLines = (text: string, offset: number): number =>
  text.slice(0, offset).split("\n").length;
