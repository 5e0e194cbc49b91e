/**
 * Proposes templates for a server that has none: requests from the descriptions and names of its
 * tools, with values in quotes and entities by their names, and replies from the fields of results.
 */
import {
  getItemSchema,
  getProperties,
  listRequired,
  removeNull,
} from "../../environment/schemaKeywords.ts";
import type { JsonSchema, Server, Tool } from "../../environment/server.ts";
import type { EntityInput, ToolDeclaration } from "../graph/declarations.ts";
import type { ServerTemplates, ToolTemplates } from "./templates.ts";
import { joinWithAnd } from "./templateText.ts";

type ToolSource = Pick<Server, "tools">;
type EntityTemplates = ServerTemplates["entities"][string];

/** `parents`: by what one without a name is told from others, such as the book of a loan. */
export const proposeEntityTemplates = (
  entity: string,
  isSpoken: boolean,
  parents: readonly string[],
): EntityTemplates => {
  const noun = toWords(entity);
  return isSpoken
    ? { noun, mention: [isQuoted(noun) ? '"{id}"' : "{id}"] }
    : {
        noun,
        mention: [`the ${noun} "{label}"`, ...parents.map(it => `the ${noun} of {${it}}`)],
        again: ["it", `that ${noun}`],
      };
};

export function proposeToolTemplates(
  tool: Tool,
  declaration: ToolDeclaration,
  server: ToolSource,
): ToolTemplates {
  const args = listArguments(declaration);
  const [described, named] = [readDescription(tool, args, server), readName(tool)];
  const countThings = (text: string) =>
    args.filter(it => it.input && replaceNoun(text, it) !== undefined).length;
  // "take a book back" does not say whose loan ends, and "return the loan" does
  const isComplete = described !== "" && countThings(described) >= countThings(named);
  const sentence = isComplete ? described : named;
  const say = (withheld?: string) => [addArguments(sentence, tool, args, withheld)];
  const missing = args
    .filter(it => !it.isComposed)
    .map(it => [it.key, { forms: say(it.key), ask: [ask(it)], answer: [answer(it, sentence)] }]);
  return {
    forms: say(),
    ...(missing.length > 0 ? { missing: Object.fromEntries(missing) } : {}),
    ...(tool.effect === "read" ? proposeReplies(tool.outputSchema) : {}),
  };
}

/** How the objects in a tool's arguments are said. */
export function proposeArgumentTemplates({
  tool,
  inputs,
}: ToolDeclaration): ServerTemplates["arguments"] {
  const found: ServerTemplates["arguments"] = {};
  const visit = (published: JsonSchema, path: string): void => {
    const schema = removeNull(published);
    const items = getItemSchema(schema);
    if (items) return visit(items, `${path}[]`);
    const required = listRequired(schema);
    if (schema["type"] !== "object" || required.length === 0) return;
    const properties = getProperties(schema);
    if (path !== "") {
      const noun = toNoun(path.replaceAll("[]", "").split(".").at(-1)!);
      const parts = required.map(key =>
        createArgument(
          key,
          inputs.find(it => it.path === `${path}.${key}`),
          removeNull(properties[key] ?? {}),
        ),
      );
      found[`${tool.name}.${path.replaceAll("[]", "")}`] = { say: [sayParts(parts, noun)] };
    }
    for (const key of required) visit(properties[key] ?? {}, path === "" ? key : `${path}.${key}`);
  };
  visit(tool.inputSchema, "");
  return found;
}

// Arguments, and how each is said in a request.

interface Argument {
  readonly key: string;
  /** "due date" for `dueDate`; without what says that it is an id. */
  readonly words: string;
  readonly input: EntityInput | undefined;
  readonly isList: boolean;
  /** An object or a list of objects. */
  readonly isComposed: boolean;
  /** Its slot, in quotes if it is a text. */
  readonly said: string;
}

const listArguments = ({ tool, inputs }: ToolDeclaration): Argument[] => {
  const properties = getProperties(tool.inputSchema);
  return listRequired(tool.inputSchema).map(key =>
    createArgument(
      key,
      inputs.find(it => it.path === key),
      removeNull(properties[key] ?? {}),
    ),
  );
};

function createArgument(key: string, input: EntityInput | undefined, schema: JsonSchema): Argument {
  const items = getItemSchema(schema);
  const { type, enum: choices, format, pattern } = items ?? schema;
  const isQuoted = !input && type === "string" && !choices && !format && !pattern && !isDay(key);
  return {
    key,
    words: toNoun(key) || (input ? toWords(input.entity) : toWords(key)),
    input,
    isList: items !== undefined,
    isComposed: type === "object",
    said: isQuoted ? `"{${key}}"` : `{${key}}`,
  };
}

