/**
 * Right solvers that do what is asked in another order, in fewer calls, or after a question or a
 * look that the teacher did without.
 */
import { isJsonObject, type Json } from "../../environment/json.ts";
import { getProperties } from "../../environment/schemaKeywords.ts";
import type { Tool } from "../../environment/server.ts";
import { findEntityValues } from "../../trajectory/entities.ts";
import { findDueTurn, type Task } from "../../trajectory/task.ts";
import { askForValue } from "./paraphrase.ts";
import type { Solver } from "./solver.ts";
import type { PlannedCall, SolverRun, Steps } from "./solverRun.ts";
import { followTeacher, listTaughtTurns } from "./taughtTurns.ts";
import { type Argument, listArguments, listFieldNames } from "./toolSchemas.ts";
import { createRightSolver, findReader } from "./rightSolvers.ts";
import { fillArguments } from "./wrongSolvers.ts";

/** Whether a turn asks for more than the value that the teacher asks the user for. */
const asksAfterCalls = (task: Task, turn: number): boolean =>
  findDueTurn(task, turn) > turn && task.goals.some(it => it.turn === turn);

export const askFirst: Solver = {
  name: "ask-first",
  kind: "right",
  summary: "asks for a missing value before it does anything, then does all of it",
  isIdle: task => !task.turns.some((_, t) => asksAfterCalls(task, t)),
  *solve(run) {
    run.differs = true;
    const taught = listTaughtTurns(run.task);
    let waiting: PlannedCall[] = [];
    const left: string[] = [];
    for (const [t, { calls, reply }] of run.turns.entries()) {
      waiting.push(...calls);
      if (taught[t]!.isQuestion && findDueTurn(run.task, t) > t) {
        left.push(removeQuestions(reply));
        yield* run.reply(askForValue(run, t));
        continue;
      }
      for (const it of waiting) yield* run.follow(it);
      waiting = [];
      yield* run.reply([...left.splice(0), reply].filter(it => it !== "").join(" "));
    }
  },
};

