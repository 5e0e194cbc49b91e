/**
 * Searches for calls of the offered tools that show what a hidden tool would show, or leave the
 * world that a hidden write leaves. What it finds is not refused and not asked for, so that it errs
 * on the side of finding too much.
 */
import derivationTable from "./derivations.json" with { type: "json" };
import { type Json, type JsonObject, canonicalJson } from "../../../environment/json.ts";
import type { Outcome, Patch } from "../../../environment/outcome.ts";
import type { JsonSchema } from "../../../environment/server.ts";
import { type Session, advanceClock } from "../../../environment/session.ts";
import type { ServerState, State } from "../../../environment/state.ts";
import type { EntityInput, ToolDeclaration } from "../../graph/declarations.ts";
import { getValueAt, isClockOrDraws } from "../../user/intents/feasibility.ts";
import type { Knowledge, ShownResult } from "../../../trajectory/knowledge.ts";
import { type EntityId, isEntityId } from "../../../trajectory/entities.ts";

/** A result of the search. */
export interface FoundResult extends ShownResult {
  readonly declaration: ToolDeclaration;
}

/** What the conversation contains, in the order in which values are tried. */
interface SearchStart {
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
  readonly wantedIds: ReadonlySet<EntityId>;
}

/** How many calls one search makes, how far they go, and how many values one argument takes. */
const readLimits = { calls: 200, depth: 2, ids: 12, values: 8, combinations: 24 };

