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
import { findEntities } from "../../trajectory/resultEntities.ts";

/** A result with the call that showed it. */
export interface ShownResult {
  readonly declaration: ToolDeclaration;
  readonly arguments: JsonObject;
  readonly value: Json;
}

/** What the conversation contains, in the order in which values are tried. */
export interface SearchStart {
  /** In the state in which the assistant answers. */
  readonly session: Session;
  readonly offered: readonly ToolDeclaration[];
  /** The results of the conversation's calls. */
  readonly results: readonly ShownResult[];
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
export function searchReads(start: SearchStart): ShownResult[] {
  const { session, offered } = start;
  const reads = offered.filter(it => it.tool.effect === "read");
  const knowledge = new Knowledge(start);
  const results: ShownResult[] = [];
  const made = new Set<string>();
  for (let depth = 0; depth < limits.depth; depth++) {
    const found: ShownResult[] = [];
    for (const declaration of reads) {
      for (const args of listArguments(declaration, knowledge)) {
        const { name } = declaration.tool;
        const key = `${name} ${JSON.stringify(args)}`;
        if (made.has(key) || made.size >= limits.calls) continue;
        made.add(key);
        const outcome = callRead(session, declaration, args, key);
        if (outcome.kind === "ok")
          found.push({ declaration, arguments: args, value: outcome.value });
      }
    }
    for (const it of found) knowledge.learn(it);
    results.push(...found);
  }
  return results;
}

/** What the assistant knows at a point of the search. */
class Knowledge {
  readonly start: SearchStart;
  readonly labels: ReadonlySet<string>;
  /** Known ids, by server and entity. */
  readonly #ids = new Map<string, Set<string>>();

  constructor(start: SearchStart) {
    this.start = start;
    this.labels = new Set(start.labels);
    for (const it of start.results) this.learn(it);
  }

  learn({ declaration, value }: ShownResult): void {
    for (const { entity, id } of findEntities(declaration, value)) {
      const key = `${declaration.tool.server} ${entity}`;
      let ids = this.#ids.get(key);
      if (!ids) this.#ids.set(key, (ids = new Set()));
      ids.add(id);
    }
  }

  /** The ids that an argument can take, those that matter first. */
  listIds(server: string, { key, entity, isSpoken }: EntityInput): string[] {
    const { wantedIds, values, labels } = this.start;
    const known = [...(this.#ids.get(`${server} ${entity}`) ?? [])];
    const spoken = isSpoken
      ? [...[values[key] ?? []].flat(), ...labels].filter(it => typeof it === "string")
      : [];
    const all = [...new Set([...spoken, ...known])];
    const rank = (id: string) => Number(!wantedIds.has(id));
    return all.toSorted((a, b) => rank(a) - rank(b)).slice(0, limits.ids);
  }
}

/** The arguments to try: the required ones, with each optional one, and as the user said them. */
function listArguments(
  { tool, inputs, labels, values }: ToolDeclaration,
  knowledge: Knowledge,
): JsonObject[] {
  const { start } = knowledge;
  const choices = new Map<string, readonly Json[]>();
  for (const it of inputs) {
    const ids = knowledge.listIds(tool.server, it);
    choices.set(it.key, it.isList ? ids.map(id => [id]) : ids);
  }
  for (const it of labels) choices.set(it.key, [...knowledge.labels].slice(0, limits.values));
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
