/**
 * The words of a server's conversations, read from resources/servers/<server>/templates.json, and how a form
 * becomes a sentence. Knows no chains and no sessions: it is handed what the slots say.
 *
 * A phrase file:
 * ```
 * { "format": "prove/phrases@1", "server": "banking",
 *   "self": "Ana Ruiz",                           who the user is: nobody writes to themselves, or speaks of themselves by name
 *   "entities": { "<entity>": {
 *       "noun": "account",                          what it is called when nothing else is known
 *       "mention": ["my {label} account"],          how a user names it: {label}, a fact of its row ({date}), {id} if ids of this
 *                                                   entity are spoken, or an entity that its look-up needs first ({account}
 *                                                   for a card that hangs on an account)
 *       "known": ["the {label}"],                   how it is named once it has been seen in this talk (no context needed)
 *       "again": ["it", "that account"],            how it is named right after it was named
 *       "short": ["my {first} account", "{lower}"] } },   a sloppy name now and then: {first} is the label's first word, {lower} all
 *                                                   of it in lower case. The assistant looks these words up, and where that finds
 *                                                   nothing, in the whole list; where ids are spoken it tries them as they are, and
 *                                                   mends them by the server's hint ("{first}" for people)
 *   "arguments": { "<key>" or "<tool>.<key>": {
 *       "say": ["{value}", "{value} euros"],        how a plain value is said; the value itself must be readable from it
 *       "values": ["rent", "gift"],                 what to choose from, where the schema's examples are too few
 *       "days": [-30, -1],                          for a day or a time: how far from today; 1 to 21 days ahead where absent
 *       "words": { "high": ["urgent"] } } },        how an enum's or a boolean's value is said
 *   "tools": { "<full tool name>": {
 *       "forms": ["(move|transfer) {amount} from {from_account} to {to_account}"],
 *       "again": ["and another {amount}"],          a follow-up that repeats the last call; arguments without a slot stay as they were
 *       "missing": { "<key>": { "forms": […], "ask": ["Which account should it go to?"], "answer": ["to {to_account}"] } },
 *       "reasons": ["I am a bit short this week."],  said before the first request now and then; true whatever the slots are
 *       "instead": { "<key>": ["make it {amount} then"] },          after a refusal: the corrected wish, in the next turn
 *       "otherwise": { "<key>": ["take it from {from_account} if that is not enough"] },   said beforehand, in the same breath
 *       "reply": ["Done, {from_balance} is left."], "empty": ["There is nothing."], "item": "{text} ({amount})",   rows that are plain are {value}
 *       "refused": { "precondition_failed": ["There is not enough in {from_account}."] } } },
 *   "reasons": ["I am going through my money matters."] }   small talk for any tool of the server; `reasons` are whole sentences
 * ```
 * - `(a|b|)` chooses; choices may nest. `{key}` is a slot. There is no other markup.
 * - `forms`, `again`, `missing` forms, `instead`, `otherwise` and `answer` are clauses: lower case,
 *   no final full stop; one that ends in `?` is a
 *   question and becomes a sentence of its own. They name every required argument of the tool (a `missing` form all but that
 *   one), and optional ones only to use them. `{ "say": "…", "with": { "unread": true } }` fixes arguments that are not said, and
 *   `{ "say": "which cards belong to {account_id}?", "reply": ["{items}."] }` is answered in its own way.
 * - `{ "say": "when was {order} placed?", "made": false }` is not said of what the talk itself has
 *   brought about.
 * - A clause that begins with a verb may be framed by the persona ("could you …?"); one that begins
 *   with `I`, `on`, `if` or the like is not.
 * - A pronoun of an entity (`again`) takes the place of its whole mention: write forms that read
 *   well with "it".
 * - `reply`, `empty` and `refused` are whole sentences. Their slots are fields of the result
 *   (`{balance}`, `{event.title}`), else
 *   arguments as the user said them; `{count}` and `{items}` count and list the result's first list, each row by `item`; `{why}` is a refusal's words.
 * - A reply may be kept to some results: `{ "say": "Yes, it is open.", "if": { "status": "open" }
 *   }`, or `"if": { "status": ["open",
 *   "new"] }`, or `{count}` by `"if": { "count": 1 }`, or a number by a bound, `"if": { "balance": "<0" }`; `{balance.size}` is it without
 *   its minus. One that fits goes before those without an `if`. A reply in which two slots
 *   say the same words ("off instead of off") is passed over.
 * - A `missing` question (`ask`) may take up what the form has said: `"When should {title}
 *   begin?"`.
 * - Several replies become one message: an opening "Done, " is left out of all but the first,
 *   sentences about the same thing go on
 *   with "It", alike ones with "and so is". So write each reply as one or two whole sentences that stand alone, mostly without "Done".
 * - Money (fields such as amount, price, balance, total, or described in euros) is said with cents
 *   where it has some, other numbers as they
 *   are; `1 files` becomes 1 file, "9 March at 10:30 until 9 March at 11:00" says its day once, days and times are put into words.
 * - Ids never stand in words: an entity is said by its mention, unless it is declared as spoken.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Server, Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import type { Random } from "../../environment/random.ts";
import { declarationsOf } from "../graph/declarations.ts";

const jsonSchema = z.json() as z.ZodType<Json>;
const textsSchema = z.array(z.string().min(1)).min(1);
const replySchema = z.union([
  z.string().min(1),
  z.strictObject({ say: z.string().min(1), if: z.record(z.string(), jsonSchema) }),
]);
const repliesSchema = z.array(replySchema).min(1);
const clauseSchema = z.union([
  z.string().min(1),
  z.strictObject({
    say: z.string().min(1),
    with: z.record(z.string(), jsonSchema).optional(),
    reply: repliesSchema.optional(),
    made: z.literal(false).optional(),
  }),
]);
const clausesSchema = z.array(clauseSchema).min(1);

const toolTemplatesSchema = z.strictObject({
  forms: clausesSchema,
  again: clausesSchema.optional(),
  missing: z.record(z.string(), z.strictObject({ forms: clausesSchema, ask: textsSchema, answer: textsSchema })).optional(),
  instead: z.record(z.string(), textsSchema).optional(),
  otherwise: z.record(z.string(), textsSchema).optional(),
  reply: repliesSchema.optional(),
  reasons: textsSchema.optional(),
  empty: textsSchema.optional(),
  item: z.string().optional(),
  refused: z.record(z.string(), textsSchema).optional(),
});

const serverTemplatesSchema = z.strictObject({
  format: z.literal("prove/phrases@1"),
  server: z.string(),
  self: z.string().optional(),
  entities: z.record(
    z.string(),
    z.strictObject({
      noun: z.string(),
      mention: textsSchema,
      known: textsSchema.optional(),
      again: textsSchema.optional(),
      short: textsSchema.optional(),
    }),
  ),
  arguments: z.record(
    z.string(),
    z.strictObject({
      say: textsSchema.optional(),
      values: z.array(jsonSchema).min(1).optional(),
      words: z.record(z.string(), textsSchema).optional(),
      days: z.tuple([z.int(), z.int()]).optional(),
    }),
  ),
  tools: z.record(z.string(), toolTemplatesSchema),
  reasons: textsSchema.optional(),
});

export type ServerTemplates = z.infer<typeof serverTemplatesSchema>;
export type ToolTemplates = z.infer<typeof toolTemplatesSchema>;
export type ClauseTemplate = z.infer<typeof clauseSchema>;
export type ReplyTemplate = z.infer<typeof replySchema>;

/**
 * A server's phrases from a folder, completed by plain ones for what the file leaves out; all plain
 * where there is no file.
 */