const removeQuestions = (text: string): string =>
  text
    .split(/(?<=[.!?]["”’]?)\s+/)
    .filter(it => !/\?["”’]?$/.test(it))
    .join(" ");

export const looker: Solver = {
  name: "looker",
  kind: "right",
  summary: "looks once before it refuses or asks, where there is nothing to do",
  isIdle: ({ goals }) => goals.length > 0,
  *solve(run) {
    const reader = findOpenReader(run);
    run.differs = reader !== undefined;
    let hasLooked = false;
    yield* followTeacher(run, {
      *beforeReply() {
        if (reader && !hasLooked)
          yield* run.callAtOnce({ name: reader.name, arguments: fillArguments(run, reader) });
        hasLooked = true;
      },
    });
  },
};

/** A read that needs no id or name, of what a task is about or else of its server. */
function findOpenReader({ tools, task }: SolverRun): Tool | undefined {
  const unmet = task.turns.flatMap(it => it.unmet ?? []);
  const server = findServer(tools, unmet[0]?.name) ?? task.servers[0]?.name;
  const readers = [...tools.values()].filter(
    it =>
      it.server === server &&
      it.effect === "read" &&
      listArguments(it).every(
        ({ isRequired, entity, label, schema }) =>
          !isRequired ||
          (entity === undefined &&
            label === undefined &&
            (Array.isArray(schema["enum"]) || schema["format"] !== undefined)),
      ),
  );
  const wanted = unmet.flatMap(it => Object.keys(it.arguments));
  const showsWanted = ({ outputSchema }: Tool) => {
    const fields = listFieldNames(outputSchema);
    return wanted.some(it => fields.has(it));
  };
  return readers.find(showsWanted) ?? readers[0];
}

/** The server of a tool that may not be offered. */
const findServer = (tools: ReadonlyMap<string, Tool>, name: string | undefined) =>
  [...tools.values()].find(it => name?.startsWith(`${it.server}_`))?.server;

export const earlyReader = createRightSolver(
  "early-reader",
  "makes all look-ups of a turn before its first write",
  { arrange: (_run, calls) => readFirst(calls) },
);

/** The calls with the look-ups first that depend on no write of the same turn. */
function readFirst(calls: readonly PlannedCall[]): readonly PlannedCall[] {
  const late = new Set<number>();
  for (const { goal, isLookUp, after } of calls)
    if (!isLookUp || [...after].some(it => late.has(it))) late.add(goal);
  return [...calls.filter(it => !late.has(it.goal)), ...calls.filter(it => late.has(it.goal))];
}

export const reorderer = createRightSolver(
  "reorderer",
  "makes writes that do not depend on each other in another order",
  {
    arrange(_run, calls) {
      const order: PlannedCall[] = [];
      for (const it of readFirst(calls)) {
        let at = order.length;
        while (at > 0 && canSwap(order[at - 1]!, it)) at--;
        order.splice(at, 0, it);
      }
      const writes = calls.filter(it => !it.isRead);
      return order.filter(it => !it.isRead).some((it, i) => it !== writes[i]) ? order : calls;
    },
  },
);

/**
 * Whether two writes do not depend on each other. Those with different tools of one server may,
 * even if no value flows: a payment of what is left depends on a refund.
 */
const canSwap = (before: PlannedCall, after: PlannedCall): boolean =>
  !before.isRead &&
  !after.isRead &&
  before.goal !== after.goal &&
  !after.after.has(before.goal) &&
  (before.name === after.name || before.name.split("_")[0] !== after.name.split("_")[0]);

export const merger = createRightSolver(
  "merger",
  "makes one call where the teacher made a second one to set more",
  {
    arrange(run, calls) {
      const merged: PlannedCall[] = [];
      for (const it of calls) {
        const at = merged.findLastIndex(of => !of.isRead);
        const both = at < 0 || it.isRead ? undefined : mergeCalls(run, merged[at]!, it);
        if (both) merged[at] = both;
        else merged.push(it);
      }
      return merged;
    },
  },
);

/** One call that does what two do: creates something with all fields, or changes it once. */
function mergeCalls(
  { tools }: SolverRun,
  first: PlannedCall,
  second: PlannedCall,
): PlannedCall | undefined {
  const [tool, secondTool] = [tools.get(first.name), tools.get(second.name)];
  if (!tool || !secondTool || tool.server !== secondTool.server) return undefined;
  const ids = new Set(listArguments(secondTool).flatMap(it => (it.entity ? [it.key] : [])));
  const subject = Object.entries(second.arguments).find(
    ([key]) => ids.has(key) && listArguments(secondTool).find(it => it.key === key)?.isRequired,
  );
  if (!subject) return undefined;
  const [key, id] = subject;
  const { [key]: _, ...rest } = second.arguments;
  if (Object.keys(rest).length === 0) return undefined;
  const isSame = first.name === second.name && first.arguments[key] === id;
  const isNew =
    isJsonObject(first.result) &&
    !Object.hasOwn(getProperties(tool.inputSchema), key) &&
    findEntityValues(tool.outputSchema, first.result).ids.some(it => it.value === id);
  if (!isSame && !isNew) return undefined;
  const added: Record<string, Json> = {};
  for (const [name, value] of Object.entries(rest)) {
    const own = listArguments(tool).find(it => it.key === name);
    const list =
      own ??
      findListFor(
        tool,
        listArguments(secondTool).find(it => it.key === name),
      );
    if (!list || Object.hasOwn(first.arguments, list.key)) return undefined;
    added[list.key] = own ? value : [value];
  }
  return { ...first, arguments: { ...first.arguments, ...added } };
}

/** The argument of a tool that takes a list of what an argument of another one takes. */
const findListFor = (tool: Tool, other: Argument | undefined): Argument | undefined =>
  other &&
  listArguments(tool).find(
    ({ isList, entity, label }) =>
      isList && (entity ?? label) !== undefined && entity === other.entity && label === other.label,
  );

export const doubleChecker: Solver = {
  name: "double-checker",
  kind: "wasteful",
  summary: "reads once more after each write",
  *solve(run) {
    run.differs = false;
    yield* followTeacher(run, {
      *afterCalls(made): Steps {
        for (const { name, arguments: args, outcome } of made) {
          const tool = run.tools.get(name);
          if (outcome.kind !== "ok" || tool?.effect !== "write" || !isJsonObject(args)) continue;
          const ids = [
            ...findEntityValues(tool.inputSchema, args).ids,
            ...findEntityValues(tool.outputSchema, outcome.value).ids,
          ];
          const reader = ids
            .map(({ entity, value }) => findReader(run, { server: tool.server, entity }, value))
            .find(it => it !== undefined);
          if (!reader) continue;
          run.differs = true;
          yield* run.callAtOnce(reader);
        }
      },
    });
  },
};
