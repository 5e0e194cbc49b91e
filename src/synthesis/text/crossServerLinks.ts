/**
 * Reads and checks the cross-server links in resources/crossServerLinks.json: which value in one
 * tool's result a tool of another server takes, and the clauses in which users ask for it. The user
 * simulator checks whether a value exists in a session.
 *
 * ```
 * { "format": "prove/crossServerLinks@1", "links": [ {
 *     "name": "bill-into-budget",
 *     "from": "banking_pay_bill", "with": { … },      the call that shows the value, and arguments that are always the same
 *     "needs": ["arrive_by"], "without": ["month"],   optional arguments that the first call must have and must not have
 *     "second": true,                                 used only where another link has just led to the first call
 *     "to": "budget_add_expense", "fixed": { … },     the call that takes the value, and arguments that are always the same
 *     "fill": { "amount": "paid" },                   argument of `to` <- path in the result (`goals.0.missing`, `lines.last.text`),
 *                                                     or `=minutes`, an argument of the first call
 *     "never": { "to": ["Ana Ruiz"] },                values that make no sense, by argument of `to`
 *     "like": { "title": "^[^?]+$" },                 patterns of values that do, by argument of `to`
 *     "cases": [ { "from.payee_id": "Clearwater", "category_id": ["Water and power"] } ],
 *                                                     values that belong together, one drawn from a list; an entity is given by its label
 *     "forms": ["…{from.invoice_id}…{channel_id}…"],  requests that leave the first call unsaid and name its entity
 *     "after": ["note that under {category_id}"],     requests right after the first call was asked for, in the same turn or the next
 *     "reply": ["{from.total} is …"],                 whole sentences; `{from.…}` are fields of the first result, others as in templates
 *     "added": ["It is …"] } ] }                      the same after an `after`, where the first call has been answered already
 * ```
 * Clauses follow the rules of templates (templates.ts). `{from.key}` in a clause is an
 * argument of the first call, as people name it. A value that is passed on is never said in a
 * clause, only in replies. A first call that writes must be asked for.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Catalog } from "../../environment/catalog.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import { findClauseErrors } from "./templates.ts";
import { findSlots } from "./templateText.ts";
import { readTextFile } from "../../storage/textFiles.ts";

const json = z.json() as z.ZodType<Json>;
const texts = z.array(z.string().min(1)).min(1);
const reply = z.union([
  z.string().min(1),
  z.strictObject({ say: z.string().min(1), if: z.record(z.string(), json) }),
]);
const replies = z.array(reply).min(1);

const linkSchema = z.strictObject({
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

const linksSchema = z.strictObject({
  format: z.literal("prove/crossServerLinks@1"),
  links: z.array(linkSchema),
});

export type CrossServerLink = z.infer<typeof linkSchema>;

/**
 * Reads the links between servers of the catalog; an empty list if there is no file. Throws a
 * `UserError` that names the first error.
 */
export function readCrossServerLinks(
  resources: string,
  catalog: Catalog,
): readonly CrossServerLink[] {
  const file = join(resources, "crossServerLinks.json");
  return existsSync(file) ? parseCrossServerLinks(readTextFile(file), catalog, file) : [];
}

/**
 * Parses the text of a links file. Throws a `UserError` that names the file and the first error.
 */
export function parseCrossServerLinks(
  text: string,
  catalog: Catalog,
  file: string,
): readonly CrossServerLink[] {
  const { links } = parseJson(linksSchema, text, { file, noun: "a file of cross-server links" });
  const error = findLinkErrors(links, catalog)[0];
  if (error !== undefined) throw new UserError(`${file}: ${error}`, "correct that link");
  return links;
}

/** Checks links against the servers of a catalog. Returns one message per error. */
function findLinkErrors(links: readonly CrossServerLink[], catalog: Catalog): string[] {
  const duplicates = links
    .filter((it, i) => links.findIndex(other => other.name === it.name) < i)
    .map(it => `there are two links ${it.name}`);
  return [
    ...duplicates,
    ...links.flatMap(it => checkLink(it, catalog).map(error => `${it.name}: ${error}`)),
  ];
}

function checkLink(link: CrossServerLink, catalog: Catalog): string[] {
  const [from, to] = [catalog.tools.get(link.from), catalog.tools.get(link.to)];
  if (!from || !to) return [`there is no tool ${from ? link.to : link.from}`];
  return [
    ...checkTools(link, from, to),
    ...checkArguments(link, from, to),
    ...checkClauses(link, from, to),
  ];
}

