/**
 * Parses the calls in a message of a Hugging Face model, in the syntaxes of the model families. The
 * arguments are the JSON that the model wrote. A block that cannot be parsed becomes a call with an
 * empty name whose argument is its text, as with small students.
 */
import type { Call } from "../../environment/outcome.ts";
import { isJsonObject, type Json } from "../../environment/json.ts";
import { isTooDeep } from "../../storage/jsonDepth.ts";
import type { MessageContent } from "../chatFormat.ts";

/**
 * - `hermes`: a JSON object between `<tool_call>` tags for each call (Qwen, Granite 4)
 * - `granite`: a JSON list of all calls after `<|tool_call|>` (Granite 3)
 * - `llama`: the whole message is JSON objects, or follows `<|python_tag|>`
 */
export type CallSyntax = "hermes" | "granite" | "llama";

/** What separates the calls of one message, where each call is a text of its own. */
export const callSeparators: Readonly<Partial<Record<CallSyntax, string>>> = {
  hermes: "\n",
  llama: "; ",
};

const pythonTag = "<|python_tag|>";
const graniteTag = "<|tool_call|>";

/** The syntax of a call that a template rendered; undefined if it is not known. */
export function detectCallSyntax(rendered: string): CallSyntax | undefined {
  if (rendered.includes("<tool_call>")) return "hermes";
  if (rendered.includes(graniteTag)) return "granite";
  return /^\s*(\{|<\|python_tag\|>)/.test(rendered) ? "llama" : undefined;
}

/** Parses the text of a message, without the token that ended it. */
export function parseToolCalls(syntax: CallSyntax, message: string): MessageContent {
  const text = removeThinking(message).trim();
  switch (syntax) {
    case "hermes":
      return parseHermes(text);
    case "granite":
      return parseGranite(text);
    case "llama":
      return parseLlama(text);
  }
}

/** Where each call of a message begins, in characters. */
export function findCallStarts(syntax: CallSyntax, message: string): number[] {
  if (syntax === "hermes") return [...message.matchAll(/<tool_call>/g)].map(it => it.index);
  const start = syntax === "granite" ? message.indexOf(graniteTag) : findThoughtEnd(message);
  return start < 0 ? [] : findObjects(message, start).map(it => it.start);
}

const endOfThinking = "</think>";

/** Models that think do so before an end tag. What they think is for nobody else. */
const removeThinking = (text: string): string => text.slice(findThoughtEnd(text));

function findThoughtEnd(text: string): number {
  const end = text.lastIndexOf(endOfThinking);
  return end < 0 ? 0 : end + endOfThinking.length;
}

export const createUnparsedCall = (text: string): Call => ({
  name: "",
  arguments: { unparsed: text },
});

function parseHermes(text: string): MessageContent {
  const start = text.indexOf("<tool_call>");
  if (start < 0) return { text, calls: [] };
  const blocks = text.slice(start).split("<tool_call>").slice(1);
  return {
    text: text.slice(0, start).trim(),
    calls: blocks.map(block => {
      const body = block.trim();
      const isClosed = body.endsWith("</tool_call>");
      const call = isClosed ? parseCall(body.slice(0, -"</tool_call>".length)) : undefined;
      return call ?? createUnparsedCall(body);
    }),
  };
}

function parseGranite(text: string): MessageContent {
  const start = text.indexOf(graniteTag);
  if (start < 0) return { text, calls: [] };
  const body = text.slice(start + graniteTag.length).trim();
  const list = tryParseJson(body);
  return {
    text: text.slice(0, start).trim(),
    calls:
      Array.isArray(list) && list.length > 0
        ? (list as readonly Json[]).map(
            it => readCall(it) ?? createUnparsedCall(JSON.stringify(it)),
          )
        : [createUnparsedCall(body)],
  };
}

function parseLlama(text: string): MessageContent {
  const hasTag = text.startsWith(pythonTag);
  const body = hasTag ? text.slice(pythonTag.length).trim() : text;
  if (!hasTag && !body.startsWith("{")) return { text, calls: [] };
  const builtIn = parsePythonCall(body);
  if (builtIn) return { text: "", calls: [builtIn] };
  const objects = splitObjects(body);
  return {
    text: "",
    calls: objects
      ? objects.map(it => parseCall(it) ?? createUnparsedCall(it))
      : [createUnparsedCall(body)],
  };
}

const parseCall = (text: string): Call | undefined => readCall(tryParseJson(text.trim()));

/** Models of some families name the arguments `parameters`, or write them as a text of JSON. */
function readCall(value: Json | undefined): Call | undefined {
  const call = isJsonObject(value) && isJsonObject(value["function"]) ? value["function"] : value;
  if (!isJsonObject(call)) return undefined;
  const { name } = call;
  if (typeof name !== "string" || name === "") return undefined;
  const given = call["arguments"] ?? call["parameters"] ?? {};
  const parsed = typeof given === "string" ? tryParseJson(given) : undefined;
  return { name, arguments: isJsonObject(parsed) ? parsed : given };
}

/** A call such as `search.call(query="rain", count=3)`, with values in JSON. */
function parsePythonCall(text: string): Call | undefined {
  const match = /^([\w.-]+)\.call\((.*)\)$/s.exec(text);
  if (!match) return undefined;
  const args: Record<string, Json> = {};
  const pair = /\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|[-\w.]+|\[[^[\]]*\])\s*(?:,|$)/sy;
  while (pair.lastIndex < match[2]!.length) {
    const found = pair.exec(match[2]!);
    const value = found ? tryParseJson(toJsonLiteral(found[2]!)) : undefined;
    if (value === undefined) return undefined;
    args[found![1]!] = value;
  }
  return { name: match[1]!, arguments: args };
}

const toJsonLiteral = (text: string): string =>
  ({ True: "true", False: "false", None: "null" })[text] ?? text;

/** The JSON objects of a text, which semicolons, commas or space separate; else undefined. */
function splitObjects(text: string): string[] | undefined {
  const objects = findObjects(text);
  const gaps = [0, ...objects.map(it => it.end)].map((from, i) =>
    text.slice(from, objects[i]?.start),
  );
  const isSplit =
    objects.length > 0 &&
    objects.at(-1)!.end !== Infinity &&
    gaps.every(it => /^[\s;,]*$/.test(it));
  return isSplit ? objects.map(it => text.slice(it.start, it.end)) : undefined;
}

/** The outermost objects of a text from a position on. One that is not closed has no end. */
function findObjects(text: string, from = 0): { readonly start: number; readonly end: number }[] {
  const objects: { start: number; end: number }[] = [];
  let [depth, start, isString] = [0, 0, false];
  for (let i = from; i < text.length; i++) {
    const character = text[i]!;
    if (isString) {
      if (character === "\\") i++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "{" && depth++ === 0) start = i;
    else if (character === "}" && depth > 0 && --depth === 0) objects.push({ start, end: i + 1 });
  }
  return depth > 0 ? [...objects, { start, end: Infinity }] : objects;
}

function tryParseJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isTooDeep(value, "value") ? undefined : value;
  } catch {
    return undefined; // the caller keeps the text
  }
}
