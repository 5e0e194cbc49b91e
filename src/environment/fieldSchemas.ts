/**
 * The words in which a tool declares what its parameters and results are about. They travel inside
 * the published JSON Schema as `x-…` keywords, so one definition gives types, validation, the MCP
 * listing and the dependency graph.
 */
import { z } from "zod";

/**
 * A string that identifies an entity: `id("account")`. An output with it feeds every input that
 * takes the same entity.
 */
export const id = (entity: string) => z.string().min(1).max(80).meta({ "x-entity": entity });

/** As `id`, for identifiers that a person knows and says (a path, an order number). */
export const spokenId = (entity: string) => id(entity).meta({ "x-spoken": true });

/**
 * The words by which a person names an entity. As an optional input it makes a tool a look-up:
 * label in, id out.
 */
export const label = (entity: string) => z.string().min(1).max(200).meta({ "x-label": entity });

/**
 * A parameter whose value must be traceable to an earlier message or result (a password, a PIN).
 */
export const sensitive = <T extends z.ZodType>(schema: T): T =>
  schema.meta({ "x-sensitive": true });

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

/**
 * Whole cents, of either sign. The check is not published: JSON Schema's multipleOf is binary
 * arithmetic in the common validators, where 3048.95 is no multiple of 0.01.
 */
export const cents = () => inCents(z.number());

/** An amount of money to move: whole cents, at least one, at most a million. */
export const money = () => inCents(z.number().min(0.01).max(1_000_000));

const inCents = (amount: z.ZodNumber) =>
  amount.refine(it => Math.round(it * 100) / 100 === it, {
    error: "must have at most two decimals",
  });
