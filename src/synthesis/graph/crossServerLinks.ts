/**
 * Bridges between servers, read from resources/bridges.json: what one tool's result may pass on to
 * a tool of another server, and the clauses in which people wish for that. Knows no sessions:
 * whether a value really flows is tried elsewhere.
 *
 * ```
 * { "format": "prove/bridges@1", "bridges": [ {
 *     "name": "bill-into-budget",
 *     "from": "banking_pay_bill", "with": { … },      the call that shows the value, and arguments of it that are always the same
 *     "needs": ["arrive_by"], "without": ["month"],   optional arguments that the first call must have and must not have
 *     "second": true,                                 walked only where another bridge has just led to the first call
 *     "to": "budget_add_expense", "fixed": { … },     the call that takes it
 *     "fill": { "amount": "paid" },                   argument of `to` <- path in the result (`goals.0.missing`, `lines.last.text`),
 *                                                     or `=minutes`, an argument of the first call
 *     "never": { "to": ["Ana Ruiz"] },                values that make no sense, by argument of `to`
 *     "like": { "title": "^[^?]+$" },                 the makes of values that do, by argument of `to`
 *     "cases": [ { "from.payee_id": "Clearwater", "category_id": ["Water and power"] } ],
 *                                                     values that belong together, one drawn from a list; a thing goes by its label
 *     "forms": ["…{from.invoice_id}…{channel_id}…"],  the wish alone: the first call goes unsaid, what it is about is named
 *     "after": ["note that under {category_id}"],     the wish right after the first call was asked for, in its turn or in the next
 *     "reply": ["{from.total} is …"],                 whole sentences; `{from.…}` are fields of the first result, others as in phrases
 *     "added": ["It is …"] } ] }                      the same after an `after`, where the first call has been answered already
 * ```
 * Clauses follow the rules of phrases (phrase.ts). `{from.key}` in a clause is an argument of the
 * first call, as people name it; a value that flows is never said in a clause, only in replies. A
 * first call that changes something cannot go unsaid.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Catalog } from "../../environment/catalog.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import { findSlots } from "../text/templates.ts";

const json = z.json() as z.ZodType<Json>;
const texts = z.array(z.string().min(1)).min(1);
const reply = z.union([
  z.string().min(1),
  z.strictObject({ say: z.string().min(1), if: z.record(z.string(), json) }),
]);
const replies = z.array(reply).min(1);

const bridgeSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  from: z.string(),
  with: z.record(z.string(), json).optional(),
  needs: texts.optional(),
  without: texts.optional(),
  second: z.literal(true).optional(),
  to: z.string(),
  fixed: z.record(z.string(), json).optional(),
  fill: z.record(z.string(), z.string()),
  never: z.record(z.string(), z.array(json).min(1)).optional(),
  like: z.record(z.string(), z.string()).optional(),
  cases: z.array(z.record(z.string(), json)).min(1).optional(),
  forms: texts.optional(),
  after: texts.optional(),
  reply: replies,
  added: replies.optional(),
});

const bridgesSchema = z.strictObject({
  format: z.literal("prove/bridges@1"),
  bridges: z.array(bridgeSchema),
});

export type CrossServerLink = z.infer<typeof bridgeSchema>;

/**
 * The bridges of a resources folder whose servers the catalog has all; none where there is no such
 * file. Throws a `Mistake` that names the first flaw.
 */
export function readCrossServerLinks(
  resources: string,
  catalog: Catalog,
): readonly CrossServerLink[] {
  const file = join(resources, "bridges.json");
  return existsSync(file) ? parseCrossServerLinks(readFileSync(file, "utf8"), catalog, file) : [];
}

/** Reads a bridges file's text. Throws a `Mistake` that names the file and the first flaw. */
export function parseCrossServerLinks(
  text: string,
  catalog: Catalog,
  file: string,
): readonly CrossServerLink[] {
  const { bridges } = parseJson(bridgesSchema, text, {
    file,
    noun: "a file of cross-server links",
  });
  const flaw = findLinkErrors(bridges, catalog)[0];
  if (flaw !== undefined) throw new UserError(`${file}: ${flaw}`, "mend that bridge");
  return bridges;
}

