/**
 * Reads the elements of a list in a JSON document that other software wrote. An element that is not
 * JSON is left out, and of a document that was cut off, the elements before the cut are read.
 */
import { parseExactJson } from "./exactJson.ts";
import { findNodeAtLocation, parseTree, type Node, type ParseError } from "jsonc-parser";
import { UserError } from "../userError.ts";
import { withReadErrors } from "./fileErrors.ts";
import { describeTooDeep } from "./jsonDepth.ts";
import { formatDamage, isCutOff, tornReason, type SkippedLine } from "./jsonLines.ts";
import { replaceNonFinite, type OnReplaced } from "./pythonJson.ts";
import { maxLogBytes, readTextFile } from "./textFiles.ts";

interface JsonElements {
  /** In their order, with the lines that they begin on. */
  readonly elements: readonly { readonly json: unknown; readonly number: number }[];
  readonly skipped: readonly SkippedLine[];
}

/** Throws a `UserError` for a document that is nested too deeply: the parser is recursive. */
function parseDocument(file: string, text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true });
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
 * object without that key is the only element.
 */
export function readJsonElements(
  file: string,
  key: string | undefined,
  onReplaced: OnReplaced,
): JsonElements {
  const read = withReadErrors(file, () => readTextFile(file, maxLogBytes));
  const { text, count } = replaceNonFinite(read.replace(/^\uFEFF/, ""));
  if (count > 0) onReplaced(count);
  const errors: ParseError[] = [];
  const root = parseDocument(file, text, errors);
  const nodes = root ? (findList(root, key)?.children ?? [root]) : [];
  const getLine = createLineCounter(text);
  const elements: { readonly json: unknown; readonly number: number }[] = [];
  const skipped: SkippedLine[] = [];
  for (const [i, { offset, length }] of nodes.entries()) {
    const line = getLine(offset);
    const end = offset + length;
    try {
      elements.push({ json: parseExactJson(text.slice(offset, end)), number: line });
    } catch (error) {
      const isLast = i === nodes.length - 1;
      const reason =
        isLast && isCutOff(text.slice(offset))
          ? tornReason
          : formatDamage(error, getLine(end) - line);
      skipped.push({ line, reason });
    }
  }
  // outside of the elements, such as an end that is missing
  if (errors[0] && skipped.length === 0)
    skipped.push(
      isCutOff(text)
        ? { line: getLine(text.length), reason: tornReason }
        : { line: createLineCounter(text)(errors[0].offset), reason: "is not JSON after its rows" },
    );
  return { elements, skipped };
}

function findList(root: Node, key: string | undefined): Node | undefined {
  if (root.type === "array") return root;
  const node = key === undefined ? undefined : findNodeAtLocation(root, [key]);
  return node?.type === "array" ? node : undefined;
}

/** Counts lines up to offsets that grow. */
function createLineCounter(text: string): (offset: number) => number {
  let line = 1;
  let next = text.indexOf("\n");
  return offset => {
    for (; next >= 0 && next < offset; line++) next = text.indexOf("\n", next + 1);
    return line;
  };
}
