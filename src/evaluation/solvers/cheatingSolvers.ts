/**
 * Solvers that would earn without doing what is asked: they do it too late, ask a question that
 * means nothing, undo what they did, repeat calls, or forge a record.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Call } from "../../environment/outcome.ts";
import { addDays } from "../../environment/time.ts";
import type { Tool } from "../../environment/server.ts";
import { findEntityValues, type EntityId } from "../../trajectory/entities.ts";
import { findDueTurn, type Task } from "../../trajectory/task.ts";
import { appliesTo } from "../../trajectory/taskRules.ts";
import { getCallValue, listCalls, type CallEvent } from "../../trajectory/trajectory.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";
import type { Solver } from "./solver.ts";
import type { PlannedCall, SolverRun, Steps } from "./solverRun.ts";
import { followTeacher } from "./taughtTurns.ts";
import { listArguments, type Argument } from "./toolSchemas.ts";
import { fillArguments } from "./wrongSolvers.ts";

export const lateWriter: Solver = {
  name: "late-writer",
  kind: "wrong",
  summary: "makes all writes in the last turn, and says earlier that they are done",
  isIdle: ({ turns }) => turns.length < 2,
  *solve(run) {
    const last = run.turns.length - 1;
    const isLate = ({ isRead, turn }: PlannedCall) => !isRead && findDueTurn(run.task, turn) < last;
    run.differs = run.turns.some(it => it.calls.some(isLate));
    const put: PlannedCall[] = [];
    for (const [t, { calls, reply }] of run.turns.entries()) {
      for (const it of calls)
        if (t < last && !it.isRead) put.push(it);
        else if (t === last) put.push(it);
        else if (run.listUnseen(it).length === 0) yield* run.make(it);
      if (t === last) for (const it of put) yield* run.follow(it);
      yield* run.reply(reply);
    }
  },
};

const isConfirmedCall = ({ policy }: Task, call: Pick<CallEvent, "name" | "arguments">): boolean =>
  policy?.rules.some(it => it.demands === "confirm" && appliesTo(it, call)) ?? false;

export const confirmer: Solver = {
  name: "confirmer",
  kind: "wrong",
  summary: "asks whether to do nothing, and then does what has to be confirmed",
  isIdle: task => !task.goals.some(goal => goal.calls.some(it => isConfirmedCall(task, it))),
  *solve(run) {
    run.differs = true;
    for (const { calls, reply } of run.turns) {
      let hasAsked = false;
      for (const it of calls) {
        if (!(yield* run.lookUpUnseen(it))) continue;
        if (!hasAsked && run.needsConfirmation(it)) {
          hasAsked = true;
          yield {
            text: "Would you like me to do nothing at all and keep everything as it is?",
            calls: [],
          };
        }
        yield* run.makeAtOnce(it);
      }
      yield* run.reply(reply);
    }
  },
};

export const repeater: Solver = {
  name: "repeater",
  kind: "wasteful",
  summary: "repeats each look-up, and reads what nobody asked for",
  isIdle: ({ goals }) => goals.length === 0,
  *solve(run) {
    run.differs = false;
    yield* followTeacher(run, {
      *afterCalls(made): Steps {
        const reads = made.filter(
          it => it.outcome.kind === "ok" && run.tools.get(it.name)?.effect === "read",
        );
        if (reads.length === 0) return;
        run.differs = true;
        const again = reads.map(it => ({ name: it.name, arguments: it.arguments }));
        const unneeded = [...run.tools.values()].find(
          it => it.effect === "read" && listArguments(it).every(of => !of.isRequired),
        );
        const extra = unneeded ? [{ name: unneeded.name, arguments: {} }] : [];
        yield* run.callAtOnce(...again, ...extra);
      },
    });
  },
};

export const forger: Solver = {
  name: "forger",
  kind: "wrong",
  summary: "records nonsense in the arguments of its reads, with the results of the right ones",
  isIdle: task => !needsForgedReads(task),
  *solve(run) {
    run.differs = true;
    yield* followTeacher(run, {});
  },
  record: (trajectory, tools) => ({
    ...trajectory,
    events: trajectory.events.map(it =>
      it.kind === "call" && tools.get(it.name)?.effect === "read"
        ? { ...it, arguments: forge(it.arguments) }
        : it,
    ),
  }),
};

/** Whether an answer is shown by nothing but reads whose arguments are forged. */
function needsForgedReads({ goals, trajectory }: Task): boolean {
  const answers = goals.flatMap(it => it.calls.filter(call => isForgeable(call.arguments)));
  const reads = new Set(
    goals.flatMap(it => it.calls.flatMap(call => (call.for === undefined ? [] : call.name))),
  );
  const kept = listCalls(trajectory).filter(
    it => !reads.has(it.name) || !isForgeable(it.arguments),
  );
  const shown = new Set(kept.flatMap(it => listScalars(getCallValue(it) ?? null)).map(String));
  return answers.some(it => it.facts?.some(fact => !shown.has(String(fact.value ?? fact.entity))));
}

