/**
 * Tries every call of a task's offered tools to depth two, with every value that the conversation
 * and the results contain, and reports what meets a request that the task leaves unmet. It is slow
 * and simple, and shares no code with the search in src/synthesis.
 */
import { openSessionByName } from "../../src/environment/catalog.ts";
import { canonicalJson, type Json, type JsonObject } from "../../src/environment/json.ts";
import type { JsonSchema, Tool } from "../../src/environment/server.ts";
import type { Session } from "../../src/environment/session.ts";
import type { Task } from "../../src/trajectory/task.ts";
import type { CallEvent } from "../../src/trajectory/trajectory.ts";
import { catalog } from "../contracts/transports.ts";

type Unmet = NonNullable<Task["turns"][number]["unmet"]>[number];

/** Values of one argument, and calls of one tool at one depth. */
const limits = { values: 16, calls: 120 };

/** The share of a result's values that answers a question about it. */
const mostShare = 0.7;

interface Shown {
  readonly key: string;
  readonly value: Json;
  /** The plain values beside it and around it, and in the arguments of the call. */
  readonly near: ReadonlySet<Json>;
}

/** What meets an unmet request, in words; undefined if nothing does. */
export function findAnswer(
  task: Task,
  turn: number,
  unmet: Unmet,
  offered: readonly string[] = task.menu.map(it => it.name),
): string | undefined {
  const session = openSessionByName(catalog, { servers: task.servers, seed: task.seed });
  const { text, calls } = replayUntil(task, turn, session);
  if (unmet.asks !== undefined && isSaid(text, unmet.arguments[unmet.asks]!))
    return `"${JSON.stringify(unmet.arguments[unmet.asks])}" was said before`;
  const before = calls.flatMap(it =>
    it.outcome.kind === "ok" ? [...listShown(it.outcome.value, it.arguments as JsonObject)] : [],
  );
  const said = listSaid(unmet, text);
  const tools = offered.map(it => catalog.tools.get(it)!);
  const reads = tools.filter(it => it.effect === "read");
  const made = new Set<string>();
  const first = readAll(session, reads, [...before, ...said], made);
  const second = readAll(session, reads, [...before, ...said, ...first], made);
  const shown = [...before, ...first, ...second];
  const known = [...said, ...shown];
  if (unmet.asks !== undefined) return findAskedValue(session, unmet, unmet.asks, shown);
  const tool = catalog.tools.get(unmet.name)!;
  if (offered.includes(unmet.name)) return findMissingIds(unmet, tool, text, shown);
  const { outcome } = session.fork().call(unmet.name, unmet.arguments);
  if (outcome.kind !== "ok") return undefined;
  return tool.effect === "read"
    ? findMostValues(unmet, outcome.value, text, shown)
    : findSameWorld(session, unmet, tools, known);
}

function replayUntil(
  { trajectory }: Task,
  turn: number,
  session: Session,
): { text: string; calls: CallEvent[] } {
  let turns = -1;
  const own = trajectory.events.filter(it => {
    if (it.kind === "user") turns++;
    return turns <= turn;
  });
  const reply = own.findLastIndex(it => it.kind === "assistant" && it.text !== "");
  const earlier = own.slice(0, reply);
  const calls = earlier.filter(it => it.kind === "call");
  for (const it of calls) session.call(it.name, it.arguments);
  const texts = earlier.flatMap(it =>
    it.kind === "user" || it.kind === "assistant" ? [it.text] : [],
  );
  return { text: texts.join("\n"), calls };
}

const isSaid = (text: string, value: Json): boolean =>
  new RegExp(
    String.raw`(?<![\p{L}\p{N}_])${escapePattern(formatPlain(value))}(?![\p{L}\p{N}_])`,
    "iu",
  ).test(text);

const formatPlain = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);

const escapePattern = (text: string): string =>
  text.replaceAll(/[.*+?^${}()|[\]\\/]/g, it => `\\${it}`);

/** Every plain value of a result. */
function* listShown(
  value: Json,
  args: JsonObject,
  key = "",
  around: readonly Json[] = Object.values(args).flat(),
): Generator<Shown> {
  if (value === null) return;
  if (typeof value !== "object") yield { key, value, near: new Set(around) };
  else if (Array.isArray(value)) for (const it of value) yield* listShown(it, args, key, around);
  else {
    const own = Object.values(value as JsonObject).filter(it => typeof it !== "object");
    for (const [name, it] of Object.entries(value as JsonObject))
      yield* listShown(it, args, name, [...around, ...own]);
  }
}

/** The arguments of the unmet call that the user has said. */
const listSaid = ({ arguments: args, asks }: Unmet, text: string): Shown[] =>
  Object.entries(args).flatMap(([key, value]) =>
    key === asks
      ? []
      : [value]
          .flat()
          .flatMap((it: Json) =>
            typeof it !== "string" || isSaid(text, it) || !/^[a-z]+_\d+$/.test(it)
              ? [{ key, value: it, near: new Set<Json>() }]
              : [],
          ),
  );

function readAll(
  session: Session,
  tools: readonly Tool[],
  known: readonly Shown[],
  made: Set<string>,
): Shown[] {
  return tools.flatMap(tool =>
    listCalls(tool, known).flatMap(args => {
      const call = `${tool.name} ${JSON.stringify(args)}`;
      if (made.has(call)) return [];
      made.add(call);
      const { outcome } = session.call(tool.name, args);
      return outcome.kind === "ok" ? [...listShown(outcome.value, args)] : [];
    }),
  );
}

