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
 *   (`templates.ts`); without it, those of the tool's templates are used. A clause need not
 *   name an argument that `from`, `values` or `choose` determines. Other arguments are chosen so that the
 *   call succeeds on the live session.
 * - `as` names a step, so that later ones can refer to it.
 * - `from` says where an argument comes from: `step.key` is an argument of that step or else a
 *   field of its result (`step.booking.date`); `step` alone is one of the entities that it showed or named,
 *   or that those belong to, such as the account of a card.
 * - `values` lists values for an argument that fit the scenario better than those of the templates.
 * - `choose` takes the row of an earlier list with the least or the most of something:
 *   `{ "argument": "listing_id", "of": "list", "by": "price", "order": "least" }`. With `where`, only
 *   among the rows for which something holds: the cheapest of those over {limit} stars.
 * - `each` asks for the same with two or three values of one argument: "invite Anna, Ben
 *   and Carla".
 * - `compute` leaves a value to the assistant: `{ "argument": "amount", "is": "sum", "of": "list",
 *   "field": "amount" }`. `sum`, `average` and `count` are over the rows of an earlier list, or those
 *   for which `where` holds; `sum` and `average` also over references (`["a.price", "b.price"]`).
 *   `difference` (`of` less `minus`), `product` (`of` times `times`), `share` (`percent` of `of`, or
 *   one of its `parts`), `less` and `more` (`of` lowered or raised by `percent`, or by one of its
 *   `parts`) are of references. The clause says what to compute, with the slots
 *   `{percent}`, `{parts}` and `{limit}`, and never the value. `round` is the number of decimals
 *   that the clause asks for; without it, only values of at most two decimals are used.
 * - `rows` asks for the same with all rows of an earlier list for which something holds, two to
 *   eight: `{ "argument": "order_id", "of": "list", "where": { "field": "status", "equals": "open" } }`.
 *   `where` compares with one of the values in `limit`, said as `{limit}` (`is`: over, under), or
 *   with values (`equals`; what a row does not have is null). A `compute` beside it may refer to the
 *   row as `row.FIELD`: "lower the price of each of them by ten percent".
 * - `needs` restricts the result: `{ "count": ">1" }`, `{ "status": ["open", "new"] }`,
 *   `{ "location": "*" }` (any). `count` is the number of rows of its first list.
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
import type { Json, JsonObject } from "../../environment/json.ts";
import {
  clauseSchema,
  repliesSchema,
  findClauseErrors,
  getFixedArguments,
  getTemplateText,
} from "./templates.ts";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Catalog } from "../../environment/catalog.ts";
import { findLine, parseJson } from "../../storage/parseJson.ts";
import { withReadErrors } from "../../storage/fileErrors.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";
import { getTextFile, type Tool } from "../../environment/server.ts";
import { findSlots } from "./templateText.ts";

const jsonSchema = z.json() as z.ZodType<Json>;
const textsSchema = z.array(z.string().min(1)).min(1);
const nameSchema = z.string().regex(/^[a-z][a-z0-9-]*$/, "a name has small letters, digits and -");

const comparisons = ["over", "under", "at least", "at most", "before", "after"] as const;

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

/** Chooses rows of a list. */
const rowConditionSchema = z.strictObject({
  field: z.string().min(1),
  is: z.enum(["over", "under"]).optional(),
  /** What may be said as the limit. */
  limit: z.array(z.number()).min(1).optional(),
  equals: z.union([jsonSchema, z.array(jsonSchema).min(1)]).optional(),
});

const computationSchema = z.strictObject({
  argument: z.string(),
  is: z.enum(["sum", "average", "count", "difference", "product", "share", "less", "more"]),
  of: z.union([z.string(), z.array(z.string()).min(2)]),
  field: z.string().optional(),
  where: rowConditionSchema.optional(),
  minus: z.string().optional(),
  times: z.string().optional(),
  percent: z.array(z.number().gt(0)).min(1).optional(),
  parts: z.array(z.int().min(2).max(5)).min(1).optional(),
  round: z.int().min(0).max(2).optional(),
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
      where: rowConditionSchema.optional(),
    })
    .optional(),
  each: z.string().optional(),
  compute: computationSchema.optional(),
  rows: z
    .strictObject({ argument: z.string(), of: nameSchema, where: rowConditionSchema })
    .optional(),
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

