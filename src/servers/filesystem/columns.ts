/** Columns of text files with separators. */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import { shorten } from "./pathFormat.ts";

export const separator = z
  .enum(["comma", "semicolon", "tab", "space"])
  .optional()
  .describe("What stands between columns, a comma if not given");
export const field = z.int().min(1).max(50);
export const separatorCharacters = { comma: ",", semicolon: ";", tab: "\t", space: " " } as const;

type Separator = keyof typeof separatorCharacters;

/** Refuses a file in which no line has that column. */
export function requireColumn(
  lines: readonly string[],
  nth: number,
  by: Separator,
  input: string,
): void {
  const n = lines.reduce((most, it) => Math.max(most, it.split(separatorCharacters[by]).length), 0);
  if (n < 2)
    refuse(
      "precondition_failed",
      `${shorten(input)} has no columns with a ${by} between them`,
      "choose another separator",
    );
  if (n < nth)
    refuse(
      "precondition_failed",
      `${shorten(input)} has ${n} columns, and no column ${nth}`,
      `choose at most ${n}`,
    );
}

export const getColumn = (line: string, nth: number, by: Separator) =>
  line.split(separatorCharacters[by])[nth - 1] ?? "";
