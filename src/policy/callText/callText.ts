/**
 * Reads the calls in the text of a model's message, in the syntaxes of the model families. It is
 * the same for a model in process, for rollouts of other programs and behind an endpoint, and the
 * Python package has its twin: the same text gives the same calls everywhere.
 *
 * Thinking is what comes before `</think>` and before the first call. A call whose value is
 * complete is made, with or without its closing tag; what comes between and after calls is the text
 * of the message. What begins as a call and cannot be read becomes a call with an empty name, whose
 * arguments are its text and the reason.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Call } from "../../environment/outcome.ts";
import { findLongNumber, parseCallJson } from "../../storage/exactJson.ts";
import { replaceTooDeep } from "../../storage/jsonDepth.ts";
import { Finder } from "./finder.ts";
import { describeJsonFault, scanJson, skipSpace, type JsonFault } from "../../storage/jsonScan.ts";
import { functionTag, joinArguments, otherEnd, readXmlCall, valueEnd } from "./xmlCall.ts";

/**
 * - `hermes`: a JSON object between `<tool_call>` tags for each call (Qwen, Granite 4)
 * - `xml`: `<function=…>` with a `<parameter=…>` for each argument, between the same tags
 *   (Qwen3-Coder, Qwen3.5, Nemotron 3)
 * - `granite`: a JSON list of all calls after `<|tool_call|>` (Granite 3)
 * - `llama`: the whole message is JSON objects, or follows `<|python_tag|>`
 */
export type CallSyntax = "hermes" | "xml" | "granite" | "llama";

/** What separates the calls of one message, where each call is a text of its own. */
export const callSeparators: Readonly<Partial<Record<CallSyntax, string>>> = {
  hermes: "\n",
  xml: "\n",
  llama: "; ",
};

const openTag = "<tool_call>";
const closeTag = "</tool_call>";
const pythonTag = "<|python_tag|>";
const graniteTag = "<|tool_call|>";

