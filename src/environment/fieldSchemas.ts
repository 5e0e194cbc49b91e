/**
 * Schemas for the fields of tools and states. They declare what a field is about as `x-…` keywords
 * inside the published JSON Schema, so that one definition gives types, validation, the MCP listing
 * and the dependency graph.
 */
import { z } from "zod";

/**
 * A string that identifies an entity: `id("account")`. An output field with it can supply every
 * input field that takes the same entity.
 */
export const id = (entity: string) => z.string().min(1).max(80).meta({ "x-entity": entity });

/** Like `id`, for identifiers that people know and use, such as a path or an order number. */
export const spokenId = (entity: string) => id(entity).meta({ "x-spoken": true });

/**
 * The name by which people refer to an entity. As an optional input it makes a tool a look-up:
 * label in, id out.
 */
export const label = (entity: string) => z.string().min(1).max(200).meta({ "x-label": entity });

/** A field whose value must come from an earlier message or result, such as a password or a PIN. */
export const sensitive = <T extends z.ZodType>(schema: T): T =>
  schema.meta({ "x-sensitive": true });

/** What a person writes, of that length and not only spaces. */
export const phrase = (min: number, max: number) => z.string().min(min).max(max).regex(/\S/);

/** The largest number of rows that a list returns. */
export const rowLimit = (defaultCount: number, max = 50) =>
  z.int().min(1).max(max).optional().describe(`At most this many, ${defaultCount} if not given`);

/**
 * How many rows match in all, whether the limit leaves some out or not. `lists` are the fields of
 * the result that hold the rows, `x-total-of` in the published schema.
 */
export const rowTotal = (...lists: readonly [string, ...string[]]) =>
  z
    .int()
    .min(0)
    .describe(`Rows of ${lists.join(", ")} in all, with those that are left out`)
    .meta({ "x-total-of": lists });

/** A calendar day that exists, `YYYY-MM-DD`. */
export const day = () => z.iso.date({ error: "must be a day that exists, YYYY-MM-DD" });

/** A minute that exists, `YYYY-MM-DDTHH:MM`, in the session's own time. */
export const minute = () =>
  z.iso
    .datetime({
      local: true,
      precision: -1,
      error: "must be a minute that exists, YYYY-MM-DDTHH:MM",
    })
    .refine(it => !it.endsWith("Z"), "must be in the session's own time, without Z");

/** The time of a session, which must be able to advance without leaving the four-digit years. */
export const clock = () =>
  minute().refine(it => it >= "1000" && it < "9900", "must be in the years 1000 to 9899");

/**
 * Whole cents, positive or negative. The check is not part of the published schema: common
 * validators compute JSON Schema's multipleOf in binary, where 3048.95 is not a multiple of 0.01.
 */
export const cents = () => requireCents(z.number());

/** An amount of money to move: whole cents, from 0.01 to a million. */
export const money = () => requireCents(z.number().min(0.01).max(1_000_000));

const requireCents = (amount: z.ZodNumber) =>
  amount.refine(it => Math.round(it * 100) / 100 === it, {
    error: "must have at most two decimals",
  });
