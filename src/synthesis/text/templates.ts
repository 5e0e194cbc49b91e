/**
 * The format of resources/servers/<server>/templates.json: what simulated users and the assistant
 * say in conversations on a server.
 *
 * ```
 * { "format": "prove/templates@1", "server": "banking",
 *   "self": "Ana Ruiz",                           who the user is: nobody writes to themselves or speaks of themselves by name
 *   "entities": { "<entity>": {
 *       "noun": "account",                          the name of the kind, where nothing else is known
 *       "mention": ["my {label} account"],          how a user names one: {label}, a field of its row ({date}), {id} if ids of this
 *                                                   entity are spoken, or an entity that its look-up needs first ({account}
 *                                                   for a card that belongs to an account)
 *       "known": ["the {label}"],                   how it is named after it appeared in the conversation (no context needed)
 *       "again": ["it", "that account"],            how it is named right after it was named
 *       "short": ["my {first} account", "{lower}"] } },   an occasional partial name: {first} is the label's first word, {lower} all of
 *                                                   it in lower case. The assistant looks these words up, and if that finds nothing,
 *                                                   it reads the whole list; where ids are spoken, it tries the words as they are and
 *                                                   corrects them by the server's hint ("{first}" for people)
 *   "arguments": { "<key>" or "<tool>.<key>": {
 *       "say": ["{value}", "{value} euros"],        how a plain value is said; the value itself must be readable from it
 *       "values": ["rent", "gift"],                 values to choose from, where the schema's examples are too few
 *       "valuesBy": { "Rent": ["key copies"] },     the same for requests that name an entity of this label
 *       "days": [-30, -1],                          for a day or a time: the range of days from today; 1 to 21 if absent
 *       "words": { "high": ["urgent"] } } },        how the value of an enum or a boolean is said
 *   "tools": { "<full tool name>": {
 *       "forms": ["(move|transfer) {amount} from {from_account} to {to_account}"],
 *       "again": ["and another {amount}"],          a follow-up that repeats the last call; arguments without a slot stay the same
 *       "missing": { "<key>": { "forms": […], "ask": ["Which account should it go to?"], "answer": ["to {to_account}"] } },
 *       "reasons": ["I am a bit short this week."],  an occasional filler before the first request; true whatever the slots are
 *       "instead": { "<key>": ["make it {amount} then"] },          after a refusal: the corrected request, in the next turn
 *       "otherwise": { "<key>": ["take it from {from_account} if that is not enough"] },   an alternative named in the same turn
 *       "reply": ["Done, {from_balance} is left."], "empty": ["There is nothing."], "item": "{text} ({amount})",   a plain row is {value}
 *       "refused": { "precondition_failed": ["There is not enough in {from_account}."] },
 *       "needs": { "category": ["Groceries", "Travel"] },   what the result must have; people would not ask for others
 *       "computed": { "<key>": { "of": "limit" } },  the field of the entity that the argument replaces: it may be said as
 *                                                   "20 euros more than now" or "a week later"; with
 *                                                   "shares": { "half of the balance": 0.5 } as one of these parts of the field
 *       "undoes": "banking_freeze_card",            nobody asks for this on something right after that tool
 *       "others": "author" } },                     the field of a row that says whose it is; nobody asks for it with their own
 *   "reasons": ["I am going through my money matters."] }   fillers for any tool of the server; `reasons` are whole sentences
 * ```
 * - `(a|b|)` chooses an alternative; alternatives may nest. `{key}` is a slot. There is no other
 *   markup.
 * - `forms`, `again`, `missing` forms, `instead`, `otherwise` and `answer` are clauses: lower case,
 *   without a final full stop. A clause that ends in `?` is a question and becomes a sentence of
 *   its own. Clauses name every required argument of the tool (a `missing` form all but that one);
 *   naming an optional one uses it. `{ "say": "…", "with": { "unread": true } }` fixes arguments
 *   that are not said, and `{ "say": "which cards are there?", "reply": ["{items}."] }` has replies
 *   of its own.
 * - `{ "say": "when was {order} placed?", "made": false }` is not said of an entity that the
 *   conversation itself created.
 * - A clause that begins with a verb may be framed by the persona ("could you …?"); one that begins
 *   with `I`, `on`, `if` or the like is not.
 * - A pronoun of an entity (`again`) replaces its whole mention: write forms that read well with
 *   "it".
 * - `reply`, `empty` and `refused` are whole sentences. Their slots are fields of the result
 *   (`{balance}`, `{event.title}`), otherwise arguments as the user said them; `{count}` and
 *   `{items}` count and list the result's first list, each row by `item`; `{why}` is the text of a
 *   refusal.
 * - A reply may be restricted to some results: `{ "say": "Yes, it is open.", "if": { "status":
 *   "open" } }`, or `"if": { "status": ["open", "new"] }`, or `{count}` by `"if": { "count": 1 }`,
 *   or a number by a bound, `"if": { "balance": "<0" }`; `{balance.size}` is the number without its
 *   minus. A matching reply goes before those without an `if`. A reply in which two slots have the
 *   same words ("off instead of off") is skipped.
 * - `item` may be a list like `reply`, with conditions on the row: `[{ "say": "{dish} (sold out)",
 *   "if": { "sold_out": true } }, "{dish}"]`.
 * - A `missing` question (`ask`) may use what the form has said: `"When should {title} begin?"`.
 * - Several replies become one message: an opening "Done, " is kept only in the first, sentences
 *   about the same entity continue with "It", similar ones with "and so is". So write each reply as
 *   one or two whole sentences that stand alone, mostly without "Done".
 * - Money (fields such as amount, price, balance, total, or described in euros) is said with cents
 *   if it has any, other numbers as they are; `1 files` becomes 1 file, "9 March at 10:30 until 9
 *   March at 11:00" says its day once, and days and times are put into words.
 * - Ids are not said: an entity is said by its mention, unless its ids are declared as spoken.
 */