const isName = (words: string): boolean => /^(name|title|subject|label)$/.test(words);
const isQuoted = (words: string): boolean =>
  /\b(observation|text|content|body|message|comment|remark|fact|description|type|kind|category|status|tag)s?$/.test(
    words,
  );
const isSearch = (key: string): boolean => /query|search|keyword|pattern/i.test(key);
const isDay = (key: string): boolean => /date|day$|time$|^due|^on$|^at$/i.test(key);

const toWords = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .toLowerCase()
    .trim();

/** The noun in the name of an argument: "note" for `note_id`, "entity" for `entityNames`. */
const toNoun = (key: string): string =>
  toSingular(toWords(key).replace(/ ?\b(ids?|uuid|names?|keys?)$/, "")).replace(/^new /, "");

const toSingular = (noun: string): string =>
  noun.replace(/([a-z]{2})ies$/, "$1y").replace(/(?<=[a-z]{2}[^s\W])s$/, "");

const toPlural = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? noun.replace(/y$/, "ies") : noun.endsWith("s") ? noun : `${noun}s`;

function ask({ key, words, input }: Argument): string {
  if (input) return `Which ${words}?`;
  if (isSearch(key)) return "What should I look for?";
  return isName(words) ? `What is the ${words} going to be?` : `What should the ${words} be?`;
}

/** The answer to the question for an argument, which may also follow the request. */
function answer(it: Argument, sentence: string): string {
  const isPlaced = it.input?.isSpoken && !it.isList && findPreposition(it) !== undefined;
  return isPlaced && replaceNoun(sentence, it) === undefined
    ? sayRest([it], undefined).trim()
    : it.said;
}

// The sentence of a request: the imperative of the description, or the words of the name.

const readVerbs =
  /^(?:get|return|retrieve|read|fetch|view|display|show|query|describe|load|print|see)(?: me)?\b/;

const leads =
  /^(?:(?:this|a|the) tool (?:that |to |which )?|(?:use (?:this|it) to|allows? (?:you |users |the user )?to|can be used to|used to|tool (?:to|for)) )/i;

/** Words that a person would not say. */
const needless =
  / and (?:its|their|all) (?:associated|related|corresponding) \w+|\b(?:multiple|one or more|specific|specified|given|existing|certain|provided|entire) /g;

const maxWords = 16;

