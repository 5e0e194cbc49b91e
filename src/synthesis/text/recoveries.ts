/**
 * The format of resources/servers/<server>/recoveries.json: what an assistant can do when a call is
 * refused, and what users say that allows it.
 *
 * ```
 * { "format": "prove/recoveries@1", "server": "banking",
 *   "repairs": [{ "of": ["banking_withdraw"],            calls that are refused
 *       "refused": "is frozen",                          a regular expression on the message and, on the next line, the hint
 *       "by": "banking_unfreeze_card",                   the tool that puts it right, so that the same call works afterwards
 *       "arguments": { "card_id": { "argument": "card_id" }, "last_digits": { "fact": "last_digits" } },
 *       "isHarmless": true,                              users would expect it without being asked
 *       "say": ["if nobody has it yet, give it to me"],  what allows it, where there is more than one way; general words otherwise
 *       "told": ["{card_id} was frozen, so I unfroze it first."] }],
 *   "hints": [{ "of": ["banking_withdraw"], "refused": "(?<most>[\\d.]+) is left for today",
 *       "change": { "amount": { "hint": "most" } },      what changes in the call, so that it works
 *       "say": ["or as much as I may take out today"], "told": ["Only {amount} was possible today."] }],
 *   "apart": { "event": ["the {words} event on {start}"] },   an entity by words that fit several, and by a field that tells it apart
 *   "moved": [{ "entity": "file",                        files that are in another folder than the user says
 *       "by": "filesystem_find", "argument": "name",      the look-up that finds one by its name
 *       "say": ["I may have moved it since"], "told": ["{name} is in {folder} now."] }],
 *   "outdated": { "event": { "field": "start",             a field that has changed since the user looked
 *       "say": ["it was on {start} when I last looked"], "told": ["{label} is on {start} now."] } } }
 * ```
 * - An argument comes from an argument of the refused call, from a field (`fact`) of an entity that
 *   it names, from a named group of the expression (`hint`), or is a fixed `value`.
 * - `told` are whole sentences with the slots of a reply: what the assistant says afterwards. After
 *   several repairs, it says one sentence for each.
 * - Whatever is declared is tried on a fork of the live session before a user says anything, and is
 *   used only if it works there.
 */
import { z } from "zod";
import { existsSync } from "node:fs";
import { getTextFile, type Server, type Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";

const textsSchema = z.array(z.string().min(1)).min(1);

const sourceSchema = z.union([
  z.strictObject({ argument: z.string() }),
  z.strictObject({ fact: z.string() }),
  z.strictObject({ hint: z.string() }),
  z.strictObject({ value: z.json() }),
]);

const expressionSchema = z.string().refine(isExpression, "is no regular expression");

function isExpression(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

const repairSchema = z.strictObject({
  of: textsSchema,
  refused: expressionSchema,
  by: z.string(),
  arguments: z.record(z.string(), sourceSchema),
  isHarmless: z.literal(true).optional(),
  say: textsSchema.optional(),
  told: textsSchema,
});

const hintSchema = z.strictObject({
  of: textsSchema,
  refused: expressionSchema,
  change: z.record(z.string(), sourceSchema),
  say: textsSchema,
  told: textsSchema,
});

const movedSchema = z.strictObject({
  entity: z.string(),
  by: z.string(),
  argument: z.string(),
  say: textsSchema,
  told: textsSchema,
});

const outdatedSchema = z.strictObject({
  field: z.string(),
  say: textsSchema,
  told: textsSchema,
});

const serverRecoveriesSchema = z.strictObject({
  format: z.literal("prove/recoveries@1"),
  server: z.string(),
  repairs: z.array(repairSchema).optional(),
  hints: z.array(hintSchema).optional(),
  apart: z.record(z.string(), textsSchema).optional(),
  moved: z.array(movedSchema).optional(),
  outdated: z.record(z.string(), outdatedSchema).optional(),
});

export type ServerRecoveries = z.infer<typeof serverRecoveriesSchema>;
export type Repair = z.infer<typeof repairSchema>;
export type ArgumentSource = z.infer<typeof sourceSchema>;

// Reads and checks what a server declares about recovering from refusals.

/** Reads recoveries.json from a server's folder; a server without one declares nothing. */
export function readRecoveries(folder: string, server: Server): ServerRecoveries {
  const file = getTextFile(folder, server, "recoveries.json");
  return existsSync(file)
    ? parseRecoveries(server, readTextFile(file), file)
    : { format: "prove/recoveries@1", server: server.name };
}

/** Parses the text of a recoveries file. Throws a `UserError` that names the first error. */
export function parseRecoveries(server: Server, text: string, file: string): ServerRecoveries {
  const recoveries = parseJson(serverRecoveriesSchema, text, { file, noun: "a recoveries file" });
  const error = findRecoveryErrors(recoveries, server)[0];
  if (error !== undefined) throw new UserError(`${file}: ${error}`, "correct that recovery");
  return recoveries;
}

/** Checks tools, arguments and named groups. Returns one message per error. */
function findRecoveryErrors(recoveries: ServerRecoveries, server: Server): string[] {
  const { repairs = [], hints = [], moved = [] } = recoveries;
  const errors: string[] = [];
  if (recoveries.server !== server.name)
    errors.push(`server is ${recoveries.server}, not ${server.name}`);
  const getTool = (name: string): Tool | undefined => {
    const tool = server.tools.get(name);
    if (!tool) errors.push(`${server.name} has no tool ${name}`);
    return tool;
  };
  const checkArguments = (
    tool: Tool | undefined,
    of: readonly string[],
    refused: string,
    sources: Readonly<Record<string, ArgumentSource>>,
  ) => {
    const refusedTools = of.map(getTool);
    for (const [key, source] of Object.entries(sources)) {
      if (tool && !hasArgument(tool, key)) errors.push(`${tool.name} has no argument ${key}`);
      if ("argument" in source)
        for (const it of refusedTools)
          if (it && !hasArgument(it, source.argument))
            errors.push(`${it.name} has no argument ${source.argument}`);
      if ("hint" in source && !refused.includes(`(?<${source.hint}>`))
        errors.push(`"${refused}" has no group ${source.hint}`);
    }
  };
  for (const it of repairs) checkArguments(getTool(it.by), it.of, it.refused, it.arguments);
  for (const it of hints)
    for (const name of it.of) checkArguments(server.tools.get(name), [name], it.refused, it.change);
  for (const { by, argument } of moved) {
    const tool = getTool(by);
    if (tool && !hasArgument(tool, argument)) errors.push(`${by} has no argument ${argument}`);
  }
  return errors;
}

const hasArgument = (tool: Tool, key: string): boolean =>
  Object.hasOwn((tool.inputSchema["properties"] ?? {}) as object, key);