function checkTools({ forms, after }: CrossServerLink, from: Tool, to: Tool): string[] {
  const errors: string[] = [];
  if (from.server === to.server) errors.push(`${from.name} and ${to.name} are of one server`);
  if (!forms && !after) errors.push("it has neither forms nor after");
  if (forms && from.effect === "write")
    errors.push(`${from.name} changes something, so it has to be asked for: it can have no forms`);
  return errors;
}

function checkArguments(link: CrossServerLink, from: Tool, to: Tool): string[] {
  const { fill, fixed = {}, needs = [], without = [], never = {}, like = {}, cases = [] } = link;
  const [fromKeys, toKeys] = [listArguments(from), listArguments(to)];
  const isShown = (path: string) =>
    path.startsWith("=")
      ? fromKeys.includes(path.slice(1))
      : Object.hasOwn(getProperties(from.outputSchema), path.split(".")[0]!);
  const isArgument = (key: string) =>
    key.startsWith("from.") ? fromKeys.includes(key.slice(5)) : toKeys.includes(key);
  return [
    ...[...Object.keys(link.with ?? {}), ...needs, ...without]
      .filter(it => !fromKeys.includes(it))
      .map(it => `${from.name} takes no ${it}`),
    ...[...Object.keys(fill), ...Object.keys(fixed)]
      .filter(it => !toKeys.includes(it))
      .map(it => `${to.name} takes no ${it}`),
    ...Object.entries(fill)
      .filter(([, path]) => !isShown(path))
      .map(([key, path]) => `${from.name} shows no ${path} for ${key}`),
    ...[...Object.keys(never), ...Object.keys(like)]
      .filter(it => !(it in fill))
      .map(it => `${it} is not passed on, so its values cannot be restricted`),
    ...cases
      .flatMap(it => Object.keys(it))
      .filter(it => !isArgument(it))
      .map(it => `a case names ${it}, which is no argument`),
  ];
}

function checkClauses(link: CrossServerLink, from: Tool, to: Tool): string[] {
  const { forms = [], after = [], fill, fixed = {} } = link;
  const given = [...Object.keys(fill), ...Object.keys(fixed)];
  const isUnnamed = (form: string, key: string) =>
    !(key in (link.with ?? {})) && !findSlots(form).includes(`from.${key}`);
  return [
    ...[...forms, ...after].flatMap(it => checkClause(it, given, from, to)),
    ...forms.flatMap(form =>
      listRequiredKeys(from)
        .filter(key => isUnnamed(form, key))
        .map(key => `"${form}" does not name {from.${key}}`),
    ),
  ];
}

function checkClause(text: string, given: readonly string[], from: Tool, to: Tool): string[] {
  const slots = findSlots(text);
  const own = slots.filter(it => !it.startsWith("from."));
  const unknown = [
    ...slots.filter(it => it.startsWith("from.") && !listArguments(from).includes(it.slice(5))),
    ...own.filter(it => !listArguments(to).includes(it)),
  ];
  return [
    ...unknown.map(it => `"${text}" has a slot {${it}} that is no argument`),
    ...findClauseErrors(text),
    ...own.filter(it => given.includes(it)).map(it => `"${text}" says {${it}}, which should flow`),
    ...listRequiredKeys(to)
      .filter(it => ![...own, ...given].includes(it))
      .map(it => `"${text}" does not say ${it}`),
  ];
}

const getProperties = (schema: JsonObject): JsonObject =>
  (schema["properties"] ?? {}) as JsonObject;
const listArguments = (tool: Tool): string[] => Object.keys(getProperties(tool.inputSchema));
const listRequiredKeys = (tool: Tool) => (tool.inputSchema["required"] ?? []) as readonly string[];

/** The value at a path of a result. A step into a list is an index or `last`. */
export function getValueAt(value: Json, path: string): Json | undefined {
  let current: Json | undefined = value;
  for (const step of path.split(".")) {
    if (current === null || typeof current !== "object") return undefined;
    if (Array.isArray(current))
      current = current.at(step === "last" ? -1 : Number(step)) as Json | undefined;
    else current = Object.hasOwn(current, step) ? (current as JsonObject)[step] : undefined;
  }
  return current;
}