export function readTemplates(folder: string, server: Server): ServerTemplates {
  const file = join(folder, server.name, "templates.json");
  return completeTemplates(
    server,
    existsSync(file) ? parseTemplates(server, readFileSync(file, "utf8"), file) : undefined,
  );
}

/** Reads a phrase file's text. Throws a `Mistake` that names the file and the first flaw. */
export function parseTemplates(server: Server, text: string, file: string): ServerTemplates {
  const phrases = parseJson(serverTemplatesSchema, text, { file, noun: "a phrase file" });
  const flaw = findTemplateErrors(phrases, server)[0];
  if (flaw !== undefined) throw new UserError(`${file}: ${flaw}`, "mend that phrase");
  return phrases;
}

/** The sentence's words with every `(a|b)` chosen. */
export function chooseAlternatives(text: string, random: Random): string {
  let open = text;
  for (;;) {
    const next = open.replaceAll(/\(([^()]*)\)/g, (_, all: string) => random.pick(all.split("|")));
    if (next === open) return tidyText(next);
    open = next;
  }
}

/** The names of a text's slots, in order, each once. */
export const findSlots = (text: string): string[] => [
  ...new Set([...text.matchAll(/\{([\w.]+)\}/g)].map(it => it[1]!)),
];

/** The text with its slots filled; a slot that `say` does not know makes it undefined. */
export function fillSlots(
  text: string,
  say: (slot: string) => string | undefined,
): string | undefined {
  let whole = true;
  const words = text.replaceAll(/\{([\w.]+)\}/g, (_, slot: string) => {
    const said = say(slot);
    if (said === undefined) whole = false;
    return said ?? "";
  });
  return whole ? tidyText(words) : undefined;
}

