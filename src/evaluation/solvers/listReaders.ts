/**
 * Right solvers that read lists otherwise than the teacher: whole lists, filtered ones, or short
 * pages.
 */
import { canonicalJson, type JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import type { ShownResult } from "../../trajectory/knowledge.ts";
import type { PlannedCall } from "./plan.ts";
import { createRightSolver } from "./rightSolver.ts";
import type { SolverRun, Steps } from "./solverRun.ts";
import { listArguments, returnsRows, type Argument } from "./toolSchemas.ts";
import { listRows } from "./values.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";

export const lister = createRightSolver("lister", "reads whole lists instead of filtered ones", {
  read: readWholeList,
});

export const filterer = createRightSolver(
  "filterer",
  "filters lists by the names that the user said",
  { read: readByName },
);

export const pager = createRightSolver("pager", "reads short pages first, then longer ones", {
  read: readPages,
});

/** Drops the arguments that a list does not require. A list that is cut off is read in full. */
function* readWholeList(run: SolverRun, call: PlannedCall): Steps<boolean> {
  const tool = findListTool(run, call);
  if (!tool || !hasScalars(call) || !(yield* run.lookUpUnseen(call))) return false;
  const { name, arguments: args } = run.toCall(call);
  const required = listArguments(tool).flatMap(it => (it.isRequired ? [it.key] : []));
  const whole = Object.fromEntries(Object.entries(args).filter(([key]) => required.includes(key)));
  if (Object.keys(whole).length === Object.keys(args).length) return false;
  const place = `${name} ${canonicalJson(whole)}`;
  if (run.cutOffLists.has(place)) return false;
  if (yield* readGrowing(run, call, name, [whole, ...withLargestLimit(tool, whole)])) return true;
  run.cutOffLists.add(place);
  return false;
}

/** Reads three rows, then as many as the tool gives. */
function* readPages(run: SolverRun, call: PlannedCall): Steps<boolean> {
  const tool = findListTool(run, call);
  if (!tool || !hasScalars(call) || !(yield* run.lookUpUnseen(call))) return false;
  const { name, arguments: args } = run.toCall(call);
  const limit = findLimit(tool);
  if (!limit || Object.hasOwn(args, limit.key)) return false;
  const pages = [{ ...args, [limit.key]: 3 }, ...withLargestLimit(tool, args)];
  return yield* readGrowing(run, call, name, pages);
}

/** Filters a list by the names of the rows that are needed, if the user said them. */
function* readByName(run: SolverRun, call: PlannedCall): Steps<boolean> {
  const tool = findListTool(run, call);
  if (!tool || !call.isLookUp || !(yield* run.lookUpUnseen(call))) return false;
  const { name, arguments: args } = run.toCall(call);
  const filter = listArguments(tool).find(
    it => it.label !== undefined && !it.isRequired && !it.isList && !Object.hasOwn(args, it.key),
  );
  if (!filter) return false;
  const names = findNames(run, call, tool, filter);
  if (!names) return false;
  const results: ShownResult[] = [];
  for (const it of names) {
    const made = yield* run.read({ name, arguments: { ...args, [filter.key]: it } });
    if (made) results.push(made);
  }
  return run.isShownBy(call, results);
}

/** The names of the rows whose values later calls take; undefined if the user said not all. */
function findNames(
  run: SolverRun,
  { result, flows }: PlannedCall,
  tool: Tool,
  { label }: Argument,
): ReadonlySet<string> | undefined {
  if (result === undefined) return undefined;
  const fields = listLabelFields(tool.outputSchema, label!);
  const rows = listRows(result);
  const names = [...flows].map(value => {
    const row = rows.find(it => Object.values(it).includes(value));
    const name = row && fields.map(it => row[it]).find(it => typeof it === "string");
    return typeof name === "string" && run.knowledge.isSaid(name) ? name : undefined;
  });
  return names.includes(undefined) ? undefined : new Set(names as string[]);
}

/** The names of fields that hold the name of an entity. */
function listLabelFields(schema: JsonObject, entity: string): string[] {
  return Object.entries(schema).flatMap(([key, it]) => {
    if (it === null || typeof it !== "object" || Array.isArray(it)) return [];
    const inner = listLabelFields(it as JsonObject, entity);
    return (it as JsonObject)["x-label"] === entity ? [key, ...inner] : inner;
  });
}

/** Reads with each of the arguments until a result shows what the call is for. */
function* readGrowing(
  run: SolverRun,
  call: PlannedCall,
  name: string,
  versions: readonly JsonObject[],
): Steps<boolean> {
  for (const it of versions) {
    const made = yield* run.read({ name, arguments: it });
    if (made && run.isShownBy(call, [made])) return true;
  }
  return false;
}

const findListTool = (run: SolverRun, { name }: PlannedCall): Tool | undefined => {
  const tool = run.tools.get(name);
  return tool && returnsRows(tool) ? tool : undefined;
};

/** An empty result does not say which rows of a longer list would show the same. */
const hasScalars = ({ result }: PlannedCall) =>
  result !== undefined && listScalars(result).length > 0;

const findLimit = (tool: Tool): Argument | undefined =>
  listArguments(tool).find(
    it => it.key === "limit" && !it.isRequired && it.schema["type"] === "integer",
  );

function withLargestLimit(tool: Tool, args: JsonObject): JsonObject[] {
  const limit = findLimit(tool);
  const maximum = limit?.schema["maximum"];
  return limit ? [{ ...args, [limit.key]: typeof maximum === "number" ? maximum : 50 }] : [];
}
