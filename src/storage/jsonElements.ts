/**
 * Reads the elements of a list in a JSON document. Of a document that was cut off, the elements
 * before the cut are read.
 */
import { findNodeAtLocation, parseTree, type Node } from "jsonc-parser";
import { UserError } from "../userError.ts";
import { withReadErrors } from "./fileErrors.ts";
import { describeTooDeep } from "./jsonDepth.ts";
import { maxLogBytes, readTextFile } from "./readTextFile.ts";

export interface JsonElements {
  /** In their order, with the lines that they begin on. */
  readonly elements: readonly { readonly json: unknown; readonly number: number }[];
  /** The line of the element that was cut off, or of the document's end if that is missing. */
  readonly tornLine?: number;
}

/** Throws a `UserError` for a document that is nested too deeply: the parser is recursive. */
function parseDocument(file: string, text: string, errors: object[]): Node | undefined {
  try {
    return parseTree(text, errors as never[], { disallowComments: true });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UserError(
      `${file} is ${describeTooDeep("document")}`,
      "correct the file, or write it again",
      { cause },
    );
  }
}

/**
 * The elements of a file's list: the document itself or, if it is an object, its value of `key`. An
 * object without that key is the only element. Throws a `UserError` where it is not JSON before its
 * end.
 */
export function readJsonElements(file: string, key?: string): JsonElements {
  const text = withReadErrors(file, () => readTextFile(file, maxLogBytes));
  const errors: { readonly offset: number }[] = [];
  const root = parseDocument(file, text, errors);
  const getLine = createLineCounter(text);
  if (!root) return { elements: [], tornLine: 1 };
  const list = findList(root, key);
  const nodes = list ? (list.children ?? []) : [root];
  const elements: { readonly json: unknown; readonly number: number }[] = [];
  for (const [i, node] of nodes.entries()) {
    const number = getLine(node.offset);
    try {
      elements.push({
        json: JSON.parse(text.slice(node.offset, node.offset + node.length)),
        number,
      });
    } catch (cause) {
      if (i === nodes.length - 1) return { elements, tornLine: number };
      throw new UserError(
        `${file}:${number} is not JSON (${(cause as Error).message})`,
        "correct the file, or write it again",
        { cause },
      );
    }
  }
  return errors.length === 0 ? { elements } : { elements, tornLine: getLine(text.length) };
}

function findList(root: Node, key: string | undefined): Node | undefined {
  if (root.type === "array") return root;
  const node = key === undefined ? undefined : findNodeAtLocation(root, [key]);
  return node?.type === "array" ? node : undefined;
}

/** Counts lines up to offsets that grow. */
function createLineCounter(text: string): (offset: number) => number {
  let [line, at] = [1, 0];
  return offset => {
    for (;;) {
      const next = text.indexOf("\n", at);
      if (next < 0 || next >= offset) return line;
      line++;
      at = next + 1;
    }
  };
}
