/** Searches the offered writes for one or two calls that leave the world a hidden write leaves. */
import { canonicalJson, type Json, type JsonObject } from "../../environment/json.ts";
import type { Patch } from "../../environment/outcome.ts";
import type { Session } from "../../environment/session.ts";
import type { State } from "../../environment/state.ts";
import { advanceClock } from "../../environment/toolContext.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";

export interface Deed {
  /** In the state before the deed. */
  readonly session: Session;
  readonly offered: readonly ToolDeclaration[];
  /** The hidden call. */
  readonly declaration: ToolDeclaration;
  readonly arguments: JsonObject;
}

/** Calls of one search and of one tool, values of one argument, and calls in a row. */
const limits = { calls: 600, callsOfTool: 240, combinations: 36, values: 12, depth: 2 };

/** The tools that do it, or undefined if none do. */
export function searchDeed(deed: Deed): readonly string[] | undefined {
  const after = deed.session.fork();
  const { outcome, patches } = after.call(deed.declaration.tool.name, deed.arguments);
  const changes = patches.filter(isChange);
  return outcome.kind === "ok" && changes.length > 0
    ? new DeedSearch(deed, after.state, changes).findCalls(deed.session)
    : undefined;
}

/** The clock and the number of random draws change with every call. */
const isChange = ({ path }: Patch): boolean => !/^\/[a-z_]+\/(clock|draws)$/.test(path);

class DeedSearch {
  readonly #writes: readonly ToolDeclaration[];
  readonly #own: JsonObject;
  readonly #values: readonly Json[];
  /** What the deed changes, with the values that it leaves there. */
  readonly #wanted: ReadonlyMap<string, string>;
  /** The times that calls of this search leave in the world. */
  readonly #times: readonly string[];
  #calls = 0;

  constructor(
    { session, offered, declaration, arguments: own }: Deed,
    after: State,
    changes: readonly Patch[],
  ) {
    const { server } = declaration.tool;
    const countShared = (it: ToolDeclaration) =>
      listArguments(it).filter(({ key }) => own[key] !== undefined).length;
    this.#own = own;
    this.#writes = offered
      .filter(it => it.tool.effect === "write" && it.tool.server === server)
      .toSorted((a, b) => countShared(b) - countShared(a));
    const { clock } = session.state[server]!;
    this.#times = [clock, advanceClock(clock), advanceClock(advanceClock(clock))];
    this.#wanted = new Map(
      changes.map(it => cutAtIndex(it.path)).map(it => [it, this.#describe(after, it)]),
    );
    this.#values = listValues(own, changes);
  }

  /** One call is looked for before two. */
  findCalls(session: Session): readonly string[] | undefined {
    const steps: { readonly names: readonly string[]; readonly session: Session }[] = [
      { names: [], session },
    ];
    for (const { names, session: before } of steps) {
      for (const declaration of this.#writes) {
        for (const args of this.#listCalls(declaration)) {
          if (this.#calls++ >= limits.calls) return undefined;
          const step = { names: [...names, declaration.tool.name], session: before.fork() };
          const { outcome, patches } = step.session.call(declaration.tool.name, args);
          const changes = patches.filter(isChange);
          // a call that does something else as well is not what the user asked for
          if (outcome.kind !== "ok" || changes.length === 0 || !this.#isWithin(changes)) continue;
          if (this.#isDone(step.session.state)) return step.names;
          if (step.names.length < limits.depth) steps.push(step);
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
    let text = canonicalJson(getValueAt(state, path));
    for (const it of this.#times) text = text.replaceAll(it, "now");
    return text;
  }

  /** The hidden call's own arguments where the tool takes them, and every value that fits. */
  #listCalls(declaration: ToolDeclaration): JsonObject[] {
    const all = listArguments(declaration);
    const choose = (key: string): readonly Json[] => {
      const { schema } = all.find(it => it.key === key)!;
      const choices = schema["enum"] as readonly Json[] | undefined;
      const fitting = this.#values.filter(it => hasType(it, schema["type"]));
      const own = this.#own[key];
      return [...(own === undefined ? [] : [own]), ...(choices ?? fitting)].slice(0, limits.values);
    };
    let required: JsonObject[] = [{}];
    for (const { key } of all.filter(it => it.isRequired))
      required = required
        .flatMap(args => choose(key).map(it => ({ ...args, [key]: it })))
        .slice(0, limits.combinations);
    const optional = all.filter(it => !it.isRequired).map(it => it.key);
    const said = Object.fromEntries(
      optional.flatMap(key => (this.#own[key] === undefined ? [] : [[key, this.#own[key]]])),
    );
    const withOne = required.flatMap(args =>
      optional.flatMap(key => choose(key).map(value => ({ ...args, ...said, [key]: value }))),
    );
    return [...required.map(it => ({ ...it, ...said })), ...required, ...withOne].slice(
      0,
      limits.callsOfTool,
    );
  }
}

const listArguments = ({ inputs, labels, values }: ToolDeclaration) => [
  ...inputs,
  ...labels,
  ...values,
];

/** The path as far as the first index of a list. */
const cutAtIndex = (path: string): string => path.replace(/\/\d+(\/.*)?$/, "");

function getValueAt(state: State, path: string): Json {
  let value: unknown = state;
  for (const key of path.slice(1).split("/")) {
    if (value === null || typeof value !== "object") return null;
    value = (value as Record<string, unknown>)[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return (value ?? null) as Json;
}

/** The values of the call, the folders and names of its paths, and the values that it leaves. */
function listValues(own: JsonObject, changes: readonly Patch[]): Json[] {
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

const hasType = (value: Json, type: unknown): boolean =>
  type === "array"
    ? Array.isArray(value)
    : type === "integer"
      ? Number.isInteger(value)
      : typeof value === type;