/** The imperative of a description's first sentence; empty if it has none that people would say. */
function readDescription(tool: Tool, args: readonly Argument[], server: ToolSource): string {
  const [first = ""] = tool.summary.split(/(?<=[a-z)])[.!?:;](?:\s|$)|\n/);
  const plain = first
    .replaceAll(/\s*[([{][^)\]}]*[)\]}]/g, "")
    .replaceAll(/[`*_"{}()|]/g, "")
    .replace(leads, "")
    .trim();
  const [word = "", ...rest] = plain.split(/\s+/);
  const verb = toImperative(word.toLowerCase(), getWords(tool)[0]!);
  if (verb === undefined || rest.length === 0 || rest.length >= maxWords) return "";
  const sentence = removeHint([verb, ...rest].join(" ").replaceAll(needless, ""), args);
  const place = findCommonPlace(server);
  return place === ""
    ? sentence
    : sentence.replace(new RegExp(` (?:in|from|of|on) ${place}$`), all => `(${all}|)`);
}

/** The first word of a description as an imperative, if it is the verb that the tool's name has. */
function toImperative(word: string, verb: string): string | undefined {
  const forms = [word, word.replace(/s$/, ""), word.replace(/es$/, ""), word.replace(/ies$/, "y")];
  if (forms.includes(verb)) return verb;
  return forms.find(it => readVerbs.test(it) || otherVerbs.test(it));
}

const otherVerbs =
  /^(?:list|find|search|look|add|create|make|write|insert|append|record|save|store|set|update|edit|change|rename|give|move|copy|put|send|post|reply|delete|remove|drop|clear|cancel|close|open|start|stop|run|mark|assign|attach|link|share|book|order|pay|transfer|check|count|compute|calculate|convert|compare|complete|archive|restore|commit|stage|schedule|plan|lend|take|switch|reset|merge|complete)$/;

/** The sentence without a phrase that says how the things are given, such as "by their names". */
const removeHint = (sentence: string, args: readonly Argument[]): string =>
  args.reduce((text, { words, key }) => {
    const names = [words, toWords(key), "id", "name", "query", "title"].map(toSingular).join("|");
    const hint = new RegExp(
      ` (?:by|based on|using|given|matching|from|with|for) (?:an? |the |its |their |exact |search |unique )*(?:${names}|${names.replaceAll(/y(?=\||$)/g, "ie")})s?$`,
      "i",
    );
    return text.replace(hint, "");
  }, sentence);

/** The place that most descriptions of a server name, such as "the knowledge graph". */
function findCommonPlace({ tools }: ToolSource): string {
  const counts = new Map<string, number>();
  for (const { summary } of tools.values()) {
    const [, noun] =
      / (?:in|from|of|on) (the (?:\w+ )?\w+)(?=[.,]| (?:by|based)|$)/.exec(
        summary.split("\n")[0]!,
      ) ?? [];
    if (noun !== undefined) counts.set(noun, (counts.get(noun) ?? 0) + 1);
  }
  const [place, count] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? ["", 0];
  return count > 2 && count * 2 >= tools.size ? place : "";
}

const getWords = ({ name, server }: Tool): string[] => name.slice(server.length + 1).split("_");

/** The words of a tool's name, with an article before a thing: "add a note", "list notes". */
function readName(tool: Tool): string {
  const [verb = "", ...object] = getWords(tool);
  const last = object.at(-1);
  if (last === undefined) return verb;
  const isPlural = last.endsWith("s") || object.some(it => prepositions.test(it));
  const article = /^(add|create|new|make|insert)$/.test(verb)
    ? /^[aeiou]/.test(object[0]!)
      ? "an "
      : "a "
    : "the ";
  return `${verb} ${isPlural ? "" : article}${object.join(" ")}`;
}

const prepositions = /^(in|to|from|for|of|by|with|on|at|as)$/;

// Adds the arguments to a sentence: in place of the words for them, or behind it.

function addArguments(
  sentence: string,
  tool: Tool,
  args: readonly Argument[],
  withheld: string | undefined,
): string {
  let text = sentence;
  const rest: Argument[] = [];
  for (const it of args) {
    const replaced = it.isComposed ? undefined : replaceNoun(text, it);
    if (it.key === withheld) continue;
    if (replaced === undefined) rest.push(it);
    else text = replaced;
  }
  const [first] = rest;
  if (rest.length === 1 && first!.input?.isSpoken && !text.includes("{")) {
    const added = addToObject(text, first!);
    if (added !== undefined) return useRequestVerb(added, tool);
  }
  // a name ends with the preposition of its argument: "list notes in"
  const [, open] = / (in|to|from|for|of|by|with|on|at)$/.exec(text) ?? [];
  if (open !== undefined) text = text.slice(0, -open.length - 1);
  const parts = rest.filter(it => !it.isComposed);
  const composed = rest.filter(it => it.isComposed);
  const objects = composed.map(it => `{${it.key}}`).join("; ");
  return useRequestVerb(
    `${text}${sayRest(parts, open ?? (movingVerbs.test(text) ? "to" : undefined))}${objects === "" ? "" : `: ${objects}`}`,
    tool,
  );
}

const movingVerbs = /^(move|copy|rename|retitle|send|transfer)\b/;

/** The sentence with an argument in place of its noun: "move {note_id} to the folder {folder}". */
function replaceNoun(sentence: string, it: Argument): string | undefined {
  const nouns = [it.words, ...(it.input ? [toWords(it.input.entity)] : [])].filter(Boolean);
  for (const noun of nouns) {
    const name = it.isList ? `(?:${noun}|${toPlural(noun)})` : noun;
    const phrase = new RegExp(
      `(?<![{\\w"])(?:(?:an?|the|another|one|some|this|its) )?(?:new |other |existing )?${name}(?![}\\w"])`,
      "i",
    );
    const at = sentence.search(/ /);
    const object = sentence.slice(at);
    if (!phrase.test(object)) continue;
    // names of several things come without a noun: "delete Dana Fox and Lee Park"
    const isBare = it.input && (it.isList || !it.input.isSpoken);
    const said = isBare ? it.said : `the ${noun} ${it.said}`;
    return sentence.slice(0, at) + object.replace(phrase, () => said);
  }
  return undefined;
}

/** The sentence with names for what it is about: "open {names} in the graph". */
function addToObject(sentence: string, { said, isList }: Argument): string | undefined {
  const [, verb, object, after = ""] =
    /^(\w+) (?:the |an? |all )?((?:(?!in |from |of |on |with |and |or |for )\w+ ?){1,3})(?<! )((?: |\().*)?$/.exec(
      sentence,
    ) ?? [];
  return verb === undefined || prepositions.test(object!)
    ? undefined
    : `${verb} ${isList ? "" : `the ${object!.trim()} `}${said}${after}`;
}

function sayRest(args: readonly Argument[], preposition: string | undefined): string {
  const placed: string[] = [];
  const others: string[] = [];
  const named: string[] = [];
  for (const [i, it] of args.entries()) {
    const { key, words, input, said } = it;
    const own = input && (it.isList || !input.isSpoken) ? said : `the ${words} ${said}`;
    const place = i === 0 && preposition !== undefined && input ? preposition : findPreposition(it);
    if (isSearch(key)) placed.push(`matching ${said}`);
    else if (isName(words))
      named.push(preposition === "to" && i === args.length - 1 ? `to ${said}` : `called ${said}`);
    else if (/^(from|to|in|on|at|for|by|as)$/.test(words)) placed.push(`${words} ${said}`);
    else if (isDay(key)) placed.push(`for ${said}`);
    else if (place !== undefined) placed.push(`${place} ${own}`);
    else others.push(input && !input.isSpoken ? said : `the ${words} ${said}`);
  }
  const all = [...named.slice(0, 1), ...placed, ...named.slice(1)];
  if (others.length > 0) all.push(`with ${joinWithAnd(others)}`);
  return all.map(it => ` ${it}`).join("");
}

function findPreposition({ words, input }: Argument): string | undefined {
  if (/\b(source|origin)\b/.test(words)) return "from";
  if (/\b(target|destination|recipient)\b/.test(words)) return "to";
  if (
    /\b(folder|directory|list|project|channel|calendar|collection|database|table|repository|repo|board|category)$/.test(
      words,
    )
  )
    return "in";
  return input ? "for" : undefined;
}

/** How an object is said: `"{name}", with the type "{type}"`. `noun` is what it is. */
function sayParts(parts: readonly Argument[], noun: string): string {
  const words = (it: Argument) => (/^(content|text|value|body)$/.test(it.words) ? noun : it.words);
  const isEnd = (it: Argument) => /^(from|to)$/.test(it.words);
  const ends = parts.filter(isEnd).map(it => `${it.words} ${it.said}`);
  const head =
    ends.length > 0
      ? undefined
      : (parts.find(it => isName(it.key)) ?? parts.find(it => it.input && !isQuoted(it.words)));
  const rest = parts
    .filter(it => it !== head && !isEnd(it))
    .map(it => (it.input && !it.input.isSpoken ? it.said : `the ${words(it)} ${it.said}`));
  return [
    ...(head ? [head.said] : ends.length > 0 ? [ends.join(" ")] : []),
    ...(rest.length > 0 ? [`with ${joinWithAnd(rest)}`] : []),
  ].join(" ");
}

/** The request with a verb that people use: "show me", not "retrieve". */
const useRequestVerb = (sentence: string, { effect }: Tool): string =>
  effect === "write"
    ? sentence
    : sentence
        .replace(readVerbs, "(show me|get me)")
        .replace(/^list\b/, "(list|show me)")
        .replace(/^search for\b/, "(search for|look for)");

// Replies, from the fields of results.

function proposeReplies(schema: JsonSchema): Pick<ToolTemplates, "reply" | "item" | "empty"> {
  const properties = getProperties(schema);
  const list = Object.values(properties)
    .map(it => getItemSchema(removeNull(it)))
    .find(it => it !== undefined);
  if (list) {
    const fields = listFields(list);
    const [name, ...others] = fields;
    const item =
      name === undefined
        ? undefined
        : others.length === 0
          ? `{${name}}`
          : `{${name}} (${others.map(it => `{${it}}`).join(", ")})`;
    return {
      reply: [
        { say: "(There is one|I found one): {items}.", if: { count: 1 } },
        "(Here they are|These are the ones|I found {count}): {items}.",
      ],
      ...(item === undefined ? {} : { item }),
      empty: ["I found nothing.", "There is nothing."],
    };
  }
  const fields = listFields(schema).map(
    it => `${toWords(it)} ${isText(schema, it) ? `"{${it}}"` : `{${it}}`}`,
  );
  return fields.length === 0 ? {} : { reply: [`(Here it is|There you go): ${fields.join(", ")}.`] };
}

const isText = (schema: JsonSchema, key: string): boolean => {
  const { type, enum: choices, format } = removeNull(getProperties(schema)[key]!);
  return type === "string" && !choices && !format && !isDay(key);
};

const maxFields = 3;

/** The plain fields that people want to know, the name first. */
function listFields(schema: JsonSchema): string[] {
  const fields = Object.entries(getProperties(schema)).flatMap(([key, published]) => {
    const it = removeNull(published);
    const isId = it["x-entity"] !== undefined && it["x-spoken"] !== true;
    const isPlain = ["string", "integer", "number", "boolean"].includes(it["type"] as string);
    return isId || !isPlain || /(^|_)id$|\W/.test(key) ? [] : [key];
  });
  return fields.toSorted((a, b) => Number(isName(b)) - Number(isName(a))).slice(0, maxFields);
}
