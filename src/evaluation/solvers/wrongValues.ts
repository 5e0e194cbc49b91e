/** Replaces values in a call's arguments by others that are just as plausible. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { PlannedCall } from "./plan.ts";
import type { SolverRun } from "./solverRun.ts";
import { findEntityValues } from "../../trajectory/entities.ts";
import { listArguments, type Argument } from "./toolSchemas.ts";
import { replaceStrings } from "./values.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";

/** The arguments with made-up ids where neither a result nor the user has shown the ids. */
export function guessIds(run: SolverRun, name: string, args: JsonObject): JsonObject {
  const tool = run.tools.get(name);
  if (!tool) return args;
  const unseen = findEntityValues(tool.inputSchema, args).ids.filter(
    it => !it.isSpoken && !run.knowledge.hasSeen(it.value),
  );
  const guesses = new Map(unseen.map(it => [it.value, guessId(it.value)]));
  return replaceStrings(args, guesses) as JsonObject;
}

/** Another id of the same form; the same one if it has no digits. */
const guessId = (id: string): string => id.replaceAll(/\d/g, it => String((Number(it) + 3) % 10));

/** The arguments of a planned call with one value changed; undefined if none can be. */
export function changeOneValue(run: SolverRun, call: PlannedCall): JsonObject | undefined {
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
  if (typeof value === "number") return changeNumber(value, schema);
  // an optional flag often makes no difference
  if (typeof value === "boolean") return argument.isRequired ? !value : undefined;
  if (typeof value !== "string") return undefined;
  const choices = schema["enum"];
  if (Array.isArray(choices)) return pickOther(run, choices as readonly string[], value);
  if (entity !== undefined)
    return pickOther(run, [...listOtherIds(run, argument, value), guessId(value)], value);
  if (label !== undefined) return pickOther(run, run.knowledge.listLabels(server, label), value);
  return changeDay(value);
}

/**
 * The ids that were shown, without those of the same parent, such as the messages of one thread: it
 * often makes no difference to which of them one replies.
 */
function listOtherIds(
  { knowledge }: SolverRun,
  { server, entity }: Argument,
  id: string,
): readonly string[] {
  const source = knowledge.findResultWith(id);
  const hasParent = source && [...listScalars(source.arguments)].some(it => knowledge.isId(it));
  const siblings = new Set(hasParent ? listScalars(source.value) : []);
  return knowledge.listIds(server, entity!).filter(it => !siblings.has(it));
}

function pickOther(
  { random }: SolverRun,
  values: readonly string[],
  value: string,
): string | undefined {
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