/** Every combination of values for the required arguments, and each with one optional argument. */
function listCalls(tool: Tool, known: readonly Shown[]): JsonObject[] {
  const properties = Object.entries(
    (tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>,
  );
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  let calls: JsonObject[] = [{}];
  for (const [key, schema] of properties.filter(([it]) => required.includes(it)))
    calls = calls
      .flatMap(args => listValues(key, schema, known).map(it => ({ ...args, [key]: it })))
      .slice(0, limits.calls);
  const optional = properties.filter(([it]) => !required.includes(it));
  const more = calls.flatMap(args =>
    optional.flatMap(([key, schema]) =>
      listValues(key, schema, known).map(it => ({ ...args, [key]: it })),
    ),
  );
  return [...calls, ...more].slice(0, limits.calls);
}

/** Values of the same key first, then all others of the same type. */
function listValues(key: string, schema: JsonSchema, known: readonly Shown[]): Json[] {
  const plain = ((schema["anyOf"] as readonly JsonSchema[] | undefined) ?? [schema])[0]!;
  if (plain["enum"]) return plain["enum"] as Json[];
  const type = plain["type"] as string;
  if (type === "boolean") return [true, false];
  const fits = (it: Json) =>
    type === "integer" || type === "number" ? typeof it === "number" : typeof it === "string";
  const same = known.filter(it => it.key === key && fits(it.value));
  const values = new Set([...same, ...known.filter(it => fits(it.value))].map(it => it.value));
  const chosen = [...values].slice(0, limits.values);
  return type === "array" ? chosen.map(it => [it]) : chosen;
}

/** The only value of the argument for which the call works, or the value beside what is meant. */
function findAskedValue(
  session: Session,
  { name, arguments: args }: Unmet,
  key: string,
  shown: readonly Shown[],
): string | undefined {
  const value = args[key]!;
  const others = Object.entries(args).flatMap(([it, other]) => (it === key ? [] : [other]));
  const isId = (it: Json) => /^[a-z]+_\d+$/.test(formatPlain(it));
  const beside = new Set(
    shown
      .filter(it => it.key === key && others.some(other => isId(other) && it.near.has(other)))
      .map(it => it.value),
  );
  if (beside.size === 1 && beside.has(value))
    return `${key} ${JSON.stringify(value)} is shown beside what it belongs to`;
  const candidates = new Set(shown.flatMap(it => (it.key === key ? [it.value] : [])));
  const works = [...candidates].filter(it => {
    const { outcome, patches } = session.fork().call(name, { ...args, [key]: it });
    const isWrite = patches.some(({ path }) => !/\/(clock|draws)$/.test(path));
    return outcome.kind === "ok" && (isWrite || catalog.tools.get(name)!.effect === "read");
  });
  return works.length === 1 && works[0] === value
    ? `${key} ${JSON.stringify(value)} is the only one that works`
    : undefined;
}

/** Ids that are needed, were never shown, and are shown by a read. */
function findMissingIds(
  { arguments: args }: Unmet,
  { inputSchema }: Tool,
  text: string,
  shown: readonly Shown[],
): string | undefined {
  const ids = Object.entries(args)
    .filter(([key]) => {
      const schema = ((inputSchema["properties"] ?? {}) as Record<string, JsonSchema>)[key]!;
      return JSON.stringify(schema).includes('"x-entity"');
    })
    .flatMap(([, value]) => [value].flat())
    .filter(it => !isSaid(text, it));
  const isShown = (id: Json) => shown.some(it => it.value === id);
  return ids.length > 0 && ids.every(isShown)
    ? `${JSON.stringify(ids)} can be looked up`
    : undefined;
}

/**
 * Whether most values of a result that nobody has said are shown, each under the same key. The
 * number of rows counts what that list has, and says nothing about another one.
 */
function findMostValues(
  unmet: Unmet,
  result: Json,
  text: string,
  shown: readonly Shown[],
): string | undefined {
  const values = [...listShown(result, {})].filter(
    it =>
      it.key !== "total" &&
      !isSaid(text, it.value) &&
      !Object.values(unmet.arguments).flat().includes(it.value),
  );
  const isShown = (wanted: Shown) =>
    shown.some(it => it.key === wanted.key && it.value === wanted.value);
  return values.length > 0 && values.filter(isShown).length >= mostShare * values.length
    ? `most of ${JSON.stringify(result)} can be read`
    : undefined;
}

/** A write, or two, that leave the same world. */
function findSameWorld(
  session: Session,
  { name, arguments: args }: Unmet,
  tools: readonly Tool[],
  known: readonly Shown[],
): string | undefined {
  const { server } = catalog.tools.get(name)!;
  const getWorld = (it: Session) => it.state[server]!.world;
  const after = session.fork();
  after.call(name, args);
  const world = canonicalJson(getWorld(after));
  if (world === canonicalJson(getWorld(session))) return undefined;
  const writes = tools.filter(it => it.effect === "write" && it.server === server);
  const values = [...listShown(args, {}), ...known];
  for (const tool of writes)
    for (const call of listCalls(tool, values)) {
      const fork = session.fork();
      const { outcome } = fork.call(tool.name, call);
      if (outcome.kind === "ok" && canonicalJson(getWorld(fork)) === world)
        return `${tool.name} ${JSON.stringify(call)} does the same`;
    }
  return undefined;
}
