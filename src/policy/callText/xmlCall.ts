/**
 * Calls in the XML syntax of Qwen3-Coder, Qwen3.5 and Nemotron 3:
 *
 *     <function=send_mail>
 *     <parameter=to>
 *     ann@example.com
 *     </parameter>
 *     </function>
 *
 * All values are texts, which only the schema of the tool tells from numbers or lists.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Call } from "../../environment/outcome.ts";
import { parseCallArguments } from "../../storage/exactJson.ts";
import type { Finder } from "./finder.ts";
import { skipSpace, type JsonFault } from "../../storage/jsonScan.ts";

export const functionTag = "<function=";

interface XmlCall {
  readonly end?: number;
  readonly call?: Call;
  readonly fault?: JsonFault;
}

const functionName = /<function=([^<>\s]+)\s*>/y;
const parameterName = /<parameter=([^<>\s]+)\s*>/y;
const functionEnd = "</function>";
/** The end of a value, which may have the tag in its text as well. */
export const valueEnd = /<\/parameter>(?=[ \t\r\n]*<(?:parameter=|\/function>))/g;
/** What a value has in it if its own end is missing. */
export const otherEnd = /<\/function>[ \t\r\n]*<\/tool_call>|\n<parameter=/g;

interface XmlText {
  readonly text: string;
  readonly valueEnds: Finder;
  readonly otherEnds: Finder;
  readonly findSchema: (tool: string) => JsonObject | undefined;
}

/** Reads the call that begins at the index. */
export function readXmlCall(
  { text, valueEnds, otherEnds, findSchema }: XmlText,
  from: number,
): XmlCall {
  functionName.lastIndex = from;
  const name = functionName.exec(text)?.[1];
  if (name === undefined) return { fault: { what: "no name in <function=…>", at: from } };
  const schema = findSchema(name);
  const properties = isJsonObject(schema?.["properties"]) ? schema["properties"] : {};
  const args = new Map<string, string>();
  let at = skipSpace(text, functionName.lastIndex);
  for (;;) {
    if (text.startsWith(functionEnd, at))
      return { end: at + functionEnd.length, call: { name, arguments: joinArguments(args) } };
    parameterName.lastIndex = at;
    const key = parameterName.exec(text)?.[1];
    if (key === undefined) return { fault: { what: "no <parameter=…> or </function>", at } };
    const start = parameterName.lastIndex;
    const end = valueEnds.next(start);
    if (end === undefined || (otherEnds.next(start) ?? end) < end)
      return { fault: { what: `no </parameter> after <parameter=${key}>`, at } };
    const value = text
      .slice(start, end)
      .replace(/^\r?\n/, "")
      .replace(/\r?\n$/, "");
    args.set(key, readValue(value, properties[key]));
    at = skipSpace(text, end + "</parameter>".length);
  }
}

const pythonLiterals: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  None: "null",
};

/** The arguments from the JSON of each. */
export const joinArguments = (values: ReadonlyMap<string, string>): Json => {
  const members = Array.from(values, ([key, it]) => `${JSON.stringify(key)}:${it}`);
  return parseCallArguments(`{${members.join(",")}}`) as Json;
};

/** The JSON of a value that the schema allows, or else of the text, which the tool refuses. */
function readValue(text: string, schema: Json | undefined): string {
  const types = listTypes(schema);
  const plain = pythonLiterals[text.trim()] ?? text.trim();
  let value: Json;
  try {
    value = JSON.parse(plain) as Json;
  } catch {
    return JSON.stringify(text);
  }
  const fits = types.length === 0 || types.includes(getType(value));
  return fits && typeof value !== "string" ? plain : JSON.stringify(text);
}

/** The JSON types that a schema allows; none if it does not say. An integer is a number. */
function listTypes(schema: Json | undefined): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const branches = [schema["anyOf"], schema["oneOf"]].find(it => Array.isArray(it));
  if (branches) return (branches as readonly Json[]).flatMap(listTypes);
  const { type, enum: values } = schema;
  if (type !== undefined)
    return [type].flat().map(it => (it === "integer" ? "number" : (it as string)));
  if (Array.isArray(values)) return (values as readonly Json[]).map(getType);
  return schema["const"] === undefined ? [] : [getType(schema["const"])];
}

const getType = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
