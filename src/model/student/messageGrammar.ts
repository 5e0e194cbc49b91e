/**
 * Constrained decoding: the tokens that can continue a message of the student. A message is text
 * for the user, or calls of offered tools, each with keys of its tool, values of their schemas and
 * every required key. Derived from the schemas of the menu; compactChat.ts parses every message
 * that it allows.
 */
import { getProperties, listRequired, toSchema } from "../../environment/schemaKeywords.ts";
import type { IdAliases } from "./idAliases.ts";
import {
  toBytes,
  LiteralTexts,
  listAlternatives,
  readJson,
  type WriteLiteral,
  type ReadEnd,
} from "./jsonPrefix.ts";
import { getTextTokens, type TextTokens, type TokenMask } from "../textTokens.ts";
import type { Mark, Tokenizer } from "./tokenizer.ts";
import { UserError } from "../../userError.ts";
import { type JsonSchema, type Tool, formatArgument, itemsOf, parseArgument } from "./valueText.ts";
import type { Call } from "../../environment/outcome.ts";
import { isJsonObject } from "../../environment/json.ts";
import { findTypeMismatch } from "../../environment/argumentChecks.ts";

export interface MessageGrammar {
  /** The tokens that can come next, as an array with one entry per token of the vocabulary. */
  computeMask(): TokenMask;
  /** Appends a token, which the mask must allow. */
  append(id: number): void;
}

export interface GrammarOptions {
  /** The tools that may be called. */
  readonly tools: readonly Tool[];
  readonly aliases: IdAliases;
  /** What the message is; either if it is absent. */
  readonly kind?: "calls" | "text" | undefined;
}

/** The grammar of a student's next message. Throws a `UserError` if it has to call and cannot. */
export const createMessageGrammar = (
  tokenizer: Tokenizer,
  options: GrammarOptions,
): MessageGrammar => new Message(tokenizer, options);

/** The longest schema, in characters, whose masks are kept for other conversations. */
const maxKeptSchema = 2_000;

/** A key of a tool. */
interface Key {
  readonly name: string;
  /** The key's own token; undefined if it is spelled after a mark. */
  readonly id: number | undefined;
  /** The bytes that spell it, up to the equals sign. */
  readonly spelling: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

type State =
  | { readonly part: "start" | "reply" }
  | { readonly part: "name"; readonly text: string }
  /** After a mark: the spelled key, the equals sign and the value. */
  | { readonly part: "spelled"; readonly text: string }
  | { readonly part: "value"; readonly key: Key; readonly text: string }
  /** After the token of a tool's name. */
  | { readonly part: "call" };

class Message implements MessageGrammar {
  readonly #tokenizer: Tokenizer;
  readonly #tokens: TextTokens;
  readonly #tools: ReadonlyMap<string, readonly Key[]>;
  /** The bytes of the tools' names that have no token. */
  readonly #spelledNames: LiteralTexts;
  readonly #aliases: IdAliases;
  readonly #firstMarks: readonly Mark[];
  readonly #grammars = new Map<Key, ValueGrammar>();
  #state: State = { part: "start" };
  /** The keys of the current call that have no value yet. */
  #unused: readonly Key[] = [];