const scenariosSchema = z.strictObject({
  format: z.literal("prove/scenarios@1"),
  scenarios: z.array(scenarioSchema),
});

type Scenario = z.infer<typeof scenarioSchema>;
export type ScenarioStep = z.infer<typeof stepSchema>;
export type RowCondition = z.infer<typeof rowConditionSchema>;
/** The name by which a computation beside `rows` refers to the row that a call is about. */
export const rowReference = "row";

export type ScenarioComputation = z.infer<typeof computationSchema>;
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

/** What a computation takes: references, or the name of a step with a list. */
const listOperands = (computation: ScenarioComputation | undefined): string[] =>
  computation ? [computation.of, computation.minus ?? [], computation.times ?? []].flat() : [];

/** The names of the steps that must have been said before a step. */
export const listReferences = (step: ScenarioStep): string[] => [
  ...Object.values(step.from).map(it => parseReference(it).step),
  ...(step.choose ? [step.choose.of] : []),
  ...(step.rows ? [step.rows.of] : []),
  ...listOperands(step.compute)
    .map(it => parseReference(it).step)
    .filter(it => !step.rows || it !== rowReference),
  ...(step.if?.of === undefined ? [] : [step.if.of]),
  ...(step.after === undefined ? [] : [step.after]),
  ...(step.revises === undefined ? [] : [step.revises]),
];

// Reads scenario files: those of servers, those over several servers, and those of a workspace.

/** A scenario with the servers that it needs, in the order in which they are first used. */
export interface ServerScenario extends Scenario {
  readonly servers: readonly string[];
}

interface ScenarioSource {
  /** The product's `resources` folder. */
  readonly resources: string;
  readonly catalog: Pick<Catalog, "tools" | "getServer">;
  /** Names of servers; scenarios that need others are left out. */
  readonly servers: readonly string[];
}

/**
 * Reads the scenarios of a file; without one, the shipped ones and those in `prove/scenarios` of
 * the workspace, which replace shipped ones of the same name.
 */
export function readChosenScenarios(
  source: ScenarioSource,
  prove: string,
  file?: string,
): ServerScenario[] {
  const { catalog, servers } = source;
  if (file !== undefined) {
    const scenarios = selectScenarios(readScenarioFile(file, catalog), servers);
    if (scenarios.length > 0) return scenarios;
    throw new UserError(
      `no scenario of ${file} is about these servers alone: ${servers.join(", ")}`,
      "choose the servers that its steps name",
    );
  }
  const folder = join(prove, "scenarios");
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter(it => it.endsWith(".json"))
        .toSorted()
    : [];
  const own = selectScenarios(
    files.flatMap(it => readScenarioFile(join(folder, it), catalog)),
    servers,
  );
  const shipped = readScenarios(source);
  return [...shipped.filter(it => !own.some(other => other.name === it.name)), ...own];
}

const readScenarioFile = (file: string, catalog: Pick<Catalog, "tools">): ServerScenario[] =>
  parseScenarios(
    withReadErrors(file, () => readTextFile(file)),
    file,
    catalog,
  );

const selectScenarios = (scenarios: readonly ServerScenario[], servers: readonly string[]) =>
  scenarios.filter(it => it.servers.every(name => servers.includes(name)));

/** Reads the shipped scenarios; those over several servers only for several servers. */
export function readScenarios({ resources, catalog, servers }: ScenarioSource): ServerScenario[] {
  const files = [
    ...servers.map(it =>
      getTextFile(join(resources, "servers"), catalog.getServer(it), "scenarios.json"),
    ),
    ...(servers.length > 1 ? [join(resources, "scenarios.json")] : []),
  ];
  const scenarios = files.filter(it => existsSync(it)).flatMap(it => readScenarioFile(it, catalog));
  return selectScenarios(scenarios, servers);
}

