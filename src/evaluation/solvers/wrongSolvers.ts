/**
 * Solvers that do not do what the user asked for. A task that one of them passes, although it left
 * something out or did something else, checks too little.
 */
import { appliesTo } from "../../trajectory/taskRules.ts";
import {
  type PlannedCall,
  toShownResult,
  type SolverRun,
  type Steps,
  replaceIds,
} from "./solverRun.ts";
import type { Solver } from "./solver.ts";
import { startsTurn, type CallEvent } from "../../trajectory/trajectory.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import {
  findEntityValues,
  type EntityId,
  isEntityId,
  toEntityId,
} from "../../trajectory/entities.ts";
import { listArguments, type Argument } from "./toolSchemas.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";

const createWrongSolver = (
  name: string,
  summary: string,
  solve: Solver["solve"],
  isIdle?: Solver["isIdle"],
): Solver => ({ name, kind: "wrong", summary, solve, ...(isIdle ? { isIdle } : {}) });

export const lazy = createWrongSolver("lazy", "makes the first call of each turn only", run =>
  makeOnly(run, new Set(run.turns.flatMap(it => it.calls.slice(0, 1)))),
);

export const oneCall = createWrongSolver(
  "one-call-and-stop",
  "makes the first call of the task only",
  run => makeOnly(run, new Set(run.turns.flatMap(it => it.calls).slice(0, 1))),
);

export const guesser = createWrongSolver(
  "guesser",
  "makes up ids instead of looking them up",
  function* (run) {
    for (const { calls, reply } of run.turns) {
      for (const it of calls)
        if (!it.isLookUp || !suppliesIds(run, it)) {
          // text of a result that was never seen cannot be made up
          const ids = run.listIds(it);
          if (run.listUnseen(it).some(value => !ids.includes(value as EntityId))) continue;
          const { name, arguments: args } = run.toCall(it);
          yield* run.call({ name, arguments: guessIds(run, name, args) });
        }
      yield* run.reply(reply);
    }
  },
);

export const skipper = createWrongSolver(
  "skipper",
  "leaves out one thing that the user asked for",
  run => {
    const calls = run.turns.flatMap(it => it.calls);
    const skipped = run.choose(listWanted(run));
    return makeOnly(run, new Set(calls.filter(it => it !== skipped)));
  },
);

export const oneWrongValue = createWrongSolver(
  "one-wrong-value",
  "gives one argument another plausible value",
  function* (run) {
    const wanted = listWanted(run);
    const from = run.choose(wanted);
    let isDue = false;
    let isDone = false;
    for (const { calls, reply } of run.turns) {
      for (const it of calls) {
        isDue ||= it === from;
        const args = isDue && !isDone && wanted.includes(it) ? changeOneValue(run, it) : undefined;
        if (args) {
          isDone = true;
          yield* run.call({ name: it.name, arguments: args });
        } else yield* makeIfSeen(run, it);
      }
      yield* run.reply(reply);
    }
  },
);

export const conditionIgnorer = createWrongSolver(
  "ignores-conditions",
  "does also what the user wants only under a condition that does not hold",
  function* (run) {
    for (const [i, { calls, reply }] of run.turns.entries()) {
      for (const it of calls) yield* makeIfSeen(run, it);
      const { conditional = [] } = run.task.turns[i]!;
      if (conditional.length > 0) yield* run.call(...conditional);
      yield* run.reply(reply);
    }
  },
  task => !task.turns.some(it => it.conditional),
);

export const firstPage = createWrongSolver(
  "first-page",
  "takes the first page of a list for the whole",
  function* (run) {
    for (const { calls, reply } of run.turns) {
      for (const it of calls) {
        const { limit, ...args } = it.arguments;
        const tool = run.tools.get(it.name);
        const argument = tool && listArguments(tool).find(({ key }) => key === "limit");
        // a smaller limit is the user's
        const isWhole = limit !== undefined && limit === argument?.schema["maximum"];
        if (it.isRead && isWhole && run.listUnseen(it).length === 0)
          yield* run.call({ name: it.name, arguments: args });
        else yield* makeIfSeen(run, it);
      }
      yield* run.reply(reply);
    }
  },
);

export const everythingOnce = createWrongSolver(
  "everything-once",
  "calls every offered tool once",
  function* (run) {
    yield* run.call(
      ...[...run.tools.values()].map(it => ({
        name: it.name,
        arguments: fillArguments(run, it),
      })),
    );
    for (const { reply } of run.turns) yield* run.reply(reply);
  },
);