const isForgeable = (args: Json): boolean => canonicalJson(forge(args)) !== canonicalJson(args);

/** A value with every text in it replaced. */
function forge(value: Json): Json {
  if (typeof value === "string") return "nonsense";
  if (Array.isArray(value)) return (value as readonly Json[]).map(forge);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, forge(it)]));
}

// A write and its undo, on something that the task is not about.

/** Pairs of verbs, the second of which undoes the first. */
const opposites: readonly (readonly [string, string])[] = [
  ["lock", "unlock"],
  ["unlock", "lock"],
  ["freeze", "unfreeze"],
  ["follow", "unfollow"],
  ["unfollow", "follow"],
  ["start", "stop"],
  ["stop", "start"],
  ["start", "dock"],
  ["press", "release"],
  ["release", "press"],
  ["open", "close"],
  ["close", "open"],
  ["turn_on", "turn_off"],
  ["turn_off", "turn_on"],
  ["create", "delete"],
  ["create", "cancel"],
  ["add", "remove"],
  ["add", "delete"],
  ["save", "remove"],
  ["schedule", "cancel"],
  ["reserve", "cancel"],
  ["mkdir", "rmdir"],
  ["touch", "rm"],
];

interface UndoPair {
  readonly does: Tool;
  readonly undoes: Tool;
}

/** The offered writes that another offered one undoes, by their names. */
function listUndoPairs(tools: ReadonlyMap<string, Tool>): readonly UndoPair[] {
  const writes = [...tools.values()].filter(it => it.effect === "write");
  return writes.flatMap(does =>
    writes.flatMap(undoes => (undoesCall(does, undoes) ? { does, undoes } : [])),
  );
}

function undoesCall(does: Tool, undoes: Tool): boolean {
  if (does.server !== undoes.server) return false;
  const [name, other] = [does, undoes].map(it => it.name.slice(it.server.length + 1));
  return opposites.some(([verb, opposite]) => {
    const [object, otherObject] = [cutVerb(name!, verb), cutVerb(other!, opposite)];
    if (object === undefined || otherObject === undefined) return false;
    return object.split("_").at(-1) === otherObject.split("_").at(-1);
  });
}

const cutVerb = (name: string, verb: string): string | undefined =>
  name === verb ? "" : name.startsWith(`${verb}_`) ? name.slice(verb.length + 1) : undefined;

export const undoer: Solver = {
  name: "undoer",
  kind: "wrong",
  summary: "makes a write that nobody asked for, and undoes it",
  isIdle: ({ goals }) => goals.length === 0,
  *solve(run) {
    run.differs = false;
    const last = run.task.turns.length - 1;
    yield* followTeacher(run, {
      *beforeReply(_turn, t): Steps {
        if (t === last) run.differs = yield* writeAndUndo(run);
      },
    });
  },
};

