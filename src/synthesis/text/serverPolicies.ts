/**
 * Reads `resources/servers/<name>/policies.json`, the rules that a task on the server may have.
 *
 * A rule is about `tools`, or about all tools that write, or that delete or overwrite (`effect`).
 * Its condition (`if`) may give several limits or hours, one of which a task has: `{limit}`, or
 * `{from}` and `{to}`, in its texts.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { getTextFile, type Server, type Tool } from "../../environment/server.ts";
import { weekdays } from "../../environment/time.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import type { RuleCondition, TaskRule } from "../../trajectory/taskRules.ts";
import { UserError } from "../../userError.ts";

const hoursSchema = z.tuple([z.string(), z.string()]);

const conditionSchema = z.union([
  z.strictObject({ argument: z.string(), above: z.array(z.number()).min(1) }),
  z.strictObject({ argument: z.string(), outsideHours: z.array(hoursSchema).min(1) }),
  z.strictObject({ argument: z.string(), onDays: z.array(z.enum(weekdays)).min(1) }),
  z.strictObject({
    argument: z.string(),
    is: z.array(z.union([z.string(), z.number(), z.boolean()])).min(1),
  }),
]);

const ruleSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z-]*$/),
  demands: z.enum(["confirm", "never"]),
  tools: z.array(z.string()).min(1).optional(),
  effect: z.enum(["write", "destructive"]).optional(),
  if: conditionSchema.optional(),
  text: z.string().min(1),
  because: z.string().min(1),
});

const policiesSchema = z.strictObject({
  format: z.literal("prove/policies@1"),
  rules: z.array(ruleSchema).min(1),
});

/** A rule of a server, with each of the forms that a task can have it in, the strictest first. */
export interface ServerRule {
  readonly id: string;
  /** Whether it is about every tool that writes. */
  readonly isGeneral: boolean;
  readonly forms: readonly TaskRule[];
}

/**
 * The rules of a server, none without a file. Throws a `UserError` that names the first rule with
 * an unknown tool or argument, or with texts that do not fit its condition.
 */
export function readServerRules(folder: string, server: Server): readonly ServerRule[] {
  const file = getTextFile(folder, server, "policies.json");
  if (!existsSync(file)) return [];
  return readJsonFile(policiesSchema, file).rules.map(rule => {
    const isMeant = (tool: Tool) =>
      rule.effect === "write" ? tool.effect === "write" : tool.destructive;
    const tools = rule.tools ?? [...server.tools.values()].filter(isMeant).map(it => it.name);
    const problem = findProblem({ ...rule, tools }, server);
    if (problem !== undefined)
      throw new UserError(`${file}: rule ${rule.id} ${problem}`, "correct that rule");
    return {
      id: rule.id,
      isGeneral: rule.effect === "write",
      forms: listForms({ ...rule, tools }),
    };
  });
}

type Rule = Omit<z.infer<typeof ruleSchema>, "tools"> & { readonly tools: string[] };

function findProblem({ tools, effect, if: condition, text, because }: Rule, server: Server) {
  if (tools.length === 0) return "is about no tool";
  const unknown = tools.find(it => !server.tools.has(it));
  if (unknown !== undefined) return `names ${unknown}, which ${server.name} does not have`;
  const takes = (tool: string, key: string) =>
    Object.hasOwn((server.tools.get(tool)!.inputSchema["properties"] ?? {}) as object, key);
  if (condition && !effect && !tools.some(it => takes(it, condition.argument)))
    return `depends on ${condition.argument}, which none of its tools takes`;
  const slots = [...`${text} ${because}`.matchAll(/\{(\w+)\}/g)].map(it => it[1]!);
  const known =
    condition && "above" in condition
      ? ["limit"]
      : condition && "outsideHours" in condition
        ? ["from", "to"]
        : [];
  const slot = slots.find(it => !known.includes(it));
  return slot === undefined
    ? undefined
    : `has the slot {${slot}}, which its condition does not fill`;
}

function listForms({ id, demands, tools, if: condition, text, because }: Rule): TaskRule[] {
  const create = (own: RuleCondition | undefined, slots: Readonly<Record<string, unknown>>) => {
    const fill = (it: string) =>
      it.replaceAll(/\{(\w+)\}/g, (_, slot: string) => String(slots[slot]));
    return {
      id,
      text: fill(text),
      because: fill(because),
      tools,
      ...(own ? { if: own } : {}),
      demands,
    };
  };
  if (!condition) return [create(undefined, {})];
  const { argument } = condition;
  if ("above" in condition)
    return condition.above
      .toSorted((a, b) => a - b)
      .map(limit => create({ argument, above: limit }, { limit }));
  if ("outsideHours" in condition)
    return condition.outsideHours
      .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
      .map(([from, to]) => create({ argument, outsideHours: [from, to] }, { from, to }));
  return [create(condition, {})];
}

/** The rules of each server, by name. */
export const readRulesOfServers = (
  resources: string,
  servers: Iterable<readonly [string, Server]>,
): ReadonlyMap<string, readonly ServerRule[]> =>
  new Map(
    [...servers].map(([name, it]) => [name, readServerRules(join(resources, "servers"), it)]),
  );
