/**
 * Takes texts of several lines apart: what lists, tables and headers in them name may be what other
 * tools take.
 */

/** A part of a text, and how it stands there: `[FILE]` before it, or `Commit` as its name. */
interface TextPart {
  readonly form: string;
  readonly text: string;
}

const maxLines = 200;

const bullet = /^(?:[-*•+]|\d+[.)])\s+/;
const mark = /^(\[[^\]]{1,20}\])\s+/;
const header = /^([\p{L}][\w -]{0,30}):\s+(.+)$/u;

/** The parts of a text of several lines; none of another text. */
export function listTextParts(text: string): readonly TextPart[] {
  const lines = text.split("\n", maxLines).filter(it => it.trim() !== "");
  if (lines.length < 2 && !text.includes("\n")) return [];
  // an item without a bullet may be one of a list whose chosen items have one
  const isList = lines.some(it => bullet.test(it.trim()));
  return lines.flatMap((it): TextPart[] => {
    const line = it.trim();
    const [marked, form] = mark.exec(line) ?? [];
    if (marked !== undefined) return [{ form: form!, text: readColumn(line.slice(marked.length)) }];
    const [, name, value] = header.exec(line) ?? [];
    if (name !== undefined) return [{ form: name, text: readColumn(unquote(value!)) }];
    return isList
      ? [{ form: "items", text: readColumn(line.replace(bullet, "")) }]
      : [{ form: "lines", text: readColumn(line) }];
  });
}

/** What stands before the next column of a table. */
const readColumn = (text: string): string => text.split(/\s{2,}|\t/, 1)[0]!.trim();

const unquote = (text: string): string => /^(['"`])(.*)\1$/s.exec(text.trim())?.[2] ?? text.trim();