/**
 * Spaces once, no word twice in a row ("my Travel card card"), no "on tomorrow", and no sum like
 * "45.5 euros".
 */
export const tidyText = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([,.?!;:])(?=\s|$)/g, "$1")
    .replaceAll(/([^.])\.\.(?!\.)/g, "$1.")
    .replaceAll(/(?<=[.?!]\u0002?)(["”])\.(?=\s|$)/g, "$1")
    .replaceAll(/(?<![-\w.])(?!that that (?:\w+)\b)([a-z]+) \1\b(?![-.]\w)/gi, "$1")
    .replaceAll(
      /\b(turn|call|put|take|write|give|pick|set|throw|bring|hand|switch|send) (down|off|up|out|back|away) (it|them)\b/gi,
      "$1 $3 $2",
    )
    .replaceAll(/\b(the (?:\w+ )?(\w+)) (?:the|my) \2 /g, "$1 ")
    .replaceAll(/\bthe (\w+) (that|this) \1\b/g, "$2 $1")
    .replaceAll(
      /\b[oO]n (today|tomorrow|yesterday|the day after tomorrow|(?:a week|two weeks) from today|this (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b/g,
      "$1",
    )
    .replaceAll(/(?<![\d.])(\d+\.\d)(?=\W?(?: of [\d.]+\W?)? euros?\b)/g, sum => `${sum}0`)
    .trim();

export const getTemplateText = (it: ClauseTemplate): string =>
  typeof it === "string" ? it : it.say;
export const getFixedArguments = (it: ClauseTemplate): JsonObject =>
  typeof it === "string" ? {} : (it.with ?? {});
/** The words of replies that this result allows, those made for it first. */
export function selectReplies(
  replies: readonly ReplyTemplate[],
  field: (path: string) => Json | undefined,
  order: <T>(list: readonly T[]) => readonly T[],
): string[] {
  const isMet = ([path, wanted]: [string, Json]) =>
    [wanted].flat().some(it => matchesCondition(field(path) ?? null, it));
  const made = replies.flatMap(it =>
    typeof it !== "string" && Object.entries(it.if).every(isMet) ? [it.say] : [],
  );
  return [...order(made), ...order(replies.filter(it => typeof it === "string"))];
}

/**
 * Whether a result's value is what a reply is for: the same, or a number on the right side of a
 * bound such as `<0`.
 */
function matchesCondition(value: Json, wanted: Json): boolean {
  const bound =
    typeof wanted === "string" && typeof value === "number"
      ? wanted.match(/^([<>])(-?\d+(?:\.\d+)?)$/)
      : null;
  if (!bound) return value === wanted;
  return bound[1] === "<"
    ? (value as number) < Number(bound[2])
    : (value as number) > Number(bound[2]);
}

/**
 * Whether a form is for what was there before the talk: nobody asks when what they have just done
 * was done.
 */
export const excludesCreatedEntities = (it: ClauseTemplate): boolean =>
  typeof it !== "string" && it.made === false;

export const getOwnReplies = (it: ClauseTemplate): readonly ReplyTemplate[] | undefined =>
  typeof it === "string" ? undefined : it.reply;

/** What a plain argument may be and how it is said: under its tool's name, else under its own. */
export const findArgumentTemplates = (templates: ServerTemplates, tool: string, key: string) =>
  templates.arguments[`${tool}.${key}`] ?? templates.arguments[key];

/** A list as people say it: `a, b and c`. */
export const joinWithAnd = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)!}`;

/** What is wrong with a phrase file for this server, a line each. */
export function findTemplateErrors(templates: ServerTemplates, server: Server): string[] {
  const flaws: string[] = [];
  if (templates.server !== server.name) flaws.push(`server is ${templates.server}, not ${server.name}`);
  for (const [name, it] of Object.entries(templates.tools)) {
    const tool = server.tools.get(name);
    if (!tool) flaws.push(`${server.name} has no tool ${name}`);
    else flaws.push(...checkToolTemplates(tool, it).map(flaw => `${name}: ${flaw}`));
  }
  for (const [name, it] of Object.entries(templates.entities))
    for (const text of it.again ?? [])
      if (findSlots(text).length > 0)
        flaws.push(`entity ${name}: "${text}" is an again form with a slot`);
  for (const [name, it] of Object.entries(templates.entities))
    for (const text of it.short ?? [])
      if (findSlots(text).some(slot => slot !== "first" && slot !== "lower"))
        flaws.push(
          `entity ${name}: "${text}" is a short form with other slots than {first} and {lower}`,
        );
  return flaws;
}

function checkToolTemplates(tool: Tool, templates: ToolTemplates): string[] {
  const keys = Object.keys((tool.inputSchema["properties"] ?? {}) as object);
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  const unknown = (text: string) =>
    findSlots(text)
      .filter(it => !keys.includes(it))
      .map(it => `"${text}" has a slot {${it}} that is no argument`);
  const lacks = (it: ClauseTemplate, but?: string) => {
    const said = [...findSlots(getTemplateText(it)), ...Object.keys(getFixedArguments(it))];
    return required
      .filter(key => key !== but && !said.includes(key))
      .map(key => `"${getTemplateText(it)}" does not say ${key}`);
  };
  const flaws = templates.forms.flatMap(it => [...unknown(getTemplateText(it)), ...lacks(it)]);
  flaws.push(...(templates.again ?? []).flatMap(it => unknown(getTemplateText(it))));
  for (const [key, it] of Object.entries(templates.missing ?? {})) {
    if (!required.includes(key)) flaws.push(`missing ${key} is no required argument`);
    flaws.push(
      ...it.forms.flatMap(form => [...unknown(getTemplateText(form)), ...lacks(form, key)]),
    );
    flaws.push(
      ...it.forms
        .filter(form => findSlots(getTemplateText(form)).includes(key))
        .map(form => `"${getTemplateText(form)}" says ${key}, which it should leave out`),
    );
    flaws.push(
      ...it.ask.flatMap(unknown),
      ...it.ask
        .filter(text => findSlots(text).includes(key))
        .map(text => `"${text}" says what it asks for`),
    );
    flaws.push(
      ...it.answer
        .filter(text => !findSlots(text).includes(key))
        .map(text => `"${text}" does not answer with {${key}}`),
    );
  }
  for (const kind of ["instead", "otherwise"] as const)
    for (const [key, list] of Object.entries(templates[kind] ?? {}))
      flaws.push(
        ...list
          .filter(text => !findSlots(text).includes(key))
          .map(text => `${kind} "${text}" does not say {${key}}`),
      );
  return flaws;
}

function completeTemplates(server: Server, known: ServerTemplates | undefined): ServerTemplates {
  const tools = Object.fromEntries(
    [...server.tools.values()].map(it => [it.name, known?.tools[it.name] ?? createToolTemplates(it)]),
  );
  const declared = [...declarationsOf(server).values()];
  const named = [
    ...declared.flatMap(it => it.outputs.map(({ entity }) => ({ entity, isSpoken: false }))),
    ...declared.flatMap(it => it.inputs),
  ];
  const entities = Object.fromEntries(
    named.map(it => [it.entity, createEntityTemplates(it.entity, it.isSpoken)]),
  );
  return {
    format: "prove/phrases@1",
    server: server.name,
    ...(known?.self === undefined ? {} : { self: known.self }),
    arguments: known?.arguments ?? {},
    tools,
    entities: { ...entities, ...known?.entities },
    ...(known?.reasons ? { reasons: known.reasons } : {}),
  };
}

const toWords = (name: string) => name.replaceAll("_", " ");
const createEntityTemplates = (entity: string, isSpoken: boolean) => ({
  noun: toWords(entity),
  mention: [isSpoken ? "{id}" : `the ${toWords(entity)} {label}`],
  again: [`that ${toWords(entity)}`],
});

/** Forms made from a tool's own name: `freeze card, card id: …`. Understandable, and no more. */
function createToolTemplates(tool: Tool): ToolTemplates {
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  const verb = toWords(tool.name.slice(tool.server.length + 1));
  const said = required.map(key => `${toWords(key).replace(/ id$/, "")} {${key}}`);
  return { forms: [said.length ? `${verb} with ${said.join(" and ")}` : verb], reply: ["Done."] };
}

/** A field of a result by its dotted path. */
export function getField(value: Json | undefined, path: string): Json | undefined {
  let at: Json | undefined = value;
  for (const key of path.split(".")) {
    if (at === null || typeof at !== "object" || Array.isArray(at) || !Object.hasOwn(at, key))
      return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