/** The syntax of a call that a template rendered; undefined if it is not known. */
export function detectCallSyntax(rendered: string): CallSyntax | undefined {
  if (rendered.includes(openTag)) return rendered.includes(functionTag) ? "xml" : "hermes";
  if (rendered.includes(graniteTag)) return "granite";
  return /^\s*(\{|<\|python_tag\|>)/.test(rendered) ? "llama" : undefined;
}

/** What a tool's name and schema tell about calls. */
export interface CallableTool {
  readonly name: string;
  readonly inputSchema: JsonObject;
}

interface ReadOptions {
  /** By default, that of the first tag in the text; `none` for a text whose calls are not read. */
  readonly syntax?: CallSyntax | "none" | undefined;
  /** Without them, values in XML are read as JSON where they are JSON. */
  readonly tools?: Iterable<CallableTool> | undefined;
}

interface MessageText {
  readonly text: string;
  readonly calls: readonly Call[];
  /** Where each call begins, in characters. */
  readonly starts: readonly number[];
}

/** Reads the text of a message, without the token that ended it. */
export function readMessageText(text: string, { syntax, tools }: ReadOptions = {}): MessageText {
  const reader = createReader(text, syntax ?? findSyntax(text) ?? "none", [...(tools ?? [])]);
  const from = skipThinking(text, reader);
  if (from === undefined) return { text: "", calls: [], starts: [] };
  const found: FoundCall[] = [];
  const texts: string[] = [];
  let at = from;
  for (let start = reader.next(at); start !== undefined; start = reader.next(at)) {
    texts.push(text.slice(at, start));
    const block = reader.read(start);
    for (const it of block.calls) found.push(it);
    at = block.end;
  }
  texts.push(text.slice(at));
  // a thought without an end is no text for the user
  if (texts[0]!.trimStart().startsWith(thinkTag)) texts.shift();
  return {
    text: texts
      .map(it => it.trim())
      .filter(it => it !== "")
      .join("\n"),
    calls: found.map(it => it.call),
    starts: found.map(it => it.start),
  };
}

const firstTag = /<tool_call>|<\|tool_call\|>|<\|python_tag\|>/;

function findSyntax(text: string): CallSyntax | undefined {
  const tag = firstTag.exec(text)?.[0];
  return tag === undefined ? undefined : detectCallSyntax(tag);
}

interface FoundCall {
  readonly call: Call;
  readonly start: number;
}

/** Calls that stand together, up to the end of their tag. */
interface Block {
  readonly calls: readonly FoundCall[];
  readonly end: number;
  /** Whether its values end, so that tags in their texts are known to be no tags. */
  readonly isWhole: boolean;
}

interface SyntaxReader {
  /** Where the next block begins, from an index on. */
  next(from: number): number | undefined;
  /** Whether what begins there looks like a call. */
  isCall(start: number): boolean;
  read(start: number): Block;
}

function createReader(
  text: string,
  syntax: CallSyntax | "none",
  tools: readonly CallableTool[],
): SyntaxReader {
  switch (syntax) {
    case "hermes":
    case "xml":
      return createTagReader(text, syntax, tools);
    case "granite":
      return createGraniteReader(text);
    case "llama":
      return createLlamaReader(text, tools);
    case "none":
      return { next: () => undefined, isCall: () => false, read: end => emptyBlock(end) };
  }
}

const emptyBlock = (end: number): Block => ({ calls: [], end, isWhole: true });

const thinkTag = "<think>";
const thinkEndTag = "</think>";

/**
 * Where the message begins after its thinking, which may have begun in the prompt; undefined if
 * there is nothing else. A call in a thought is none, unless the thought has no end.
 */
function skipThinking(text: string, reader: SyntaxReader): number | undefined {
  const ends = new Finder(text, /<\/think>/g);
  let from = 0;
  for (let isFirst = true; ; isFirst = false) {
    const start = skipSpace(text, from);
    const isThought = text.startsWith(thinkTag, start);
    if (!isThought && !isFirst) return from;
    const end = findThoughtEnd(start, isThought);
    if (end === undefined) return isThought && reader.next(start) === undefined ? undefined : from;
    from = end;
  }

  function findThoughtEnd(start: number, isThought: boolean): number | undefined {
    for (let at = start; ;) {
      const end = ends.next(at);
      if (end === undefined) return undefined;
      const call = reader.next(at);
      if (call === undefined || call > end) return end + thinkEndTag.length;
      if (!isThought && reader.isCall(call)) return undefined;
      const block = reader.read(call);
      at = block.isWhole ? block.end : call + 1;
    }
  }
}

/** A block that cannot be read, as a call. */
export const createUnparsedCall = (text: string, reason: string): Call => ({
  name: "",
  arguments: { unparsed: text, reason },
});

/** A part of a text that is no call. The reason counts characters from its beginning. */
function createFaultyCall(text: string, { what, at }: JsonFault, start: number): Call {
  const own = text.slice(start);
  return createUnparsedCall(own.trimEnd(), describeJsonFault(own, { what, at: at - start }));
}

// Hermes and XML

function createTagReader(
  text: string,
  syntax: "hermes" | "xml",
  tools: readonly CallableTool[],
): SyntaxReader {
  // models that write XML leave the first tag out
  const opens = new Finder(text, syntax === "xml" ? /<tool_call>|<function=/g : /<tool_call>/g);
  const tags = new Finder(text, /<\/?tool_call>/g);
  const schemas = new Map(tools.map(it => [it.name, it.inputSchema]));
  const xml = {
    text,
    valueEnds: new Finder(text, valueEnd),
    otherEnds: new Finder(text, otherEnd),
    findSchema: (name: string) => schemas.get(name),
  };
  const findBody = (start: number) =>
    skipSpace(text, text.startsWith(openTag, start) ? start + openTag.length : start);
  const isXml = (body: number) => text.startsWith(functionTag, body);
  const readBody = (body: number) =>
    isXml(body) ? readXmlCall(xml, body) : readJsonCall(text, body);

  return {
    next: from => opens.next(from),
    isCall: start => isXml(findBody(start)) || text[findBody(start)] === "{",
    read(start) {
      const body = findBody(start);
      const { call, end, fault } = readBody(body);
      const isWhole = end !== undefined;
      const at = skipSpace(text, end ?? fault!.at);
      const tag = tags.next(at) ?? text.length;
      const isClosed = text.startsWith(closeTag, tag);
      const blockEnd = isClosed ? tag + closeTag.length : tag;
      if (call && tag !== at && isClosed) {
        const more = { what: "more text after the call", at };
        const faulty = createFaultyCall(text.slice(0, tag), more, body);
        return { calls: [{ call: faulty, start }], end: blockEnd, isWhole };
      }
      if (call) return { calls: [{ call, start }], end: isClosed ? blockEnd : end!, isWhole };
      const faulty = createFaultyCall(text.slice(0, tag), fault!, body);
      return { calls: [{ call: faulty, start }], end: blockEnd, isWhole };
    },
  };
}

interface ReadCall {
  readonly call?: Call;
  /** Where the value ends, even if it is no call. */
  readonly end?: number;
  readonly fault?: JsonFault;
}

/** Reads the JSON object that begins at an index as a call. */
function readJsonCall(text: string, from: number): ReadCall {
  if (text[from] !== "{") return { fault: { what: "no JSON object", at: from } };
  const { end, fault } = scanJson(text, from);
  if (end === undefined || fault) return { fault: fault!, ...(end === undefined ? {} : { end }) };
  const call = readCall(parseCallJson(text.slice(from, end), ["arguments", "parameters"]) as Json);
  return call
    ? { call, end }
    : { end, fault: { what: "no name of a tool in the object", at: from } };
}

/** Models of some families name the arguments `parameters`, or write them as a text of JSON. */
function readCall(value: Json): Call | undefined {
  const call = isJsonObject(value) && isJsonObject(value["function"]) ? value["function"] : value;
  if (!isJsonObject(call)) return undefined;
  const { name } = call;
  if (typeof name !== "string" || name === "") return undefined;
  return { name, arguments: parseArguments(call["arguments"] ?? call["parameters"]) };
}

/**
 * The arguments of a call, which models and endpoints write as JSON, or as a text of JSON once or
 * twice. Nothing stands for none. Text that is no such JSON is kept as it is, and what is nested
 * too deeply is not: the session refuses both.
 */
export function parseArguments(given: unknown): Json {
  let value = (given ?? {}) as Json;
  for (let i = 0; i < 2 && typeof value === "string"; i++) {
    if (value.trim() === "") return {};
    try {
      if (findLongNumber(value) !== undefined) return value;
      value = (JSON.parse(value) as Json) ?? {};
    } catch {
      return value; // the model's error
    }
  }
  return replaceTooDeep(value);
}

// Granite

function createGraniteReader(text: string): SyntaxReader {
  const opens = new Finder(text, /<\|tool_call\|>/g);
  const findBody = (start: number) => skipSpace(text, start + graniteTag.length);
  return {
    next: from => opens.next(from),
    isCall: start => text[findBody(start)] === "[",
    read(start) {
      const body = findBody(start);
      const fail = (fault: JsonFault, stop?: number): Block => {
        const end = stop ?? opens.next(fault.at) ?? text.length;
        const call = createFaultyCall(text.slice(0, end), fault, body);
        return { calls: [{ call, start: body }], end, isWhole: stop !== undefined };
      };
      if (text[body] !== "[") return fail({ what: "no JSON list of calls", at: body });
      const { end, fault } = scanJson(text, body);
      if (end === undefined || fault) return fail(fault!, end);
      const calls: FoundCall[] = [];
      for (let at = skipSpace(text, body + 1); text[at] !== "]";) {
        const elementEnd = scanJson(text, at).end!;
        const element = readJsonCall(text, at);
        const call =
          element.call ?? createFaultyCall(text.slice(0, elementEnd), element.fault!, at);
        calls.push({ call, start: at });
        at = skipSpace(text, elementEnd);
        if (text[at] === ",") at = skipSpace(text, at + 1);
      }
      if (calls.length === 0) return fail({ what: "an empty list of calls", at: body }, end);
      return { calls, end, isWhole: true };
    },
  };
}

// Llama

function createLlamaReader(text: string, tools: readonly CallableTool[]): SyntaxReader {
  const opens = new Finder(text, /<\|python_tag\|>/g);
  const menu = new Set(tools.map(it => it.name));
  return {
    next(from) {
      const start = skipSpace(text, from);
      return text[start] === "{" && isCallText(start) ? start : opens.next(from);
    },
    isCall: () => true,
    read(start) {
      const hasTag = text.startsWith(pythonTag, start);
      const body = hasTag ? skipSpace(text, start + pythonTag.length) : start;
      const python = hasTag && text[body] !== "{" ? readPythonCall(text, body) : undefined;
      if (python) {
        const call = python.call ?? createFaultyCall(text, python.fault!, body);
        return { calls: [{ call, start: body }], end: python.end ?? text.length, isWhole: true };
      }
      const calls: FoundCall[] = [];
      let at = body;
      for (let from = body; text[from] === "{"; from = skipSeparators(text, at)) {
        const { call, end, fault } = readJsonCall(text, from);
        const stop = end ?? text.length;
        calls.push({
          call: call ?? createFaultyCall(text.slice(0, stop), fault!, from),
          start: from,
        });
        at = stop;
      }
      return { calls, end: at, isWhole: true };
    },
  };

  /** Whether an object is a call, and no answer in JSON. What is no JSON was meant as a call. */
  function isCallText(start: number): boolean {
    const { end, fault } = scanJson(text, start);
    if (end === undefined || fault) return true;
    const value = JSON.parse(text.slice(start, end)) as JsonObject;
    const { name } = value;
    return (
      ["arguments", "parameters", "function"].some(it => it in value) ||
      (typeof name === "string" &&
        (menu.size === 0 ? Object.keys(value).length === 1 : menu.has(name)))
    );
  }
}

const separators = /[ \t\n\r;,]*/y;

function skipSeparators(text: string, from: number): number {
  separators.lastIndex = from;
  separators.test(text);
  return separators.lastIndex;
}

const pythonName = /([\w.-]+)\.call\(/y;
const pythonKey = /\s*(\w+)\s*=\s*/y;
const pythonLiteral = /True|False|None/y;
const pythonLiterals = { True: "true", False: "false", None: "null" };

/** Reads a call such as `search.call(query="rain", count=3)`, with values in JSON. */
function readPythonCall(text: string, from: number): ReadCall {
  pythonName.lastIndex = from;
  const name = pythonName.exec(text)?.[1];
  if (name === undefined) return { fault: { what: "no JSON object", at: from } };
  const args = new Map<string, string>();
  for (let at = skipSpace(text, pythonName.lastIndex); ;) {
    if (text[at] === ")") return { end: at + 1, call: { name, arguments: joinArguments(args) } };
    pythonKey.lastIndex = at;
    const key = pythonKey.exec(text)?.[1];
    if (key === undefined) return { fault: { what: "no name of an argument", at } };
    const start = pythonKey.lastIndex;
    pythonLiteral.lastIndex = start;
    const word = pythonLiteral.exec(text)?.[0] as keyof typeof pythonLiterals | undefined;
    const { end, fault } = word ? { end: start + word.length } : scanJson(text, start);
    if (end === undefined || fault) return { fault: fault! };
    args.set(key, word ? pythonLiterals[word] : text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
    else if (text[at] !== ")") return { fault: { what: 'no "," or ")" after an argument', at } };
  }
}