  constructor(tokenizer: Tokenizer, { tools, aliases, kind }: GrammarOptions) {
    this.#tokenizer = tokenizer;
    this.#tokens = getTextTokens(tokenizer);
    this.#aliases = aliases;
    this.#tools = new Map(
      tools.flatMap(tool => {
        const keys = listKeys(tokenizer, tool);
        return keys && canWriteName(tokenizer, tool.name) ? [[tool.name, keys]] : [];
      }),
    );
    this.#spelledNames = new LiteralTexts(
      [...this.#tools.keys()]
        .filter(it => tokenizer.nameId(it) === undefined)
        .map(it => toBytes(` ${it}`)),
    );
    const canCall = this.#tools.size > 0;
    if (kind === "calls" && !canCall)
      throw new UserError(
        `a student cannot write calls of ${tools.map(it => it.name).join(", ") || "no tool"}`,
        "offer a tool whose required keys have no equals sign in their names",
      );
    this.#firstMarks = [
      ...(canCall && kind !== "text" ? (["<call>"] as const) : []),
      ...(kind === "calls" ? [] : (["<fin>"] as const)),
    ];
  }

  computeMask(): TokenMask {
    const state = this.#state;
    switch (state.part) {
      case "start":
        return this.#allow(undefined, this.#firstMarks);
      case "reply":
        return this.#allow(this.#tokens.all, ["<eot>"]);
      case "name":
        return this.#computeNameMask(state.text);
      case "call":
        return this.#allowNextPart(undefined);
      case "spelled": {
        const pair = this.#parseSpelled(state.text);
        if (pair) return this.#computeValueMask(pair.key, pair.text);
        return this.#tokens.findContinuations(undefined, state.text, it =>
          this.#canContinueSpelled(it),
        );
      }
      case "value":
        return this.#computeValueMask(state.key, state.text);
    }
  }

  append(id: number): void {
    const state = this.#state;
    const isText = this.#tokenizer.isText(id);
    if (isText && "text" in state) {
      this.#state = { ...state, text: state.text + this.#tokens.bytesOf(id) };
      return;
    }
    if (isText) return; // the text of a reply
    if (state.part === "name" && state.text !== "") this.#openCall(decode(state.text).slice(1));
    if (state.part === "spelled") this.#use(this.#parseSpelled(state.text)!.key);
    const name = this.#tokenizer.nameOf(id);
    const key = this.#unused.find(it => it.id === id);
    if (name !== undefined) {
      this.#openCall(name);
      this.#state = { part: "call" };
    } else if (key) {
      this.#use(key);
      this.#state = { part: "value", key, text: "" };
    } else if (id === this.#tokenizer.markId("<arg>")) this.#state = { part: "spelled", text: "" };
    else if (id === this.#tokenizer.markId("<fin>")) this.#state = { part: "reply" };
    else this.#state = { part: "name", text: "" }; // a call begins, or the message ends
  }

  #openCall(name: string): void {
    this.#unused = this.#tools.get(name) ?? [];
  }

  #use(key: Key): void {
    this.#unused = this.#unused.filter(it => it !== key);
  }

  /** Some text tokens, and some marks. */
  #allow(text: TokenMask | undefined, marks: readonly Mark[]) {
    const mask = text ? Uint8Array.from(text) : new Uint8Array(this.#tokenizer.size);
    for (const it of marks) mask[this.#tokenizer.markId(it)] = 1;
    return mask;
  }

  /** Another argument, or the end of the call if it has all that are required. */
  #allowNextPart(text: TokenMask | undefined, used?: Key, keys = this.#unused): TokenMask {
    const unused = keys.filter(it => it !== used);
    const mask = this.#allow(text, [
      ...(unused.some(it => it.id === undefined) ? (["<arg>"] as const) : []),
      ...(unused.some(it => it.isRequired) ? [] : (["<also>", "<eoc>"] as const)),
    ]);
    for (const { id } of unused) if (id !== undefined) mask[id] = 1;
    return mask;
  }

  #computeNameMask(text: string): TokenMask {
    const next = this.#tokens.findContinuations(undefined, text, it => {
      const end = this.#spelledNames.read(it, 0);
      return end === "open" || end === it.length;
    });
    const name = decode(text).slice(1);
    const keys = this.#tokenizer.nameId(name) === undefined ? this.#tools.get(name) : undefined;
    if (keys) return this.#allowNextPart(next, undefined, keys);
    if (text !== "") return next;
    const mask = this.#allow(next, []);
    for (const name of this.#tools.keys()) {
      const id = this.#tokenizer.nameId(name);
      if (id !== undefined) mask[id] = 1;
    }
    return mask;
  }

  /** What can come after a part of a value, or after the whole value. */
  #computeValueMask(key: Key, value: string): TokenMask {
    const text = this.#findValueTokens(key, value);
    return this.#isValue(key, value) ? this.#allowNextPart(text, key) : text;
  }

  #findValueTokens(key: Key, text: string): TokenMask {
    const grammar = this.#grammarOf(key);
    if (grammar.isFree) return this.#tokens.all;
    // the texts of a schema depend on the conversation only if they contain ids
    const source = JSON.stringify(key.schema);
    const isKept = source.length <= maxKeptSchema && !/_\d/.test(source);
    const memoKey = isKept ? `${source}\n${text}` : undefined;
    return this.#tokens.findContinuations(memoKey, text, it =>
      grammar.canContinue(removeSpace(it)),
    );
  }

  #isValue({ schema }: Key, text: string): boolean {
    return isValueText(schema, this.#aliases.restoreIds(decode(removeSpace(text))));
  }

  #grammarOf(key: Key): ValueGrammar {
    let grammar = this.#grammars.get(key);
    if (!grammar) {
      grammar = createValueGrammar(key.schema, it => this.#aliases.writeExactly(it));
      this.#grammars.set(key, grammar);
    }
    return grammar;
  }

  #canContinueSpelled(text: string): boolean {
    const pair = this.#parseSpelled(text);
    if (pair) return this.#grammarOf(pair.key).canContinue(removeSpace(pair.text));
    return this.#listSpelledKeys().some(it => it.spelling.startsWith(text));
  }

  /** The key and the text of the value, once the equals sign is there. */
  #parseSpelled(text: string): { readonly key: Key; readonly text: string } | undefined {
    const key = this.#listSpelledKeys().find(it => text.startsWith(it.spelling));
    return key && { key, text: text.slice(text.indexOf("=") + 1) };
  }

  #listSpelledKeys(): readonly Key[] {
    return this.#unused.filter(it => it.id === undefined);
  }
}