/** The results of all reads that the search makes. */
export function searchReads(start: SearchStart): FoundResult[] {
  const { session, offered, knowledge } = start;
  const reads = offered.filter(it => it.tool.effect === "read");
  const results: FoundResult[] = [];
  const made = new Set<string>();
  for (let depth = 0; depth < readLimits.depth; depth++) {
    const found: FoundResult[] = [];
    for (const declaration of reads) {
      for (const args of listReadArguments(declaration, start)) {
        const { name } = declaration.tool;
        const key = `${name} ${JSON.stringify(args)}`;
        if (made.has(key) || made.size >= readLimits.calls) continue;
        made.add(key);
        const outcome = callRead(session, declaration, args, key);
        if (outcome.kind === "ok")
          found.push({ declaration, name, arguments: args, value: outcome.value });
      }
    }
    // nothing follows the last calls
    const isLast = depth === readLimits.depth - 1;
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
): EntityId[] {
  const spoken = isSpoken ? [...[values[key] ?? []].flat(), ...labels].filter(isEntityId) : [];
  const all = [...new Set([...spoken, ...knowledge.listIds(server, entity)])];
  const rank = (id: EntityId) => Number(!wantedIds.has(id));
  return all.toSorted((a, b) => rank(a) - rank(b)).slice(0, readLimits.ids);
}

/** The arguments to try: the required ones, with each optional one, and as the user said them. */
function listReadArguments(declaration: ToolDeclaration, start: SearchStart): JsonObject[] {
  const { tool, inputs, labels, values } = declaration;
  const choices = new Map<string, readonly Json[]>();
  for (const it of inputs) {
    const ids = listIds(tool.server, it, start);
    choices.set(it.key, it.isList ? ids.map(id => [id]) : ids);
  }
  for (const it of labels)
    choices.set(it.key, [...new Set(start.labels)].slice(0, readLimits.values));
  for (const it of values)
    choices.set(it.key, listReadValues(it.key, it.schema, it.isRequired, start));
  const all = listInputs(declaration);
  const required = combine(
    all.filter(it => it.isRequired).map(it => [it.key, choices.get(it.key)!]),
    readLimits.combinations,
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
function combine(
  choices: readonly (readonly [string, readonly Json[]])[],
  limit: number,
): JsonObject[] {
  let combinations: JsonObject[] = [{}];
  for (const [key, values] of choices)
    combinations = combinations
      .flatMap(it => values.map(value => ({ ...it, [key]: value })))
      .slice(0, limit);
  return combinations;
}

/** The values of a plain argument: as the user said it, each of an enum, or anything that fits. */
function listReadValues(
  key: string,
  schema: JsonSchema,
  isRequired: boolean,
  { values, now }: Pick<SearchStart, "values" | "now">,
): readonly Json[] {
  const own = values[key] === undefined ? [] : [values[key]];
  const choices = (schema["enum"] ?? []) as readonly Json[];
  if (choices.length > 0) return [...own, ...choices].slice(0, readLimits.values);
  if (schema["type"] === "boolean") return [true, false];
  if (schema["type"] === "integer" && key === "limit") return [schema["maximum"] ?? 50, ...own];
  if (!isRequired) return own;
  const times = [now, now.slice(0, 10), now.slice(0, 7)].filter(it => matchesPattern(it, schema));
  const others = Object.values(values).filter(
    it => !Array.isArray(it) && hasType(it, schema["type"]),
  );
  return [...own, ...times, ...others].slice(0, readLimits.values);
}

/** Whether a text has the form that a schema demands of it. */
const matchesPattern = (text: string, { pattern }: JsonSchema): boolean =>
  typeof pattern === "string" && new RegExp(pattern, "u").test(text);

const hasType = (value: Json, type: unknown): boolean =>
  type === "array"
    ? Array.isArray(value)
    : type === "integer"
      ? Number.isInteger(value)
      : typeof value === type;

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

// Searches the offered writes for one or two calls that leave the world a hidden write leaves.

interface HiddenWrite {
  /** In the state before the call. */
  readonly session: Session;
  readonly offered: readonly ToolDeclaration[];
  /** The hidden call. */
  readonly declaration: ToolDeclaration;
  readonly arguments: JsonObject;
}

/** Calls of one search and of one tool, values of one argument, and calls in a row. */
const writeLimits = { calls: 600, callsOfTool: 240, combinations: 36, values: 12, depth: 2 };

/** The tools that do it, or undefined if none do. */
export function searchEquivalentWrites(hidden: HiddenWrite): readonly string[] | undefined {
  const after = hidden.session.fork();
  const { outcome, patches } = after.call(hidden.declaration.tool.name, hidden.arguments);
  const changes = patches.filter(isChange);
  return outcome.kind === "ok" && changes.length > 0
    ? new WriteSearch(hidden, after.state, changes).findCalls(hidden.session)
    : undefined;
}

const isChange = (patch: Patch): boolean => !isClockOrDraws(patch);

class WriteSearch {
  readonly #writes: readonly ToolDeclaration[];
  readonly #own: JsonObject;
  readonly #values: readonly Json[];
  /** What the hidden call changes, with the values that it leaves there. */
  readonly #wanted: ReadonlyMap<string, string>;
  /** The times that calls of this search leave in the world. */
  readonly #times: readonly string[];
  #calls = 0;

  constructor(
    { session, offered, declaration, arguments: own }: HiddenWrite,
    after: State,
    changes: readonly Patch[],
  ) {
    const { server } = declaration.tool;
    const countShared = (it: ToolDeclaration) =>
      listInputs(it).filter(({ key }) => own[key] !== undefined).length;
    this.#own = own;
    this.#writes = offered
      .filter(it => it.tool.effect === "write" && it.tool.server === server)
      .toSorted((a, b) => countShared(b) - countShared(a));
    const { clock } = session.state[server]!;
    this.#times = [clock, advanceClock(clock), advanceClock(advanceClock(clock))];
    this.#wanted = new Map(
      changes.map(it => cutAtIndex(it.path)).map(it => [it, this.#describe(after, it)]),
    );
    this.#values = listWriteValues(own, changes);
  }

  /** One call is looked for before two. */
  findCalls(session: Session): readonly string[] | undefined {
    const steps: { readonly names: readonly string[]; readonly session: Session }[] = [
      { names: [], session },
    ];
    for (const { names, session: before } of steps) {
      for (const declaration of this.#writes) {
        for (const args of this.#listCalls(declaration)) {
          if (this.#calls++ >= writeLimits.calls) return undefined;
          const step = { names: [...names, declaration.tool.name], session: before.fork() };
          const { outcome, patches } = step.session.call(declaration.tool.name, args);
          const changes = patches.filter(isChange);
          // a call that does something else as well is not what the user asked for
          if (outcome.kind !== "ok" || changes.length === 0 || !this.#isWithin(changes)) continue;
          if (this.#isDone(step.session.state)) return step.names;
          if (step.names.length < writeLimits.depth) steps.push(step);
        }
      }
    }
    return undefined;
  }

  #isDone(state: State): boolean {
    return [...this.#wanted].every(([path, text]) => this.#describe(state, path) === text);
  }

  #isWithin(changes: readonly Patch[]): boolean {
    const wanted = [...this.#wanted.keys()];
    return changes.every(({ path }) => wanted.some(it => path === it || path.startsWith(`${it}/`)));
  }

  /** The value at a path as a text; all times of this search are equal. */
  #describe(state: State, path: string): string {
    let text = canonicalJson(getValueAt(state, path) ?? null);
    for (const it of this.#times) text = text.replaceAll(it, "now");
    return text;
  }

  /** The hidden call's own arguments where the tool takes them, and every value that fits. */
  #listCalls(declaration: ToolDeclaration): JsonObject[] {
    const all = listInputs(declaration);
    const choose = (key: string): readonly Json[] => {
      const { schema } = all.find(it => it.key === key)!;
      const choices = schema["enum"] as readonly Json[] | undefined;
      const fitting = this.#values.filter(it => hasType(it, schema["type"]));
      const own = this.#own[key];
      return [...(own === undefined ? [] : [own]), ...(choices ?? fitting)].slice(
        0,
        writeLimits.values,
      );
    };
    const required = combine(
      all.filter(it => it.isRequired).map(({ key }) => [key, choose(key)]),
      writeLimits.combinations,
    );
    const optional = all.filter(it => !it.isRequired).map(it => it.key);
    const said = Object.fromEntries(
      optional.flatMap(key => (this.#own[key] === undefined ? [] : [[key, this.#own[key]]])),
    );
    const withOne = required.flatMap(args =>
      optional.flatMap(key => choose(key).map(value => ({ ...args, ...said, [key]: value }))),
    );
    return [...required.map(it => ({ ...it, ...said })), ...required, ...withOne].slice(
      0,
      writeLimits.callsOfTool,
    );
  }
}

/** The arguments; what an object refers to is a part of its value. */
const listInputs = ({ inputs, labels, values }: ToolDeclaration) => [
  ...inputs.filter(it => it.path === it.key),
  ...labels,
  ...values,
];

/** The path as far as the first index of a list. */
const cutAtIndex = (path: string): string => path.replace(/\/\d+(?:\/[^]*)?$/, "");

/** The values of the call, the folders and names of its paths, and the values that it leaves. */
function listWriteValues(own: JsonObject, changes: readonly Patch[]): Json[] {
  const said = [...listParts(own)];
  const parts = said.flatMap(it => (typeof it === "string" ? splitPath(it) : []));
  const left = changes.flatMap(it => [...listParts(it.value ?? null)]);
  const all = [...said, ...parts, ...left, true, false].filter(it => it !== null);
  return [...new Set(all.map(it => JSON.stringify(it)))].map(it => JSON.parse(it) as Json);
}

/** The folder and the name of a path; nothing for other texts. */
function splitPath(text: string): string[] {
  const end = text.lastIndexOf("/");
  return end < 0 ? [] : [text.slice(0, end), text.slice(end + 1)];
}

/** Plain values, and lists as a whole. */
function* listParts(value: Json): Generator<Json> {
  if (value === null || typeof value !== "object") yield value;
  else {
    if (Array.isArray(value)) yield value;
    for (const it of Object.values(value) as Json[]) yield* listParts(it);
  }
}

// Which tools do together, or by inference, what another tool does. `isSubstitute` finds single
// tools that show the same fields, and `answerability` those that show the same values; what is
// left is listed here.

/** Short names of tools by the short name of the tool that they replace, by server. */
const derivations: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  derivationTable;

/** Full names of the tools with which the assistant can work out what a tool does. */
export function listDerivingTools(tool: string): readonly string[] {
  for (const [server, tools] of Object.entries(derivations)) {
    const own = tool.startsWith(`${server}_`) ? tools[tool.slice(server.length + 1)] : undefined;
    if (own) return own.map(it => `${server}_${it}`);
  }
  return [];
}

/** All tools that are named here. */
export const listDerivationNames = (): string[] =>
  Object.entries(derivations).flatMap(([server, tools]) =>
    Object.entries(tools).flatMap(([tool, others]) =>
      [tool, ...others].map(it => `${server}_${it}`),
    ),
  );
