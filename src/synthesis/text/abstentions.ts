/**
 * Reads resources/abstentions.json, the texts of conversations in which no tool should be called:
 * requests that no tool can fulfil, messages that need no tool, and replies where a tool is
 * missing.
 *
 * A text is a whole message. Its slots are an entity of the server with a label (`{account}`, or
 * another name for it in `entities`), a word of `values` (`{city}`), a number (`{a}`, `{b}`, their
 * `{sum}` and product `{times}`), or the one of `{name}` and `{city}` that is first alphabetically
 * (`{first}`). A request that no tool can fulfil has an `it`, as in "I can't {it}", and names in
 * `doneBy` the servers that do have a tool for it and are therefore not on the menu. Messages that
 * need no tool have replies of their own: the first for the first text, and so on.
 *
 * `arrival` is for users who bring the missing tool later: sentences that say so, and clauses that
 * ask again.
 *
 * `forbidden` is for requests that a rule of the task forbids, and `confirmation` for those that it
 * wants confirmed: `{because}` is the rule's reason, `{Because}` the same with a capital letter.
 *
 * `unmade` has frames for requests that the user does not make after all: `{clause}` is a request
 * as in the templates of a server, `{Clause}` the same with a capital letter, a sentence of its
 * own. `on` names the requests that it suits. `secondThoughts` are sentences `before` or
 * `after` a request that is made; they have words of such frames.
 */
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "../../storage/parseJson.ts";

const textsSchema = z.array(z.string().min(1)).min(1);
const unavailableSchema = z.strictObject({
  say: textsSchema,
  it: z.string(),
  doneBy: textsSchema.optional(),
});
const noToolSchema = z.strictObject({ say: textsSchema, reply: textsSchema });

const abstentionsSchema = z.strictObject({
  format: z.literal("prove/abstentions@1"),
  missingCapability: z.strictObject({
    request: textsSchema,
    question: textsSchema,
    deed: textsSchema,
    several: z.strictObject({ question: textsSchema, deed: textsSchema }),
    rest: z.strictObject({ question: textsSchema, deed: textsSchema }),
    again: z.strictObject({ request: textsSchema, question: textsSchema, deed: textsSchema }),
    thing: textsSchema,
    goOn: textsSchema,
    forbidden: z.strictObject({ request: textsSchema, plain: textsSchema }),
    insist: z.strictObject({ says: textsSchema, replies: textsSchema }),
    arrival: z.strictObject({
      says: textsSchema,
      asks: z.strictObject({ read: textsSchema, write: textsSchema }),
    }),
  }),
  confirmation: z.strictObject({
    request: textsSchema,
    plain: textsSchema,
    agree: textsSchema,
  }),
  cannot: textsSchema,
  values: z.record(z.string(), textsSchema),
  never: z.array(unavailableSchema),
  idle: z.array(noToolSchema),
  servers: z.record(
    z.string(),
    z.strictObject({ never: z.array(unavailableSchema), idle: z.array(noToolSchema) }),
  ),
  entities: z.record(z.string(), z.string()),
  unmade: z.array(
    z.strictObject({
      on: z.enum(["read", "write", "question", "any"]),
      say: textsSchema,
      reply: textsSchema,
    }),
  ),
  secondThoughts: z.array(
    z.strictObject({
      on: z.enum(["read", "write", "any"]),
      before: textsSchema,
      after: textsSchema,
    }),
  ),
  asking: textsSchema,
});

export type Abstentions = z.infer<typeof abstentionsSchema>;

/** Reads abstentions.json. Throws a `UserError` that names the first invalid value. */
export const readAbstentions = (resources: string): Abstentions =>
  readJsonFile(abstentionsSchema, join(resources, "abstentions.json"));
