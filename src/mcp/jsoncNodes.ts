/** Parses JSON with comments into nodes, which know where in the text they are. */
import { parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";
import { UserError } from "../userError.ts";

/** The root of a file, or undefined if it is empty. */
export function parseFile(text: string, file: string): Node | undefined {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    // a byte order mark takes the place of a space
    root = parseTree(text.replace(/^\ufeff/, " "), errors, {
      allowTrailingComma: true,
      allowEmptyContent: true,
    });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UserError(`${file} is nested too deeply`, "correct the file", { cause });
  }
  const [error] = errors;
  if (!error) return root;
  const reason = printParseErrorCode(error.error).replaceAll(/\B[A-Z]/g, it => ` ${it}`);
  throw new UserError(
    `${file}:${createLineFinder(text)(error.offset)} is not JSON (${reason.toLowerCase()})`,
    "correct the file",
  );
}

export const listProperties = ({ children = [] }: Node): { name: string; node: Node }[] =>
  children.flatMap(({ children: [key, value] = [] }) =>
    key && value ? [{ name: String(key.value), node: value }] : [],
  );

/** Finds the lines, from 1, of offsets that are asked for in ascending order. */
export function createLineFinder(text: string): (offset: number) => number {
  let line = 1;
  let position = 0;
  return offset => {
    for (; position < offset; position++) if (text[position] === "\n") line++;
    return line;
  };
}