import { z } from "zod";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Server, Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import { findSlots, listAlternatives } from "./templateText.ts";

const jsonSchema = z.json() as z.ZodType<Json>;

const textsSchema = z.array(z.string().min(1)).min(1);

const replySchema = z.union([
  z.string().min(1),
  z.strictObject({ say: z.string().min(1), if: z.record(z.string(), jsonSchema) }),
]);

export const repliesSchema = z.array(replySchema).min(1);

export const clauseSchema = z.union([
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
  missing: z
    .record(
      z.string(),
      z.strictObject({ forms: clausesSchema, ask: textsSchema, answer: textsSchema }),
    )
    .optional(),
  instead: z.record(z.string(), textsSchema).optional(),
  otherwise: z.record(z.string(), textsSchema).optional(),
  reply: repliesSchema.optional(),
  reasons: textsSchema.optional(),
  empty: textsSchema.optional(),
  item: z.union([z.string(), repliesSchema]).optional(),
  refused: z.record(z.string(), textsSchema).optional(),
  needs: z.record(z.string(), jsonSchema).optional(),
  computed: z
    .record(
      z.string(),
      z.strictObject({
        of: z.string(),
        shares: z.record(z.string(), z.number().gt(0)).optional(),
      }),
    )
    .optional(),
  undoes: z.string().optional(),
  others: z.string().optional(),
});

