/** A right solver that reads with other tools than the teacher where they show the same. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import type { PlannedCall } from "./plan.ts";
import { createRightSolver } from "./rightSolver.ts";
import type { SolverRun, Steps } from "./solverRun.ts";
import { listArguments, listFieldNames, type Argument } from "./toolSchemas.ts";
import { listRows } from "./values.ts";

export const alternativeReader = createRightSolver(
  "alternative-reader",
  "reads with another tool that shows the same",
  { read: readOtherwise },
);

/** Tries the first tool whose result could show what the call is for. */
function* readOtherwise(run: SolverRun, call: PlannedCall): Steps<boolean> {
  if (call.result === undefined || !(yield* run.lookUpUnseen(call))) return false;
  const fields = listNeededFields(call, call.result);
  if (fields.length === 0) return false;
  for (const tool of run.tools.values()) {
    if (tool.effect !== "read" || tool.name === call.name) continue;
    const shown = listFieldNames(tool.outputSchema);
    if (!fields.every(it => shown.has(it))) continue;
    const args = fillRequired(run, tool, run.toCall(call).arguments);
    if (!args) continue;
    const made = yield* run.read({ name: tool.name, arguments: args });
    return made !== undefined && run.isShownBy(call, [made]);
  }
  return false;
}

function listNeededFields({ isLookUp, flows }: PlannedCall, result: Json): string[] {
  const fields = listRows(result).flatMap(row =>
    Object.keys(row).filter(it => !isLookUp || flows.has(row[it] as never)),
  );
  return [...new Set(fields)];
}

/** The required arguments of a tool from those of the call that it replaces and from results. */
function fillRequired(run: SolverRun, tool: Tool, args: JsonObject): JsonObject | undefined {
  const filled: Record<string, Json> = {};
  for (const it of listArguments(tool)) {
    if (!it.isRequired) continue;
    const value = Object.hasOwn(args, it.key) ? args[it.key] : findId(run, it);
    if (value === undefined) return undefined;
    filled[it.key] = value;
  }
  return filled;
}

function findId({ knowledge }: SolverRun, { server, entity, isList }: Argument): Json | undefined {
  const id = entity === undefined ? undefined : knowledge.listIds(server, entity).at(-1);
  return id !== undefined && isList ? [id] : id;
}
