/**
 * The words of talks in which nothing is to be called, read from resources/abstentions.json: what
 * nothing on offer can do, what needs no tool, and what is said where a tool is missing. Knows no
 * sessions.
 *
 * A text is a whole message. Its slots are an entity of the server with a label (`{account}`, or
 * another name for it by `entities`), a word of `values` (`{city}`), a number (`{a}`, `{b}`, their
 * `{sum}` and product `{times}`), or the one of `{name}` and `{city}` that comes first in the
 * alphabet (`{first}`). What nothing can do has an `it`, as in "I can't {it}"; what needs no tool
 * has its own replies, the first to the first text and so on.
 */
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "../../storage/parseJson.ts";

const texts = z.array(z.string().min(1)).min(1);
const never = z.strictObject({ say: texts, it: z.string() });
const idle = z.strictObject({ say: texts, reply: texts });

const abstentionsSchema = z.strictObject({
  format: z.literal("prove/abstentions@1"),
  obstacles: z.strictObject({
    request: texts,
    question: texts,
    deed: texts,
    rest: z.strictObject({ question: texts, deed: texts }),
    again: z.strictObject({ request: texts, question: texts, deed: texts }),
    thing: texts,
    goOn: texts,
    unknown: texts,
  }),
  cannot: texts,
  values: z.record(z.string(), texts),
  never: z.array(never),
  idle: z.array(idle),
  servers: z.record(z.string(), z.strictObject({ never: z.array(never), idle: z.array(idle) })),
  entities: z.record(z.string(), z.string()),
  asking: texts,
});

export type Abstentions = z.infer<typeof abstentionsSchema>;

/**
 * Reads the words of a resources folder. Throws a `Mistake` with the first place that does not fit.
 */
export const readAbstentions = (resources: string): Abstentions =>
  readJsonFile(abstentionsSchema, join(resources, "abstentions.json"));