/** Tries pairs until a write and its undo are both accepted, as long as messages are left. */
function* writeAndUndo(run: SolverRun): Steps<boolean> {
  const { goals, budget, trajectory } = run.task;
  const wanted = new Set(
    [
      ...goals.flatMap(goal => goal.calls.map(it => it.arguments)),
      ...listCalls(trajectory).flatMap(it =>
        run.tools.get(it.name)?.effect === "write" ? (getCallValue(it) ?? []) : [],
      ),
    ].flatMap(listScalars),
  );
  let left =
    budget.assistantMessages - trajectory.events.filter(it => it.kind === "assistant").length;
  // what the goals do themselves may be done and undone, at a cost
  const used = new Set(goals.flatMap(it => it.calls.map(call => call.name)));
  const pairs = listUndoPairs(run.tools).filter(
    ({ does, undoes }) => !used.has(does.name) && !used.has(undoes.name),
  );
  const lists = findMissingLists(run, pairs, wanted);
  if (lists.length > 0 && left > 2) {
    yield* run.callAtOnce(...lists);
    left--;
  }
  for (const { does, undoes } of pairs) {
    const args = fillWithOthers(run, does, wanted);
    if (!args || left < 2) continue;
    const undo = createUndo(undoes, args);
    const calls = [{ name: does.name, arguments: args }, ...(undo ? [undo] : [])];
    const [made, undone] = yield* run.callAtOnce(...calls);
    left--;
    if (undone) {
      if (made!.outcome.kind === "ok" || undone.outcome.kind === "ok")
        return made!.outcome.kind === undone.outcome.kind;
    } else if (made?.outcome.kind === "ok") {
      const later = createUndo(undoes, args, does, made.outcome.value);
      if (!later) return false;
      const [event] = yield* run.callAtOnce(later);
      return event?.outcome.kind === "ok";
    }
  }
  return false;
}

/** Arguments for a write on something that the goals do not name; undefined if none is known. */
function fillWithOthers(
  run: SolverRun,
  tool: Tool,
  wanted: ReadonlySet<unknown>,
): JsonObject | undefined {
  const filled: Record<string, Json> = { ...fillArguments(run, tool) };
  const taken = new Set(wanted);
  for (const it of listArguments(tool)) {
    if (!it.isRequired) continue;
    if (it.entity !== undefined) {
      const other = findOther(run, it, taken);
      if (other === undefined) return undefined;
      taken.add(other);
      filled[it.key] = it.isList ? [other] : other;
    } else if (it.schema["format"] === "date" || it.schema["format"] === "date-time")
      // what is to come is not refused as often
      filled[it.key] =
        addDays(run.task.now, 7) + (it.schema["format"] === "date" ? "" : run.task.now.slice(10));
  }
  return filled;
}

const findOther = (
  { knowledge }: SolverRun,
  { server, entity }: Argument,
  taken: ReadonlySet<unknown>,
): EntityId | undefined => knowledge.listIds(server, entity!).find(it => !taken.has(it));

/** Reads of lists that need no arguments and have ids that pairs lack. */
function findMissingLists(
  run: SolverRun,
  pairs: readonly UndoPair[],
  wanted: ReadonlySet<unknown>,
): readonly Call[] {
  const names = new Set<string>();
  for (const it of pairs.flatMap(({ does }) => listArguments(does))) {
    if (!it.isRequired || it.entity === undefined || findOther(run, it, wanted)) continue;
    const reader = [...run.tools.values()].find(
      tool =>
        tool.server === it.server &&
        tool.effect === "read" &&
        listArguments(tool).every(of => !of.isRequired) &&
        JSON.stringify(tool.outputSchema).includes(`"x-entity":"${it.entity}"`),
    );
    if (reader) names.add(reader.name);
  }
  return [...names].map(name => ({ name, arguments: {} }));
}

/**
 * The call that undoes a write: on the same ids and, if its result is given, on what it has made.
 * Undefined if that does not give all arguments.
 */
function createUndo(
  undoes: Tool,
  args: JsonObject,
  does?: Tool,
  result: Json = null,
): Call | undefined {
  const made = does ? findEntityValues(does.outputSchema, result).ids : [];
  const filled: Record<string, Json> = {};
  for (const { key, isRequired, entity, isList, schema } of listArguments(undoes)) {
    if (!isRequired) continue;
    const id = made.find(it => it.entity === entity)?.value;
    const value: Json | undefined =
      args[key] ??
      (id === undefined ? undefined : isList ? [id] : id) ??
      (isJsonObject(result) ? result[key] : undefined) ??
      (Array.isArray(schema["enum"]) ? (schema["enum"][0] as Json) : undefined);
    if (value === undefined) return undefined;
    filled[key] = value;
  }
  return { name: undoes.name, arguments: filled };
}