export const ruleBreaker = createWrongSolver(
  "rule-breaker",
  "asks for no confirmation and does what is forbidden",
  function* (run) {
    const { turns, policy } = run.task;
    for (const [t, { calls, reply }] of run.turns.entries()) {
      for (const it of calls) {
        if (run.listUnseen(it).length === 0) yield* run.makeAtOnce(it);
      }
      const { unmet = [], conditional = [] } = turns[t]!;
      const forbidden = [
        ...unmet.filter(it => it.rule !== undefined),
        ...conditional.filter(it =>
          policy?.rules.some(rule => rule.demands === "never" && appliesTo(rule, it)),
        ),
      ];
      const ruled = [...forbidden, ...listRefusedAfterQuestion(run, t)];
      if (ruled.length > 0) yield* run.callAtOnce(...ruled);
      yield* run.reply(reply);
    }
  },
  task => !task.policy,
);

/** The calls of a turn that the teacher had confirmed and the server then refused: no goals. */
function listRefusedAfterQuestion(run: SolverRun, turn: number): CallEvent[] {
  let at = -1;
  return run.task.trajectory.events.filter(it => {
    if (startsTurn(it)) at++;
    return (
      at === turn && it.kind === "call" && it.outcome.kind !== "ok" && run.needsConfirmation(it)
    );
  }) as CallEvent[];
}

/** Makes some of the planned calls, or all of them if nothing that the user asked for is missed. */
function* makeOnly(run: SolverRun, made: ReadonlySet<PlannedCall>): Steps {
  const isWrong = run.turns.some(({ calls }) =>
    calls.some(it => !made.has(it) && isMissed(run, it, made)),
  );
  for (const { calls, reply } of run.turns) {
    for (const it of calls) if (!isWrong || made.has(it)) yield* makeIfSeen(run, it);
    yield* run.reply(reply);
  }
}

/** The calls that the user would miss. */
function listWanted(run: SolverRun): readonly PlannedCall[] {
  const calls = run.turns.flatMap(it => it.calls);
  return calls.filter(call => isMissed(run, call, new Set(calls.filter(it => it !== call))));
}

/** Whether the user asked for a call and the calls made by then do not show the answer. */
const isMissed = (run: SolverRun, call: PlannedCall, made: ReadonlySet<PlannedCall>): boolean =>
  !call.isLookUp &&
  !(
    call.isRead &&
    run.isShownBy(call, [...made].filter(it => it.turn <= call.turn).flatMap(toShownResult))
  );

/** Whether a look-up shows an id that a later call takes. */
const suppliesIds = (run: SolverRun, { goal, flows }: PlannedCall): boolean =>
  run.turns
    .flatMap(it => it.calls)
    .some(it => it.goal > goal && run.listIds(it).some(id => flows.has(id)));

/** Makes a planned call, unless it takes values that nothing has shown. */
function* makeIfSeen(run: SolverRun, call: PlannedCall): Steps {
  if (run.listUnseen(call).length === 0) yield* run.make(call);
}

// Replaces values in a call's arguments by others that are just as plausible.

/** The arguments with made-up ids where neither a result nor the user has shown the ids. */
function guessIds(run: SolverRun, name: string, args: JsonObject): JsonObject {
  const tool = run.tools.get(name);
  if (!tool) return args;
  const { knowledge } = run;
  // a number is often the id of something else, too
  const isSeen = (entity: string, id: EntityId) =>
    typeof id === "number"
      ? knowledge.knowsId(tool.server, entity, id) || knowledge.isSaid(String(id))
      : knowledge.hasSeen(id);
  const unseen = findEntityValues(tool.inputSchema, args).ids.filter(
    it => !it.isSpoken && !isSeen(it.entity, it.value),
  );
  const guesses = new Map(unseen.map(it => [it.value, guessId(it.value)]));
  return replaceIds(args, guesses) as JsonObject;
}

/** Another id of the same form; the same one if it has no digits. */
function guessId(id: EntityId): EntityId {
  const guess = String(id).replaceAll(/\d/g, it => String((Number(it) + 3) % 10));
  return typeof id === "number" ? Number(guess) : guess;
}

/** The arguments of a planned call with one value changed; undefined if none can be. */
function changeOneValue(run: SolverRun, call: PlannedCall): JsonObject | undefined {
  const tool = run.tools.get(call.name);
  if (!tool) return undefined;
  const { arguments: args } = run.toCall(call);
  const changeable = listArguments(tool).filter(
    it =>
      Object.hasOwn(args, it.key) &&
      !call.mask.includes(it.key) &&
      (it.isRequired || !call.isRead) &&
      it.key !== "limit",
  );
  for (const it of run.random.shuffle(changeable)) {
    const value = changeValue(run, it, args[it.key]!);
    if (value !== undefined) return { ...args, [it.key]: value };
  }
  return undefined;
}