/** The keys of a tool that can be written, or undefined if a required one cannot. */
function listKeys(tokenizer: Tokenizer, { inputSchema }: Tool): readonly Key[] | undefined {
  const required = new Set(listRequired(inputSchema));
  const keys = Object.entries(getProperties(inputSchema)).map(([name, schema]) => ({
    name,
    id: tokenizer.keyId(name),
    spelling: toBytes(` ${name}=`),
    schema,
    isRequired: required.delete(name),
  }));
  const canWrite = ({ id, name }: Key) => id !== undefined || /^[^=]+$/.test(name);
  const isLost = required.size > 0 || keys.some(it => it.isRequired && !canWrite(it));
  return isLost ? undefined : keys.filter(canWrite);
}

/** The names that compactChat.ts reads from text. */
const canWriteName = (tokenizer: Tokenizer, name: string) =>
  tokenizer.nameId(name) !== undefined || /^[\w.-]{1,64}$/.test(name);

const decode = (text: string) => Buffer.from(text, "latin1").toString("utf8");
const removeSpace = (text: string) => text.replace(/^ /, "");

// The texts of a call's argument that parse as a value of its schema. Types, enums, constants,
// required keys and items are covered; ranges, lengths and patterns are not. A text is a string of
// bytes (one character each), because a token can end within a character.

type Json = Call["arguments"];

interface ValueGrammar {
  /** Whether every text can be continued to a value. */
  readonly isFree: boolean;
  /** Whether a text is the beginning of a value. If it is, all beginnings of the text are, too. */
  canContinue(text: string): boolean;
}

/** Derives the grammar of a schema. */
function createValueGrammar(published: JsonSchema, write: WriteLiteral): ValueGrammar {
  const schema = toSchema(published);
  const { literals, others } = listAlternatives(schema);
  const grammars = others.map(it => createAlternative(it, schema, write));
  if (grammars.some(it => it.isFree)) return freeText;
  if (literals.size > 0) {
    const values = Array.from(literals, it => JSON.parse(it) as Json);
    grammars.push(createLiterals(values, schema, write));
  }
  return { isFree: false, canContinue: text => grammars.some(it => it.canContinue(text)) };
}

/** Whether a value has the types, enums and constants of a schema. */
function isValueOf(schema: JsonSchema, value: Json): boolean {
  const { literals, others, beside } = listAlternatives(schema);
  return (
    (beside === undefined || findTypeMismatch(beside, value) === undefined) &&
    ((literals.size > 0 && literals.has(JSON.stringify(value))) ||
      others.some(it => hasType(it, value) && hasParts(it, value)))
  );
}

