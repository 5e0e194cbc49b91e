/** Checks scenarios against the tools that they are for. */
import type { Catalog } from "../../environment/catalog.ts";
import type { JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { findClauseErrors } from "./clauseErrors.ts";
import {
  parseReference,
  listReferences,
  type Scenario,
  type ScenarioStep,
} from "./scenarioSchema.ts";
import { getFixedArguments, getTemplateText } from "./templateSchema.ts";
import { findSlots } from "./templateText.ts";

/** An error and the path in the file where it is. */
export interface ScenarioError {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Returns the errors of a file's scenarios, in its order. */
export function findScenarioErrors(
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
  return [...errors, ...checkClauses(step, tool), ...checkCondition(step, place, named)];
}

function checkReference(reference: string, named: NamedSteps): string | undefined {
  const { step, path } = parseReference(reference);
  const tool = named.get(step)?.tool;
  if (!tool || path === undefined || listArguments(tool).includes(path)) return undefined;
  return isShown(tool, path) ? undefined : `${tool.name} neither takes nor shows ${path}`;
}

function checkClauses({ say = [], from, values, choose, if: condition }: ScenarioStep, tool: Tool) {
  const keys = listArguments(tool);
  const determined = [...Object.keys({ ...from, ...values }), ...(choose ? [choose.argument] : [])];
  const errors: ScenarioError[] = [];
  for (const [i, clause] of say.entries()) {
    const text = getTemplateText(clause);
    const slots = findSlots(text);
    const report = (message: string) => errors.push({ path: ["say", i], message });
    for (const it of slots)
      if (!keys.includes(it) && !(it === "limit" && condition?.is))
        report(`"${text}" has a slot {${it}} that is no argument`);
    for (const it of findClauseErrors(text)) report(it);
    const fixed = Object.keys(getFixedArguments(clause));
    for (const it of fixed.filter(key => !keys.includes(key)))
      report(`${tool.name} takes no ${it}`);
    for (const it of listRequiredKeys(tool))
      if (![...slots, ...fixed, ...determined].includes(it)) report(`"${text}" does not say ${it}`);
    if (condition?.is && !slots.includes("limit")) report(`"${text}" does not say {limit}`);
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
