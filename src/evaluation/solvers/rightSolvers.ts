/**
 * Right solvers, which make all planned calls, each with habits of its own: they read with other
 * tools, make sure before they write, send calls together, or read lists otherwise than the
 * teacher.
 */
import { type PlannedCall, type SolverRun, type Steps, listRows } from "./solverRun.ts";
import { paraphraseTurn } from "./paraphrase.ts";
import type { Solver } from "./solver.ts";
import { listTaughtTurns } from "./taughtTurns.ts";
import { type Json, type JsonObject, canonicalJson } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { listArguments, listFieldNames, type Argument, returnsRows } from "./toolSchemas.ts";
import type { Call } from "../../environment/outcome.ts";
import { findEntityValues, type EntityId } from "../../trajectory/entities.ts";
import type { ShownResult } from "../../trajectory/knowledge.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";

interface Habits {
  /** The calls of a turn, in the order in which they are made. */
  readonly arrange?: (run: SolverRun, calls: readonly PlannedCall[]) => readonly PlannedCall[];
  /**
   * Makes a read in another way. Returns whether that showed what the read is for; if not, the
   * planned call is made.
   */
  readonly read?: (run: SolverRun, call: PlannedCall) => Steps<boolean>;
  /** What comes before a write. */
  readonly beforeWrite?: (run: SolverRun, call: PlannedCall) => Steps;
  /** The calls of the next message; those of one goal if absent. */
  readonly selectBatch?: (run: SolverRun, remaining: readonly PlannedCall[]) => PlannedCall[];
}

/** Creates the right solver with some habits. It also tries what the teacher tried in vain. */
export const createRightSolver = (
  name: string,
  summary: string,
  { arrange, read, beforeWrite, selectBatch = selectGoal }: Habits,
): Solver => ({
  name,
  kind: "right",
  summary,
  *solve(run) {
    if (arrange) run.differs = false;
    for (const [t, { calls, reply }] of run.turns.entries()) {
      let remaining = arrange?.(run, calls) ?? calls;
      const isOther =
        remaining.length !== calls.length || remaining.some((it, i) => it !== calls[i]);
      if (isOther) run.differs = true;
      const { length } = remaining;
      const givenUp = [...listTaughtTurns(run.task)[t]!.givenUp];
      for (;;) {
        const made = length - remaining.length;
        while (givenUp[0] && (givenUp[0].after <= made || remaining.length === 0))
          for (const it of givenUp.shift()!.calls)
            yield* run.call({ name: it.name, arguments: it.arguments });
        if (remaining.length === 0) break;
        const batch = selectBatch(run, remaining);
        remaining = remaining.filter(it => !batch.includes(it));
        const isDone = new Set<PlannedCall>();
        for (const it of batch) {
          if (it.isRead && read && (yield* read(run, it))) isDone.add(it);
          if (!it.isRead && beforeWrite && (yield* run.lookUpUnseen(it)))
            yield* beforeWrite(run, it);
        }
        yield* run.follow(...batch.filter(it => !isDone.has(it)));
      }
      // in another order, writes have other results than those that the teacher tells
      yield* run.reply(isOther ? paraphraseTurn(run, t) : reply);
    }
  },
});

const selectGoal = (_run: SolverRun, remaining: readonly PlannedCall[]): PlannedCall[] =>
  remaining.filter(it => it.goal === remaining[0]!.goal);

// A right solver that reads with other tools than the teacher where they show the same.

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

// Right solvers that make sure before they write, and one that sends calls together.

export const verifier = createRightSolver("verifier", "reads an entity again before each write", {
  beforeWrite: readAgain,
});

export const asker = createRightSolver("asker", "asks for permission before each write", {
  *beforeWrite(run, call) {
    // where a rule demands it, each call is confirmed anyway
    if (run.needsConfirmation(run.toCall(call))) return;
    const { name } = call;
    const words = name.slice(name.indexOf("_") + 1).replaceAll("_", " ");
    yield { text: `Shall I go ahead with this: ${words}?`, calls: [] };
  },
});

export const parallel = createRightSolver(
  "parallel",
  "makes calls that do not depend on each other in one message",
  { selectBatch: selectIndependent },
);

/** Reads the entities that a write takes, in one message. */
function* readAgain(run: SolverRun, call: PlannedCall): Steps {
  const tool = run.tools.get(call.name);
  if (!tool) return;
  const { ids } = findEntityValues(tool.inputSchema, run.toCall(call).arguments);
  const calls = new Map<string, Call>();
  for (const { entity, value } of ids) {
    const it =
      findReader(run, { server: tool.server, entity }, value) ?? findEarlierRead(run, value);
    if (it) calls.set(JSON.stringify(it), it);
  }
  yield* run.call(...calls.values());
}

/** A read that needs nothing but the entity's id. */
export function findReader(
  { tools }: SolverRun,
  { server, entity }: { readonly server: string; readonly entity: string },
  id: EntityId,
): Call | undefined {
  for (const tool of tools.values()) {
    if (tool.effect !== "read" || tool.server !== server) continue;
    const required = listArguments(tool).filter(it => it.isRequired);
    const [first] = required;
    if (required.length === 1 && first!.entity === entity && !first!.isList)
      return { name: tool.name, arguments: { [first!.key]: id } };
  }
  return undefined;
}

function findEarlierRead({ knowledge, tools }: SolverRun, id: EntityId): Call | undefined {
  const call = knowledge.findResultWith(id);
  return call && tools.get(call.name)?.effect === "read"
    ? { name: call.name, arguments: call.arguments }
    : undefined;
}

/**
 * The next calls that follow none of each other and whose values have been shown. Later look-ups
 * come along as long as only reads are before them.
 */
function selectIndependent(run: SolverRun, remaining: readonly PlannedCall[]): PlannedCall[] {
  const batch: PlannedCall[] = [remaining[0]!];
  const waiting = new Set<number>();
  let hasLeftOut = false;
  for (const it of remaining.slice(1)) {
    const isFree =
      [...it.after].every(goal => !waiting.has(goal) && !batch.some(of => of.goal === goal)) &&
      run.listUnseen(it).length === 0;
    if (isFree && (!hasLeftOut || it.isLookUp)) batch.push(it);
    else {
      hasLeftOut = true;
      waiting.add(it.goal);
      if (!it.isRead) break;
    }
  }
  return batch;
}

// Right solvers that read lists otherwise than the teacher: whole lists, filtered ones, or short
// pages.

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

export const fullReader = createRightSolver(
  "full-reader",
  "reads every list with the largest limit",
  { read: readAll },
);

/** Reads a list with its largest limit, unless the user names another one. */
function* readAll(run: SolverRun, call: PlannedCall): Steps<boolean> {
  const tool = findListTool(run, call);
  if (!tool || !(yield* run.lookUpUnseen(call))) return false;
  const { name, arguments: args } = run.toCall(call);
  const [whole] = withLargestLimit(tool, args);
  const limit = findLimit(tool);
  if (!whole || !limit) return false;
  if (Object.hasOwn(args, limit.key) && args[limit.key] !== whole[limit.key]) return false;
  return yield* readGrowing(run, call, name, [whole]);
}

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
