/**
 * Searches what the offered reads can show at one point of a conversation: calls up to depth two,
 * with values that the conversation contains and ids that results have shown. It errs on the side
 * of finding too much, because what it finds is not refused and not asked for.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Outcome } from "../../environment/outcome.ts";
import type { JsonSchema } from "../../environment/server.ts";
import type { Session } from "../../environment/session.ts";
import type { ServerState } from "../../environment/state.ts";
import type { EntityInput, ToolDeclaration } from "../graph/declarations.ts";
import type { Knowledge, ShownResult } from "../../trajectory/knowledge.ts";

/** A result of the search. */
export interface FoundResult extends ShownResult {
  readonly declaration: ToolDeclaration;
}

/** What the conversation contains, in the order in which values are tried. */
export interface SearchStart {
  /** In the state in which the assistant answers. */
  readonly session: Session;
  readonly offered: readonly ToolDeclaration[];
  /** What the conversation has made known; the search adds what its calls show. */
  readonly knowledge: Knowledge;
  /** Names that the user has said. */
  readonly labels: readonly string[];
  /** Values that the user has said, by argument. */
  readonly values: JsonObject;
  readonly now: string;
  /** Ids that matter; they are tried first. */
  readonly wantedIds: ReadonlySet<string>;
}

/** How many calls one search makes, how far they go, and how many values one argument takes. */
const limits = { calls: 200, depth: 2, ids: 12, values: 8, combinations: 24 };

/** The results of all reads that the search makes. */
export function searchReads(start: SearchStart): FoundResult[] {
  const { session, offered, knowledge } = start;
  const reads = offered.filter(it => it.tool.effect === "read");
  const results: FoundResult[] = [];
  const made = new Set<string>();
  for (let depth = 0; depth < limits.depth; depth++) {
    const found: FoundResult[] = [];
    for (const declaration of reads) {
      for (const args of listArguments(declaration, start)) {
        const { name } = declaration.tool;
        const key = `${name} ${JSON.stringify(args)}`;
        if (made.has(key) || made.size >= limits.calls) continue;
        made.add(key);
        const outcome = callRead(session, declaration, args, key);
        if (outcome.kind === "ok")
          found.push({ declaration, name, arguments: args, value: outcome.value });
      }
    }
    // nothing follows the last calls
    const isLast = depth === limits.depth - 1;
    if (!isLast) for (const it of found) knowledge.learnResult(it, it.declaration);
    results.push(...found);
  }
  return results;
}

/** The ids that an argument can take, those that matter first. */
function listIds(
  server: string,
  { key, entity, isSpoken }: EntityInput,
  { knowledge, wantedIds, values, labels }: SearchStart,
): string[] {
  const spoken = isSpoken
    ? [...[values[key] ?? []].flat(), ...labels].filter(it => typeof it === "string")
    : [];
  const all = [...new Set([...spoken, ...knowledge.listIds(server, entity)])];
  const rank = (id: string) => Number(!wantedIds.has(id));
  return all.toSorted((a, b) => rank(a) - rank(b)).slice(0, limits.ids);
}

/** The arguments to try: the required ones, with each optional one, and as the user said them. */
function listArguments(
  { tool, inputs, labels, values }: ToolDeclaration,
  start: SearchStart,
): JsonObject[] {
  const choices = new Map<string, readonly Json[]>();
  for (const it of inputs) {
    const ids = listIds(tool.server, it, start);
    choices.set(it.key, it.isList ? ids.map(id => [id]) : ids);
  }
  for (const it of labels) choices.set(it.key, [...new Set(start.labels)].slice(0, limits.values));
  for (const it of values) choices.set(it.key, listValues(it.key, it.schema, it.isRequired, start));
  const all = [...inputs, ...labels, ...values];
  const required = combine(
    all.filter(it => it.isRequired).map(it => [it.key, choices.get(it.key)!]),
  );
  const optional = all.filter(it => !it.isRequired);
  const withOne = required.flatMap(args =>
    optional.flatMap(({ key }) => choices.get(key)!.map(value => ({ ...args, [key]: value }))),
  );
  const said = Object.fromEntries(
    optional.flatMap(({ key }) =>
      start.values[key] === undefined ? [] : [[key, start.values[key]]],
    ),
  );
  return [...required, ...required.map(it => ({ ...it, ...said })), ...withOne];
}

/** Every combination of the choices, up to a limit. */
function combine(choices: readonly (readonly [string, readonly Json[]])[]): JsonObject[] {
  let combinations: JsonObject[] = [{}];
  for (const [key, values] of choices)
    combinations = combinations
      .flatMap(it => values.map(value => ({ ...it, [key]: value })))
      .slice(0, limits.combinations);
  return combinations;
}

/** The values of a plain argument: as the user said it, each of an enum, or anything that fits. */
function listValues(
  key: string,
  schema: JsonSchema,
  isRequired: boolean,
  { values, now }: Pick<SearchStart, "values" | "now">,
): readonly Json[] {
  const own = values[key] === undefined ? [] : [values[key]];
  const choices = (schema["enum"] ?? []) as readonly Json[];
  if (choices.length > 0) return [...own, ...choices].slice(0, limits.values);
  if (schema["type"] === "boolean") return [true, false];
  if (schema["type"] === "integer" && key === "limit") return [schema["maximum"] ?? 50, ...own];
  if (!isRequired) return own;
  const times = [now, now.slice(0, 10), now.slice(0, 7)].filter(it => matchesPattern(it, schema));
  const others = Object.values(values).filter(it => hasType(it, schema["type"]));
  return [...own, ...times, ...others].slice(0, limits.values);
}

/** Whether a text has the form that a schema demands of it. */
const matchesPattern = (text: string, { pattern }: JsonSchema): boolean =>
  typeof pattern === "string" && new RegExp(pattern, "u").test(text);

const hasType = (value: Json, type: unknown): boolean =>
  type === "integer" ? Number.isInteger(value) : typeof value === type;

/** Outcomes of reads by the state of their server, which conversations on a fixture share. */
const outcomesByState = new WeakMap<ServerState, Map<string, Outcome>>();

function callRead(
  session: Session,
  { tool }: ToolDeclaration,
  args: JsonObject,
  key: string,
): Outcome {
  const state = session.state[tool.server]!;
  let outcomes = outcomesByState.get(state);
  if (!outcomes) outcomesByState.set(state, (outcomes = new Map()));
  let outcome = outcomes.get(key);
  if (!outcome) outcomes.set(key, (outcome = session.call(tool.name, args).outcome));
  return outcome;
}
