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
import { z } from "zod";
import type { Json, JsonObject } from "../../environment/json.ts";

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
  item: z.string().optional(),
  refused: z.record(z.string(), textsSchema).optional(),
});

export const serverTemplatesSchema = z.strictObject({
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

export const getTemplateText = (it: ClauseTemplate): string =>
  typeof it === "string" ? it : it.say;

export const getFixedArguments = (it: ClauseTemplate): JsonObject =>
  typeof it === "string" ? {} : (it.with ?? {});

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