/** Another value of the same type; undefined for a text that could be put in other words. */
function changeValue(run: SolverRun, argument: Argument, value: Json): Json | undefined {
  const { server, entity, label, schema, isList } = argument;
  if (isList) {
    if (!Array.isArray(value) || value.length === 0) return undefined;
    const [first, ...rest] = value as readonly Json[];
    const changed = changeValue(run, { ...argument, isList: false }, first!);
    return changed === undefined ? undefined : [changed, ...rest];
  }
  if (typeof value === "number" && entity === undefined) return changeNumber(value, schema);
  // an optional flag often makes no difference
  if (typeof value === "boolean") return argument.isRequired ? !value : undefined;
  if (!isEntityId(value)) return undefined;
  const choices = schema["enum"];
  if (Array.isArray(choices)) return pickOther(run, choices as readonly EntityId[], value);
  if (entity !== undefined)
    return pickOther(run, [...listOtherIds(run, argument, value), guessId(value)], value);
  if (label !== undefined) return pickOther(run, run.knowledge.listLabels(server, label), value);
  return typeof value === "string" ? changeDay(value) : undefined;
}

/**
 * The ids that were shown, without those of the same parent, such as the messages of one thread: it
 * often makes no difference to which of them one replies.
 */
function listOtherIds(
  { knowledge }: SolverRun,
  { server, entity }: Argument,
  id: EntityId,
): readonly EntityId[] {
  const source = knowledge.findResultWith(id);
  const hasParent = source && [...listScalars(source.arguments)].some(it => knowledge.isId(it));
  const siblings = new Set(hasParent ? listScalars(source.value) : []);
  return knowledge.listIds(server, entity!).filter(it => !siblings.has(it));
}

function pickOther(
  { random }: SolverRun,
  values: readonly EntityId[],
  value: EntityId,
): EntityId | undefined {
  const others = values.filter(it => it !== value);
  return others.length > 0 ? random.pick(others) : undefined;
}

function changeNumber(value: number, { maximum }: JsonObject): number {
  const changed = value + Math.max(1, Math.round(Math.abs(value) / 10));
  return typeof maximum === "number" && changed > maximum ? value - 1 : changed;
}

/** The day before or after, at the same time. */
function changeDay(value: string): string | undefined {
  const parts = /^(\d{4}-\d\d-)(\d\d)(T\d\d:\d\d)?$/.exec(value);
  if (!parts) return undefined;
  const day = Number(parts[2]);
  const other = day < 28 ? day + 1 : day - 1;
  return `${parts[1]}${String(other).padStart(2, "0")}${parts[3] ?? ""}`;
}

// Makes up arguments that a tool's schema allows.

/** A value for each required argument of a tool. */
export function fillArguments(run: SolverRun, tool: Tool): JsonObject {
  return Object.fromEntries(
    listArguments(tool).flatMap(it => {
      if (!it.isRequired) return [];
      const value = fillArgument(run, it);
      return [[it.key, it.isList ? [value] : value]];
    }),
  );
}

function fillArgument(
  { knowledge, task }: SolverRun,
  { server, entity, label, schema }: Argument,
): Json {
  if (entity !== undefined) {
    const id = toEntityId("101", schema);
    const unknown = typeof id === "number" ? id : `${entity.slice(0, 3)}_101`;
    return knowledge.listIds(server, entity).at(-1) ?? unknown;
  }
  if (label !== undefined) return knowledge.listLabels(server, label).at(-1) ?? "Studio";
  return fillSchema(schema, task.now);
}

function fillSchema(schema: JsonSchema, now: string): Json {
  const choices = schema["enum"];
  if (Array.isArray(choices)) return choices[0] as Json;
  if (schema["const"] !== undefined) return schema["const"];
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return fillSchema(branches[0] as JsonSchema, now);
  switch (schema["type"]) {
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? Math.max(1, schema["minimum"]) : 1;
    case "boolean":
      return true;
    case "array":
      return [fillSchema((schema["items"] ?? {}) as JsonSchema, now)];
    case "object": {
      const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
      const required = (schema["required"] ?? []) as readonly string[];
      return Object.fromEntries(required.map(it => [it, fillSchema(properties[it] ?? {}, now)]));
    }
    default:
      return fillText(schema, now);
  }
}

function fillText(schema: JsonSchema, now: string): string {
  if (schema["format"] === "date") return now.slice(0, 10);
  if (schema["format"] === "date-time") return now;
  return "Notes";
}