/** What is wrong with bridges for these servers, a line each. */
export function findLinkErrors(bridges: readonly CrossServerLink[], catalog: Catalog): string[] {
  const twice = bridges
    .filter((it, i) => bridges.findIndex(other => other.name === it.name) < i)
    .map(it => `there are two bridges ${it.name}`);
  return [
    ...twice,
    ...bridges.flatMap(it => findErrorsInLink(it, catalog).map(flaw => `${it.name}: ${flaw}`)),
  ];
}

function findErrorsInLink(bridge: CrossServerLink, catalog: Catalog): string[] {
  const [from, to] = [catalog.tools.get(bridge.from), catalog.tools.get(bridge.to)];
  if (!from || !to) return [`there is no tool ${from ? bridge.to : bridge.from}`];
  const { forms, after, fill } = bridge;
  const flaws: string[] = [];
  if (from.server === to.server) flaws.push(`${from.name} and ${to.name} are of one server`);
  if (!forms && !after) flaws.push("it has neither forms nor after");
  if (forms && from.effect === "write")
    flaws.push(`${from.name} changes something, so it has to be asked for: it can have no forms`);
  const [keysFrom, keysTo] = [keysOf(from), keysOf(to)];
  for (const key of [
    ...Object.keys(bridge.with ?? {}),
    ...(bridge.needs ?? []),
    ...(bridge.without ?? []),
  ])
    if (!keysFrom.includes(key)) flaws.push(`${from.name} takes no ${key}`);
  for (const key of [...Object.keys(fill), ...Object.keys(bridge.fixed ?? {})])
    if (!keysTo.includes(key)) flaws.push(`${to.name} takes no ${key}`);
  for (const [key, path] of Object.entries(fill))
    if (
      path.startsWith("=")
        ? !keysFrom.includes(path.slice(1))
        : !Object.hasOwn(propertiesOf(from.outputSchema), path.split(".")[0]!)
    )
      flaws.push(`${from.name} shows no ${path} for ${key}`);
  for (const key of [...Object.keys(bridge.never ?? {}), ...Object.keys(bridge.like ?? {})])
    if (!(key in fill)) flaws.push(`${key} does not flow, and cannot be kept from some values`);
  for (const key of (bridge.cases ?? []).flatMap(it => Object.keys(it)))
    if (!(key.startsWith("from.") ? keysFrom.includes(key.slice(5)) : keysTo.includes(key)))
      flaws.push(`a case names ${key}, which is no argument`);
  const given = [...Object.keys(fill), ...Object.keys(bridge.fixed ?? {})];
  for (const it of [...(forms ?? []), ...(after ?? [])])
    flaws.push(...findErrorsInClause(it, given, keysFrom, keysTo, requiredOf(to)));
  for (const it of forms ?? [])
    for (const key of requiredOf(from))
      if (!(key in (bridge.with ?? {})) && !findSlots(it).includes(`from.${key}`))
        flaws.push(`"${it}" does not name {from.${key}}`);
  return flaws;
}

function findErrorsInClause(
  text: string,
  given: readonly string[],
  keysFrom: readonly string[],
  keysTo: readonly string[],
  required: readonly string[],
): string[] {
  const slots = findSlots(text);
  const own = slots.filter(it => !it.startsWith("from."));
  return [
    ...slots
      .filter(it => it.startsWith("from.") && !keysFrom.includes(it.slice(5)))
      .map(it => `"${text}" has a slot {${it}} that is no argument`),
    ...own
      .filter(it => !keysTo.includes(it))
      .map(it => `"${text}" has a slot {${it}} that is no argument`),
    ...own.filter(it => given.includes(it)).map(it => `"${text}" says {${it}}, which should flow`),
    ...required
      .filter(it => ![...own, ...given].includes(it))
      .map(it => `"${text}" does not say ${it}`),
  ];
}

const propertiesOf = (schema: JsonObject): JsonObject => (schema["properties"] ?? {}) as JsonObject;
const keysOf = (tool: Tool): string[] => Object.keys(propertiesOf(tool.inputSchema));
const requiredOf = (tool: Tool) => (tool.inputSchema["required"] ?? []) as readonly string[];

/** The value at a path of a result; a step into a list is an index or `last`. */
export function getValueAt(value: Json, path: string): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path.split(".")) {
    if (at === null || typeof at !== "object") return undefined;
    if (Array.isArray(at)) at = at.at(step === "last" ? -1 : Number(step)) as Json | undefined;
    else at = Object.hasOwn(at, step) ? (at as JsonObject)[step] : undefined;
  }
  return at;
}
