/**
 * Reads `resources/servers/<name>/policies.json`: the rules that a task on the server may have, and
 * what a page about the server says besides.
 *
 * A rule is about `tools`, or about all tools that write, or that delete or overwrite (`effect`).
 * Its condition (`if`) may give several limits or hours, one of which a task has: `{limit}`, or
 * `{from}` and `{to}`, in its texts.
 *
 * A statement of the page says what the server refuses. `{terms.return_days}` in it is the number
 * at that path of the server's state. Its example shows that it is true: the calls on the fixture,
 * of which the last one is refused with that message.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { getTextFile, type Server, type Tool } from "../../environment/server.ts";
import { weekdays } from "../../environment/time.ts";
import { findLine, parseJson } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { getDeclarations } from "../graph/declarations.ts";
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

const textsSchema = z.array(z.string().min(1)).min(1);

/**
 * What the user has to say before a call: a reason, some of which the rule accepts, or a field of
 * the entity that the call is about, as `{value}` in `say`. `others` are not accepted: other
 * reasons, or that the user does not know. `about` are words of a question for it.
 */
const proofSchema = z.union([
  z.strictObject({
    ask: textsSchema,
    about: textsSchema,
    accepted: textsSchema,
    others: textsSchema,
  }),
  z.strictObject({
    ask: textsSchema,
    about: textsSchema,
    entity: z.string(),
    field: z.string(),
    say: textsSchema,
    others: textsSchema,
  }),
]);

export type ProofTexts = z.infer<typeof proofSchema>;

const ruleSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z-]*$/),
  demands: z.enum(["confirm", "never", "proof"]),
  proof: proofSchema.optional(),
  tools: z.array(z.string()).min(1).optional(),
  effect: z.enum(["write", "destructive"]).optional(),
  if: conditionSchema.optional(),
  text: z.string().min(1),
  because: z.string().min(1),
});

const callSchema = z.strictObject({
  name: z.string(),
  arguments: z.record(z.string(), z.json()),
});

const statementSchema = z.strictObject({
  say: z.string().min(1),
  example: z.strictObject({
    fixture: z.string(),
    calls: z.array(callSchema).min(1),
    refused: z.string(),
  }),
});

const pageSchema = z.strictObject({
  title: z.string().min(1),
  sections: z
    .array(
      z.strictObject({ title: z.string().min(1), statements: z.array(statementSchema).min(1) }),
    )
    .min(1),
});

const policiesSchema = z.strictObject({
  format: z.literal("prove/policies@1"),
  rules: z.array(ruleSchema).min(1),
  page: pageSchema.optional(),
});

/** A rule of a server, with each of the forms that a task can have it in, the strictest first. */
export interface ServerRule {
  readonly id: string;
  /** Whether it is about every tool that writes. */
  readonly isGeneral: boolean;
  /** What a rule that demands a proof accepts. */
  readonly proof?: ProofTexts | undefined;
  readonly forms: readonly TaskRule[];
}

/** What a page says about a server besides its rules. */
export type ServerPage = z.infer<typeof pageSchema>;

export interface ServerPolicies {
  readonly rules: readonly ServerRule[];
  readonly page?: ServerPage | undefined;
}

/**
 * The rules of a server and its page, none without a file. Throws a `UserError` with the line of
 * the first rule or statement that names an unknown tool or argument, or whose texts do not fit.
 */
export function readServerPolicies(folder: string, server: Server): ServerPolicies {
  const file = getTextFile(folder, server, "policies.json");
  if (!existsSync(file)) return { rules: [] };
  const text = readTextFile(file);
  const { rules, page } = parseJson(policiesSchema, text, { file, noun: "a policies file" });
  const fail = (path: readonly PropertyKey[], problem: string): never => {
    throw new UserError(`${file}:${findLine(text, path)}: ${problem}`, "correct that entry");
  };
  const forms = rules.map((rule, i) => {
    const isMeant = (tool: Tool) =>
      rule.effect === "write" ? tool.effect === "write" : tool.destructive;
    const tools = rule.tools ?? [...server.tools.values()].filter(isMeant).map(it => it.name);
    const problem = findProblem({ ...rule, tools }, server);
    if (problem !== undefined) fail(["rules", i], `rule ${rule.id} ${problem}`);
    return {
      id: rule.id,
      isGeneral: rule.effect === "write",
      proof: rule.proof,
      forms: listForms({ ...rule, tools }),
    };
  });
  if (page && rules.every(it => it.demands === "confirm"))
    fail(["page"], "the page needs a rule that decides more than what is confirmed");
  for (const [s, { statements }] of (page?.sections ?? []).entries())
    for (const [i, { example }] of statements.entries())
      for (const [c, call] of example.calls.entries()) {
        const problem = findCallProblem(call, server);
        const at = ["page", "sections", s, "statements", i, "example", "calls", c];
        if (problem !== undefined) fail(at, problem);
      }
  return { rules: forms, page };
}

type Rule = Omit<z.infer<typeof ruleSchema>, "tools"> & { readonly tools: string[] };

const takes = ({ inputSchema }: Tool, key: string): boolean =>
  Object.hasOwn((inputSchema["properties"] ?? {}) as object, key);

function findProblem(rule: Rule, server: Server): string | undefined {
  const { tools, effect, if: condition, text, because, demands, proof } = rule;
  if ((demands === "proof") !== (proof !== undefined))
    return "has a proof if and only if it demands one";
  if (proof && "entity" in proof) {
    const problem = findFieldProblem(proof, server);
    if (problem !== undefined) return problem;
  }
  if (tools.length === 0) return "is about no tool";
  const unknown = tools.find(it => !server.tools.has(it));
  if (unknown !== undefined) return `names ${unknown}, which ${server.name} does not have`;
  if (condition && !effect && !tools.some(it => takes(server.tools.get(it)!, condition.argument)))
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

/** Why no result of the server shows the field of the entity. */
function findFieldProblem(
  { entity, field }: Extract<ProofTexts, { field: string }>,
  server: Server,
): string | undefined {
  const declarations = [...getDeclarations(server).values()];
  if (!declarations.some(it => it.outputs.some(of => of.entity === entity)))
    return `wants a field of a ${entity}, which no result of ${server.name} shows`;
  const isShown = declarations.some(
    it =>
      it.outputs.some(of => of.entity === entity) &&
      JSON.stringify(it.tool.outputSchema).includes(`"${field}":`),
  );
  return isShown ? undefined : `wants ${field} of a ${entity}, which no result shows`;
}

function findCallProblem(
  { name, arguments: args }: z.infer<typeof callSchema>,
  server: Server,
): string | undefined {
  const tool = server.tools.get(name);
  if (!tool) return `the example calls ${name}, which ${server.name} does not have`;
  const key = Object.keys(args).find(it => !takes(tool, it));
  return key === undefined ? undefined : `the example passes ${key}, which ${name} does not take`;
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

/** The rules and pages of the servers, by name. */
export const readPoliciesOfServers = (
  resources: string,
  servers: Iterable<readonly [string, Server]>,
): ReadonlyMap<string, ServerPolicies> =>
  new Map(
    [...servers].map(([name, it]) => [name, readServerPolicies(join(resources, "servers"), it)]),
  );
