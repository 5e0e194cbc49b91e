/**
 * What a server of a workspace, `prove/servers/NAME/server.ts`, imports from `prove-rl/server`. The
 * package exports this module, so its names change only with a note in the changelog.
 */
import { z } from "zod";
import { defineServer as define } from "../environment/server.ts";
import { findReason } from "../storage/schemaIssue.ts";

export { z };
export {
  createToolFactory,
  findEntity,
  refuse,
  type Invariant,
  type Server,
  type ToolContext,
} from "../environment/server.ts";
export {
  cents,
  day,
  id,
  label,
  minute,
  money,
  phrase,
  rowLimit,
  rowTotal,
  sensitive,
  spokenId,
} from "../environment/fieldSchemas.ts";
export {
  defineConstantRule,
  defineRule,
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChangedRows,
  listChanges,
  listRemovedRows,
} from "../environment/invariants.ts";
export { roundToCents, sumAmounts } from "../environment/amounts.ts";
export { addDays, addMinutes, daysBetween } from "../environment/time.ts";
export { containsText, containsWords } from "../environment/textSearch.ts";
export { listChangedNames } from "./kit/changes.ts";
export {
  ascending,
  contains,
  containsAll,
  createTableFactory,
  descending,
  equals,
  getSchemas,
  meets,
  refersTo,
  type RowContext,
} from "./kit/table.ts";

const shape = z.record(
  z.string(),
  z.custom(it => it instanceof z.core.$ZodType, "must be a schema of zod"),
);
const callable = z.custom(it => typeof it === "function", "must be a function");

/** What types say about a definition, for code whose types nobody checks. */
const definitionSchema = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]{1,30}$/),
  category: z.string().min(1),
  summary: z.string().min(1),
  schema: z.custom(it => it instanceof z.core.$ZodType, "must be a schema of zod"),
  references: z.record(z.string(), z.string()).optional(),
  tools: z.record(
    z.string().regex(/^[a-z][a-z0-9_]*$/),
    z.object({
      effect: z.enum(["read", "write"]),
      summary: z.string().min(1),
      input: shape,
      returns: shape,
      requires: z.array(z.string()).optional(),
      run: callable,
    }),
  ),
  invariants: z.array(z.object({ rule: z.string(), findViolation: callable })).optional(),
});

/** Defines a server. Throws if the definition is not complete. */
export const defineServer: typeof define = definition => {
  const { error } = definitionSchema.safeParse(definition);
  if (error) {
    const { path, message } = findReason(error);
    throw new Error(`${["the server", ...path].join(".")}: ${message}`);
  }
  return define(definition);
};
