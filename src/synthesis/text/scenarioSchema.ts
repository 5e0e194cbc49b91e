/**
 * The format of resources/servers/<server>/scenarios.json and of the scenario files of a workspace:
 * what users come for, as conversations with a purpose.
 *
 * ```
 * { "format": "prove/scenarios@1",
 *   "scenarios": [
 *   { "name": "lost-card",
 *     "motive": ["My wallet is gone.", "I (lost|cannot find) my card."],   a sentence that opens the conversation
 *     "turns": [                                     two to seven
 *       [{ "as": "card", "tool": "banking_freeze_card", "say": ["freeze {card_id} (right away|)"] }],
 *       [{ "as": "look", "tool": "banking_get_account", "say": [{ "say": "what is left on {account_id}?", "reply": ["There are {balance} euros."] }] },
 *        { "tool": "banking_transfer", "say": ["if it is more than {limit}, move {amount} to {to_account}"],
 *          "from": { "from_account": "look.account_id" },
 *          "if": { "of": "look", "field": "balance", "is": "over", "else": ["That is not more than {limit}, so I have left it."] } }],
 *       [{ "tool": "banking_unfreeze_card", "from": { "card_id": "card" }, "revises": "card",
 *          "say": ["I have found it, unfreeze it again"], "chance": 0.5 }] ] } ] }
 * ```
 * - A step asks for one call of `tool`. `say` has its clauses, in the syntax of templates
 *   (`templateSchema.ts`); without it, those of the tool's templates are used. A clause need not
 *   name an argument that `from`, `values` or `choose` determines. Other arguments are chosen so that the
 *   call succeeds on the live session.
 * - `as` names a step, so that later ones can refer to it.
 * - `from` says where an argument comes from: `step.key` is an argument of that step or else a
 *   field of its result (`step.booking.date`); `step` alone is one of the entities that it showed or named,
 *   or that those belong to, such as the account of a card.
 * - `values` lists values for an argument that fit the scenario better than those of the templates.
 * - `choose` takes the row of an earlier list with the least or the most of something:
 *   `{ "argument": "listing_id", "of": "list", "by": "price", "order": "least" }`.
 * - `each` asks for the same with two or three values of one argument: "invite Anna, Ben
 *   and Carla".
 * - `needs` restricts the result: `{ "count": ">1" }`, `{ "status": ["open", "new"] }`. `count` is
 *   the number of rows of its first list.
 * - `if` makes the call depend on what a look-up shows: an earlier step of the same turn (`of`), or
 *   a look-up that is not asked for on its own (`look`), whose arguments are those of the step that
 *   `from` names. `is` compares with a limit, which is drawn on either side of the live value and
 *   said as `{limit}`: over, under, at least, at most, before, after. `sets` names an argument of
 *   the step that gets the limit as its value. `equals` compares with values.
 *   `else` is what the assistant says if the condition does not hold; its slots are `{limit}`, the
 *   arguments of the look-up and the fields of its result. `reply` tells the value where the tool's
 *   own replies might not.
 * - `after` names a step without which this one makes no sense.
 * - `revises` names the step about which the user changes their mind.
 * - A step is said with the probability `chance` (1 if absent); a step that refers to one that was
 *   not said is left out.
 */
import { z } from "zod";
import type { Json } from "../../environment/json.ts";
import { clauseSchema, repliesSchema } from "./templateSchema.ts";

const jsonSchema = z.json() as z.ZodType<Json>;
const textsSchema = z.array(z.string().min(1)).min(1);
const nameSchema = z.string().regex(/^[a-z][a-z0-9-]*$/, "a name has small letters, digits and -");

export const comparisons = ["over", "under", "at least", "at most", "before", "after"] as const;

const conditionSchema = z.strictObject({
  of: nameSchema.optional(),
  look: z
    .strictObject({
      tool: z.string(),
      from: z.record(z.string(), z.string()).default({}),
      with: z.record(z.string(), jsonSchema).default({}),
    })
    .optional(),
  field: z.string().min(1),
  is: z.enum(comparisons).optional(),
  /** The largest limit that makes sense. */
  most: z.number().optional(),
  /** An argument of the step whose value is the limit: nobody bids more than what they set. */
  sets: z.string().optional(),
  equals: z.union([jsonSchema, z.array(jsonSchema).min(1)]).optional(),
  else: textsSchema,
  reply: repliesSchema.optional(),
});

const stepSchema = z.strictObject({
  as: nameSchema.optional(),
  tool: z.string(),
  say: z.array(clauseSchema).min(1).optional(),
  from: z.record(z.string(), z.string()).default({}),
  values: z.record(z.string(), z.array(jsonSchema).min(1)).default({}),
  choose: z
    .strictObject({
      argument: z.string(),
      of: nameSchema,
      by: z.string(),
      order: z.enum(["least", "most"]),
    })
    .optional(),
  each: z.string().optional(),
  needs: z.record(z.string(), jsonSchema).default({}),
  if: conditionSchema.optional(),
  after: nameSchema.optional(),
  revises: nameSchema.optional(),
  chance: z.number().gt(0).max(1).default(1),
});

const scenarioSchema = z.strictObject({
  name: nameSchema,
  motive: textsSchema,
  turns: z.array(z.array(stepSchema).min(1)).min(2).max(7),
});

export const scenariosSchema = z.strictObject({
  format: z.literal("prove/scenarios@1"),
  scenarios: z.array(scenarioSchema),
});

export type Scenario = z.infer<typeof scenarioSchema>;
export type ScenarioStep = z.infer<typeof stepSchema>;
export type ScenarioCondition = z.infer<typeof conditionSchema>;

/** The name of the step, and the key or path behind it, that a reference such as `look.balance` has. */
export function parseReference(reference: string): {
  readonly step: string;
  readonly path?: string;
} {
  const dot = reference.indexOf(".");
  return dot < 0
    ? { step: reference }
    : { step: reference.slice(0, dot), path: reference.slice(dot + 1) };
}

/** The names of the steps that must have been said before a step. */
export const listReferences = (step: ScenarioStep): string[] => [
  ...Object.values(step.from).map(it => parseReference(it).step),
  ...(step.choose ? [step.choose.of] : []),
  ...(step.if?.of === undefined ? [] : [step.if.of]),
  ...(step.after === undefined ? [] : [step.after]),
  ...(step.revises === undefined ? [] : [step.revises]),
];
