/** Finds the arguments of a write that are free text, and says how attempts at it are compared. */
import { isJsonObject, type Json } from "../../environment/json.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";
import { normalizeText } from "../../trajectory/normalizeText.ts";
import type { GoalCall } from "../../trajectory/task.ts";
import { removeNull } from "../../environment/schemaKeywords.ts";

/** Words of fewer letters, unless they have a digit, say little of what a text is about. */
const minWordLength = 3;

/** What was said and shown before a call. */
export interface TextSources {
  /** All that the user said. */
  readonly userText: string;
  readonly resultTexts: ReadonlySet<string>;
}

/**
 * The goal call with its free texts. What the user dictated is compared loosely, and what was
 * copied from a result must occur as it is. Of what the teacher composed, the words that the user
 * said must occur.
 */
export function markFreeTexts(
  call: GoalCall,
  tool: Tool,
  { userText, resultTexts }: TextSources,
): GoalCall {
  const said = ` ${normalizeText(userText)} `;
  const loose: string[] = [];
  const words: Record<string, string[]> = {};
  const mask: string[] = [];
  for (const [key, value] of Object.entries(call.arguments)) {
    if (!isFreeText(tool, key, value)) continue;
    const text = normalizeText(value);
    if (text === "") continue;
    if (said.includes(` ${text} `)) loose.push(key);
    else if (resultTexts.has(value)) words[key] = [value];
    else {
      const own = listContentWords(text).filter(it => said.includes(` ${it} `));
      if (own.length > 0) words[key] = own;
      else mask.push(key);
    }
  }
  return {
    ...call,
    ...(mask.length > 0 ? { mask } : {}),
    ...(loose.length > 0 ? { loose } : {}),
    ...(Object.keys(words).length > 0 ? { words } : {}),
  };
}

/** Keywords of arguments whose values mean something to the server. */
const exactKeywords = ["enum", "const", "format", "x-entity"];

/** The pattern of texts that are not blank. */
const notBlank = "\\S";

/** Whether an argument is a text of several words that nothing else depends on. */
function isFreeText({ inputSchema }: Tool, key: string, value: Json): value is string {
  const properties = inputSchema["properties"];
  const published = isJsonObject(properties) ? properties[key] : undefined;
  if (typeof value !== "string" || !value.includes(" ") || !isJsonObject(published)) return false;
  const schema: JsonSchema = removeNull(published);
  return (
    schema["type"] === "string" &&
    (schema["pattern"] ?? notBlank) === notBlank &&
    exactKeywords.every(it => schema[it] === undefined)
  );
}

const listContentWords = (text: string): string[] => [
  ...new Set(text.split(" ").filter(it => it.length >= minWordLength || /\d/.test(it))),
];