const serverTemplatesSchema = z.strictObject({
  format: z.literal("prove/templates@1"),
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
      valuesBy: z.record(z.string(), z.array(jsonSchema).min(1)).optional(),
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

export const getTemplateText = (template: ClauseTemplate): string =>
  typeof template === "string" ? template : template.say;

/** The arguments that the clause fixes without saying them. */
export const getFixedArguments = (template: ClauseTemplate): JsonObject =>
  typeof template === "string" ? {} : (template.with ?? {});

/** Whether a clause is not for entities that the conversation itself created. */
export const excludesCreatedEntities = (template: ClauseTemplate): boolean =>
  typeof template !== "string" && template.made === false;

/** The replies that suit this clause better than those of its tool. */
export const getOwnReplies = (template: ClauseTemplate): readonly ReplyTemplate[] | undefined =>
  typeof template === "string" ? undefined : template.reply;

/** The values and words of a plain argument: those of the tool's argument, else of the key. */
export const findArgumentTemplates = (templates: ServerTemplates, tool: string, key: string) =>
  templates.arguments[`${tool}.${key}`] ?? templates.arguments[key];

/** Parses the text of a templates file. Throws a `UserError` that names the first error. */
export function parseTemplates(server: Server, text: string, file: string): ServerTemplates {
  const templates = parseJson(serverTemplatesSchema, text, { file, noun: "a templates file" });
  const error = findTemplateErrors(templates, server)[0];
  if (error !== undefined)
    throw new UserError(`${file}${locateText(text, error)}: ${error}`, "correct that template");
  return templates;
}

/** `:LINE`, where the template that an error quotes is in the file; empty if it quotes none. */
function locateText(file: string, error: string): string {
  const quoted = error.match(/"(.*)" /)?.[1];
  if (quoted === undefined) return "";
  const written = JSON.stringify(quoted);
  const line = file.split("\n").findIndex(it => it.includes(written));
  return line < 0 ? "" : `:${line + 1}`;
}

// Checks the templates of a server against the tools that they are for.

/** Returns one message per error. */
export function findTemplateErrors(
  templates: ServerTemplates,
  server: Pick<Server, "name" | "tools">,
): string[] {
  const errors: string[] = [];
  if (templates.server !== server.name)
    errors.push(`server is ${templates.server}, not ${server.name}`);
  for (const [name, it] of Object.entries(templates.tools)) {
    const tool = server.tools.get(name);
    if (!tool) errors.push(`${server.name} has no tool ${name}`);
    else errors.push(...checkToolTemplates(tool, it).map(error => `${name}: ${error}`));
  }
  return [...errors, ...checkEntityTemplates(templates)];
}

function checkEntityTemplates({ entities }: ServerTemplates): string[] {
  const errors: string[] = [];
  for (const [name, it] of Object.entries(entities))
    for (const text of it.again ?? [])
      if (findSlots(text).length > 0)
        errors.push(`entity ${name}: "${text}" is an again form with a slot`);
  for (const [name, it] of Object.entries(entities))
    for (const text of it.short ?? [])
      if (findSlots(text).some(slot => slot !== "first" && slot !== "lower"))
        errors.push(
          `entity ${name}: "${text}" is a short form with other slots than {first} and {lower}`,
        );
  return errors;
}

type MissingTemplates = NonNullable<ToolTemplates["missing"]>[string];

function checkToolTemplates(tool: Tool, templates: ToolTemplates): string[] {
  const errors = templates.forms.flatMap(it => [
    ...findUnknownSlots(getTemplateText(it), tool),
    ...findUnsaidArguments(it, tool),
    ...findClauseErrors(getTemplateText(it)),
  ]);
  errors.push(
    ...(templates.again ?? [])
      .map(getTemplateText)
      .flatMap(it => [...findUnknownSlots(it, tool), ...findClauseErrors(it)]),
  );
  for (const [key, it] of Object.entries(templates.missing ?? {}))
    errors.push(...checkMissingTemplates(key, it, tool));
  for (const kind of ["instead", "otherwise"] as const)
    for (const [key, list] of Object.entries(templates[kind] ?? {}))
      errors.push(
        ...list
          .filter(text => !findSlots(text).includes(key))
          .map(text => `${kind} "${text}" does not say {${key}}`),
      );
  return errors;
}

function checkMissingTemplates(
  key: string,
  { forms, ask, answer }: MissingTemplates,
  tool: Tool,
): string[] {
  const isSaid = (text: string) => findSlots(text).includes(key);
  return [
    ...(listRequiredKeys(tool).includes(key) ? [] : [`missing ${key} is no required argument`]),
    ...forms.flatMap(it => [
      ...findUnknownSlots(getTemplateText(it), tool),
      ...findUnsaidArguments(it, tool, key),
      ...findClauseErrors(getTemplateText(it)),
    ]),
    ...forms
      .map(getTemplateText)
      .filter(isSaid)
      .map(text => `"${text}" says ${key}, which it should leave out`),
    ...ask.flatMap(text => findUnknownSlots(text, tool)),
    ...ask.filter(isSaid).map(text => `"${text}" says what it asks for`),
    ...answer.filter(text => !isSaid(text)).map(text => `"${text}" does not answer with {${key}}`),
  ];
}

function findUnknownSlots(text: string, tool: Tool): string[] {
  const keys = Object.keys((tool.inputSchema["properties"] ?? {}) as object);
  return findSlots(text)
    .filter(it => !keys.includes(it))
    .map(it => `"${text}" has a slot {${it}} that is no argument`);
}

function findUnsaidArguments(template: ClauseTemplate, tool: Tool, withheld?: string): string[] {
  const text = getTemplateText(template);
  const keys = [...findSlots(text), ...Object.keys(getFixedArguments(template))];
  return listRequiredKeys(tool)
    .filter(key => key !== withheld && !keys.includes(key))
    .map(key => `"${text}" does not say ${key}`);
}

const listRequiredKeys = (tool: Tool) => (tool.inputSchema["required"] ?? []) as readonly string[];

// Checks whether a clause is either a question or a request, so that it can be put into a turn.

const questionWord =
  /^(what|which|who|whom|whose|whoever|whatever|how|where|why|is|are|am|was|were|does|did|has|will|would|should)\b/;

const requestWord = /^(show|list|tell|give|open|find|look|read)\b/;

/**
 * Returns the errors of a clause. A question that does not end in `?` would be framed as a request
 * ("could you what was its price"), and so would a request that follows a question.
 */
export function findClauseErrors(text: string): string[] {
  const clauses = listAlternatives(text);
  const advice = 'say it as a request: "show me …"';
  if (clauses.some(continuesAfterQuestion))
    return [`"${text}" continues after a question; make it two clauses, or ${advice}`];
  if (clauses.some(it => requestWord.test(it) && it.endsWith("?")))
    return [`"${text}" is a request that ends in ?; leave the question mark out`];
  if (clauses.some(it => questionWord.test(it) && !/\?["”]?$/.test(it)))
    return [`"${text}" begins like a question; end it in ? or ${advice}`];
  return [];
}

/** Whether there are words after a question mark, apart from one in a quotation. */
const continuesAfterQuestion = (clause: string): boolean =>
  /\?(?!$)/.test(clause.replaceAll(/["“][^"“”]*["”]/g, '""'));
