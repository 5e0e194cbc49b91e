/** Reads on where a list is cut and the user wants all of it: for a count, a choice or all rows. */
import { isCut, countRows } from "../../../environment/listTotals.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../environment/json.ts";
import type { Intent } from "./intent.ts";

/** Words by which a user asks for some of the rows only: "my latest orders", "what comes next". */
const partWords =
  /\b(last(?! (week|month|year|night|quarter))|latest|lately|recent|recently|newest|next(?! (week|month|year))|first|half|nearest|slowest|a few|some|recommend|suggest)\b/i;

/** Whether a request is about a whole list: it names neither a number of rows nor a part of it. */
export const asksForAll = ({ tool, template, arguments: args, firstPage }: Intent): boolean =>
  tool.effect === "read" &&
  (firstPage !== undefined || !Object.hasOwn(args, "limit")) &&
  !partWords.test(template);

/** The request with the largest limit, if its result is a list that is cut; undefined otherwise. */
export function readOn(intent: Intent, result: Json): Intent | undefined {
  if (!isCut(intent.tool.outputSchema, result) || !asksForAll(intent)) return undefined;
  const { arguments: args, tool } = intent;
  const { limit } = (tool.inputSchema["properties"] ?? {}) as JsonObject;
  const largest = isJsonObject(limit) ? limit["maximum"] : undefined;
  return typeof largest === "number"
    ? { ...intent, arguments: { ...args, limit: largest }, firstPage: args }
    : undefined;
}

/** How many rows there are, with those that are left out; `rows` are those of the first list. */
export function countAllRows({ tool }: Pick<Intent, "tool">, value: Json, rows: number): number {
  const counted = countRows(tool.outputSchema, value);
  return counted ? rows + counted.total - counted.shown : rows;
}