/** Whether a value has the type and the required keys of a branch. */
const hasType = ({ type = [], required = [] }: JsonSchema, value: Json): boolean =>
  findTypeMismatch({ type, required }, value) === undefined;

function hasParts(schema: JsonSchema, value: Json): boolean {
  const items = schema["items"];
  if (Array.isArray(value) && isJsonObject(items))
    return value.every(it => isValueOf(items, it as Json));
  if (!isJsonObject(value)) return true;
  const properties = getProperties(schema);
  return Object.entries(value).every(([key, it]) =>
    Object.hasOwn(properties, key)
      ? isValueOf(properties[key]!, it)
      : schema["additionalProperties"] !== false,
  );
}

const freeText: ValueGrammar = { isFree: true, canContinue: () => true };

/** `whole` is the schema by which a text is parsed, of which `schema` is an alternative. */
function createAlternative(
  schema: JsonSchema,
  whole: JsonSchema,
  write: WriteLiteral,
): ValueGrammar {
  const json = (text: string) => readJson(text, 0, { schema, write });
  switch (schema["type"]) {
    case "number":
    case "integer":
      return createNumbers(schema["type"] === "integer");
    case "boolean":
      return createLiterals([true, false], whole, write);
    case "null":
      return createLiterals([null], whole, write);
    case "array":
      return createLists(schema, json, write);
    case "object":
      return { isFree: false, canContinue: text => isBeginning(json(text), text) };
    case "string":
      // beside a list, a bare text is parsed as a list
      return listAlternatives(whole).others.some(it => it["type"] === "array")
        ? { isFree: false, canContinue: text => isBeginning(json(text), text) }
        : freeText;
    default:
      return freeText;
  }
}

function createLiterals(
  values: readonly Json[],
  whole: JsonSchema,
  write: WriteLiteral,
): ValueGrammar {
  const texts = new LiteralTexts(
    values.flatMap(it => {
      const text = write(formatArgument(it, whole));
      return text === undefined ? [] : [toBytes(text)];
    }),
  );
  return { isFree: false, canContinue: text => isBeginning(texts.read(text, 0), text) };
}

/** Integers have at most 16 digits; no call needs more, and none is infinite. */
const createNumbers = (isInteger: boolean): ValueGrammar => ({
  isFree: false,
  canContinue: isInteger
    ? text => /^-?\d{0,16}$/.test(text)
    : text =>
        /^-?(\d{0,21}|\d{1,21}\.\d{0,25}|\d{1,21}(\.\d{1,25})?e([+-]|[+-]?\d{1,3})?)$/.test(text) &&
        isFiniteIfNumber(text),
});

const isFiniteIfNumber = (text: string) => {
  const number = Number(text);
  return Number.isNaN(number) || Number.isFinite(number);
};

/** A list is JSON, or its items with commas between them. */
function createLists(
  schema: JsonSchema,
  json: (text: string) => ReadEnd,
  write: WriteLiteral,
): ValueGrammar {
  const items = itemsOf(schema);
  const isPlain = listAlternatives(items ?? {}).others.every(
    it => it["type"] !== "array" && it["type"] !== "object",
  );
  const item = createValueGrammar(items ?? {}, text => {
    const written = write(text);
    return written?.includes(", ") ? undefined : written;
  });
  if (item.isFree && isPlain) return freeText;
  const isItem = (text: string) => isValueText(items ?? {}, fromBytes(text));
  const isBareBeginning = (text: string) => {
    const parts = text.split(", ");
    const last = parts.pop()!;
    const isOpen = item.canContinue(last) || (last.endsWith(",") && isItem(last.slice(0, -1)));
    return isOpen && parts.every(isItem);
  };
  return {
    isFree: false,
    canContinue: text => isBeginning(json(text), text) || isBareBeginning(text),
  };
}

/** Whether a text parses as a value of the schema. */
const isValueText = (schema: JsonSchema, text: string): boolean =>
  isValueOf(schema, parseArgument(text, schema));

const fromBytes = (text: string) => Buffer.from(text, "latin1").toString("utf8");

const isBeginning = (end: ReadEnd, text: string) => end === "open" || end === text.length;