/** Parses the text of a scenario file. Throws a `UserError` that names the first error's line. */
export function parseScenarios(
  text: string,
  file: string,
  { tools }: Pick<Catalog, "tools">,
): ServerScenario[] {
  const { scenarios } = parseJson(scenariosSchema, text, {
    file,
    noun: "a scenario file",
    format: "prove/scenarios@1",
  });
  const error = findScenarioErrors(scenarios, tools)[0];
  if (error)
    throw new UserError(
      `${file}:${findLine(text, error.path)}: ${error.message}`,
      "correct that scenario; `prove-rl tools SERVER` lists the tools of a server",
    );
  return scenarios.map(it => ({
    ...it,
    servers: [...new Set(it.turns.flat().map(step => tools.get(step.tool)!.server))],
  }));
}

// Checks scenarios against the tools that they are for.

/** An error and the path in the file where it is. */
interface ScenarioError {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Returns the errors of a file's scenarios, in its order. */
function findScenarioErrors(
  scenarios: readonly Scenario[],
  tools: Catalog["tools"],
): ScenarioError[] {
  return scenarios.flatMap((scenario, s) => {
    const isTwice = scenarios.findIndex(it => it.name === scenario.name) < s;
    return [
      ...(isTwice
        ? [{ path: ["scenarios", s, "name"], message: "another scenario has this name" }]
        : []),
      ...checkScenario(scenario, tools).map(it => ({
        ...it,
        path: ["scenarios", s, "turns", ...it.path],
      })),
    ].map(it => ({ ...it, message: `scenario ${scenario.name}: ${it.message}` }));
  });
}

/** The tool of each named step so far, and the turn it is in. */
type NamedSteps = Map<string, { readonly tool: Tool | undefined; readonly turn: number }>;

function checkScenario({ turns }: Scenario, tools: Catalog["tools"]): ScenarioError[] {
  const named: NamedSteps = new Map();
  return turns.flatMap((steps, turn) =>
    steps.flatMap((step, i) => {
      const tool = tools.get(step.tool);
      const errors = tool
        ? checkStep(step, { tool, tools, turn }, named)
        : [{ path: ["tool"], message: `there is no tool ${step.tool}` }];
      if (step.as !== undefined) {
        if (step.as === rowReference)
          errors.push({
            path: ["as"],
            message: `${rowReference} means the row of a step with rows`,
          });
        if (named.has(step.as))
          errors.push({ path: ["as"], message: `two steps are named ${step.as}` });
        named.set(step.as, { tool, turn });
      }
      return errors.map(it => ({ ...it, path: [turn, i, ...it.path] }));
    }),
  );
}

interface StepPlace {
  readonly tool: Tool;
  readonly tools: Catalog["tools"];
  readonly turn: number;
}

function checkStep(step: ScenarioStep, place: StepPlace, named: NamedSteps): ScenarioError[] {
  const { tool } = place;
  const keys = listArguments(tool);
  const unknownSteps = listReferences(step).filter(it => !named.has(it));
  if (unknownSteps.length > 0)
    return [{ path: [], message: `no step before it is named ${unknownSteps[0]!}` }];
  const errors: ScenarioError[] = (["from", "values"] as const).flatMap(field =>
    Object.keys(step[field])
      .filter(it => !keys.includes(it))
      .map(it => ({ path: [field, it], message: `${tool.name} takes no ${it}` })),
  );
  for (const [key, reference] of Object.entries(step.from)) {
    const problem = checkReference(reference, named);
    if (problem !== undefined) errors.push({ path: ["from", key], message: problem });
  }
  if (step.choose && !keys.includes(step.choose.argument))
    errors.push({
      path: ["choose", "argument"],
      message: `${tool.name} takes no ${step.choose.argument}`,
    });
  if (step.each !== undefined && !keys.includes(step.each))
    errors.push({ path: ["each"], message: `${tool.name} takes no ${step.each}` });
  return [
    ...errors,
    ...checkComputation(step, tool, named),
    ...checkRows(step, tool, named),
    ...(step.choose?.where
      ? checkList({ ...step.choose, field: step.choose.by }, "choose", named)
      : []),
    ...checkClauses(step, tool),
    ...checkCondition(step, place, named),
  ];
}

function checkComputation(
  { compute: computation, say, rows }: ScenarioStep,
  tool: Tool,
  named: NamedSteps,
): ScenarioError[] {
  if (!computation) return [];
  const { argument, is, of, field, where, minus, times, percent, parts } = computation;
  const report = (message: string, key: string) => [{ path: ["compute", key], message }];
  if (!listArguments(tool).includes(argument))
    return report(`${tool.name} takes no ${argument}`, "argument");
  if (!say) return report("a step that computes needs clauses that say what", "argument");
  const isOverRows = is === "count" || field !== undefined;
  if (isOverRows && typeof of !== "string") return report("it counts the rows of one list", "of");
  if (isOverRows && !["sum", "average", "count"].includes(is))
    return report(`${is} is of references, not of a list`, "field");
  if (where && !isOverRows) return report("only rows are chosen", "where");
  if ((minus !== undefined) !== (is === "difference"))
    return report("difference needs it", "minus");
  if ((times !== undefined) !== (is === "product")) return report("product needs it", "times");
  if (((percent ?? parts) !== undefined) !== ["share", "less", "more"].includes(is))
    return report("share, less and more need percent or parts", "is");
  if (!isOverRows && ["sum", "average"].includes(is) && typeof of === "string")
    return report(`${is} needs a field of a list, or several references`, "field");
  if (isOverRows) return checkList({ of: of as string, field, where }, "compute", named);
  for (const it of listOperands(computation)) {
    const { step, path } = parseReference(it);
    if (rows && step === rowReference) {
      const errors = checkList({ of: rows.of, field: path, where: undefined }, "compute", named);
      if (errors.length > 0) return errors;
      continue;
    }
    const problem = checkReference(it, named);
    if (problem !== undefined) return report(problem, "of");
  }
  return [];
}

function checkRows(
  { rows, say, each, if: condition }: ScenarioStep,
  tool: Tool,
  named: NamedSteps,
) {
  if (!rows) return [];
  const report = (message: string) => [{ path: ["rows", "argument"], message }];
  if (!listArguments(tool).includes(rows.argument))
    return report(`${tool.name} takes no ${rows.argument}`);
  if (!say) return report("a step over rows needs clauses that say which");
  if (each !== undefined || condition) return report("rows go neither with each nor with if");
  return checkList({ of: rows.of, field: undefined, where: rows.where }, "rows", named);
}

/** Errors in how a step takes the rows of an earlier list. */
function checkList(
  { of, field, where }: Pick<ScenarioComputation, "field" | "where"> & { readonly of: string },
  key: string,
  named: NamedSteps,
): ScenarioError[] {
  const tool = named.get(of)?.tool;
  const fields = [...(field === undefined ? [] : [field]), ...(where ? [where.field] : [])];
  const shown = JSON.stringify(tool?.outputSchema ?? {});
  const unknown = fields.find(it => !shown.includes(JSON.stringify(it)));
  if (unknown !== undefined)
    return [{ path: [key, "of"], message: `${tool?.name ?? of} shows no ${unknown}` }];
  if (where && (where.is === undefined) === (where.equals === undefined))
    return [{ path: [key, "where"], message: "it needs either is or equals" }];
  return where && (where.is === undefined) !== (where.limit === undefined)
    ? [{ path: [key, "where"], message: "is and limit go together" }]
    : [];
}

function checkReference(reference: string, named: NamedSteps): string | undefined {
  const { step, path } = parseReference(reference);
  const tool = named.get(step)?.tool;
  if (!tool || path === undefined || listArguments(tool).includes(path)) return undefined;
  return isShown(tool, path) ? undefined : `${tool.name} neither takes nor shows ${path}`;
}

function checkClauses(step: ScenarioStep, tool: Tool) {
  const { say = [], from, values, choose, compute: computation, rows, if: condition } = step;
  const keys = listArguments(tool);
  // what the assistant finds out is not said
  const found = [computation, rows].flatMap(it => it?.argument ?? []);
  const determined = [
    ...Object.keys({ ...from, ...values }),
    ...(choose ? [choose.argument] : []),
    ...found,
  ];
  // one choice alone can be said in other words, such as "half"
  const needed = [
    ...(condition?.is ? ["limit"] : []),
    ...(((computation?.where ?? rows?.where ?? choose?.where)?.limit?.length ?? 0) > 1
      ? ["limit"]
      : []),
    ...((computation?.percent?.length ?? 0) > 1 ? ["percent"] : []),
    ...((computation?.parts?.length ?? 0) > 1 ? ["parts"] : []),
  ];
  const errors: ScenarioError[] = [];
  for (const [i, clause] of say.entries()) {
    const text = getTemplateText(clause);
    const slots = findSlots(text);
    const report = (message: string) => errors.push({ path: ["say", i], message });
    for (const it of slots)
      if (found.includes(it)) report(`"${text}" says {${it}}, which is to be found out`);
      else if (!keys.includes(it) && !needed.includes(it))
        report(`"${text}" has a slot {${it}} that is no argument`);
    for (const it of findClauseErrors(text)) report(it);
    const fixed = Object.keys(getFixedArguments(clause));
    for (const it of fixed.filter(key => !keys.includes(key)))
      report(`${tool.name} takes no ${it}`);
    for (const it of listRequiredKeys(tool))
      if (![...slots, ...fixed, ...determined].includes(it)) report(`"${text}" does not say ${it}`);
    for (const it of needed) if (!slots.includes(it)) report(`"${text}" does not say {${it}}`);
  }
  return errors;
}

function checkCondition(
  { if: condition, say }: ScenarioStep,
  { tool, tools, turn }: StepPlace,
  named: NamedSteps,
): ScenarioError[] {
  if (!condition) return [];
  const report = (message: string, ...path: string[]) => [{ path: ["if", ...path], message }];
  const { of, look, field, is, equals } = condition;
  if ((of === undefined) === (look === undefined)) return report("it needs either of or look");
  if ((is === undefined) === (equals === undefined)) return report("it needs either is or equals");
  if (!say) return report("a step with a condition needs clauses that say it");
  const lookUp = of === undefined ? tools.get(look!.tool) : named.get(of)?.tool;
  if (!lookUp) return report(`there is no tool ${look?.tool ?? ""}`, "look", "tool");
  if (lookUp.effect === "write") return report(`${lookUp.name} is no look-up`);
  if (of !== undefined && named.get(of)!.turn !== turn)
    return report(`${of} is in another turn, so the user knows its result already`, "of");
  if (field !== "count" && !isShown(lookUp, field))
    return report(`${lookUp.name} shows no ${field}`, "field");
  const keys = listArguments(lookUp);
  const unknown = [...Object.keys(look?.from ?? {}), ...Object.keys(look?.with ?? {})].find(
    it => !keys.includes(it),
  );
  if (unknown !== undefined) return report(`${lookUp.name} takes no ${unknown}`, "look");
  const given = [...Object.keys(look?.from ?? {}), ...Object.keys(look?.with ?? {})];
  const missing = look && listRequiredKeys(lookUp).find(it => !given.includes(it));
  if (missing !== undefined) return report(`the look-up does not give ${missing}`, "look");
  const untaken = Object.values(look?.from ?? {}).find(it => !listArguments(tool).includes(it));
  return untaken === undefined ? [] : report(`${tool.name} takes no ${untaken}`, "look", "from");
}

const getProperties = (schema: JsonObject): JsonObject =>
  (schema["properties"] ?? {}) as JsonObject;
const listArguments = (tool: Tool): string[] => Object.keys(getProperties(tool.inputSchema));
const listRequiredKeys = (tool: Tool) => (tool.inputSchema["required"] ?? []) as readonly string[];

/** Whether a tool's result has a field of this name, or one that may contain it. */
const isShown = ({ outputSchema }: Tool, path: string): boolean =>
  Object.hasOwn(getProperties(outputSchema), path.split(".")[0]!) ||
  !Object.hasOwn(outputSchema, "properties");
