/**
 * One private state grown from fixtures, answering calls. The state is a frozen value: opening and
 * forking copy nothing, a write runs on a copy-on-write draft that is published only if it
 * succeeds. Does not know that models call it, or over which wire.
 */
import type { z } from "zod";
import type { Fixture } from "./fixture.ts";
import { findTypeMismatch } from "./typeCheck.ts";
import { computeDigest, deepFreeze, deriveDigest, type Digest } from "./digest.ts";
import { createDraft, finalizeValue, type DraftChange } from "./draft.ts";
import type { Json, JsonObject } from "./json.ts";
import type { CallResult, ErrorType, Fault, Patch } from "./outcome.ts";
import { findLimitViolation } from "./argumentLimits.ts";
import { keyOf, randomAt } from "./random.ts";
import { addMinutes } from "./time.ts";
import { Refusal, type ToolContext, type Server, type Tool } from "./server.ts";

/**
 * The state of one server: its world, its time, and how far its seeded generator has been drawn.
 */
export interface ServerState {
  readonly world: JsonObject;
  readonly clock: string;
  readonly draws: number;
}

/** The whole state of a session, by server name. Deeply frozen. */
export type State = Readonly<Record<string, ServerState>>;

export interface SessionOptions {
  readonly servers: readonly { readonly server: Server; readonly fixture: Fixture }[];
  /** Same seed and same calls give the same bytes. */
  readonly seed: number;
  /** Full names of the tools on offer; all tools of the servers when absent. */
  readonly menu?: readonly string[];
}

/** Opens a session on one or more servers. */
export function openSession({ servers, seed, menu }: SessionOptions): Session {
  return new Session(
    toolsOf(
      servers.map(it => it.server),
      menu,
    ),
    seed,
    startOf(servers),
  );
}

function toolsOf(
  servers: readonly Server[],
  menu: readonly string[] | undefined,
): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  if (!menu)
    for (const server of servers) for (const [name, tool] of server.tools) tools.set(name, tool);
  else
    for (const name of menu) {
      const tool = servers.find(it => it.tools.has(name))?.tools.get(name);
      if (tool) tools.set(name, tool);
    }
  return tools;
}

/** By the first fixture: the states of sessions that were opened on the same fixtures. */
const starts = new WeakMap<
  Fixture,
  { readonly fixtures: readonly Fixture[]; readonly state: State }[]
>();

/** The first state, one and the same for all sessions that are opened alike, with its digest. */
function startOf(servers: SessionOptions["servers"]): State {
  const first = servers[0]?.fixture;
  if (!first) return Object.freeze({});
  const known = starts.get(first) ?? [];
  const found = known.find(
    ({ fixtures }) =>
      fixtures.length === servers.length && fixtures.every((it, i) => it === servers[i]!.fixture),
  );
  if (found) return found.state;
  const state = Object.freeze(
    Object.fromEntries(servers.map(({ server, fixture }) => [server.name, stateOf(fixture)])),
  );
  starts.set(first, [...known.slice(-15), { fixtures: servers.map(it => it.fixture), state }]);
  return state;
}

export class Session {
  /** The tools on offer, by full name, in menu order. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly seed: number;
  #state: State;

  constructor(tools: ReadonlyMap<string, Tool>, seed: number, state: State) {
    this.tools = tools;
    this.seed = seed;
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  get digest(): Digest {
    return computeDigest(this.#state);
  }

  /**
   * Answers one call. Never throws: whatever goes wrong is an outcome, and leaves the state as it
   * was.
   */
  call(name: string, args: unknown): CallResult {
    const tool = this.tools.get(name);
    if (!tool)
      return this.#failed(
        "unknown-tool",
        "unknown_tool",
        `there is no tool ${name}`,
        "call one of the tools on offer",
      );
    try {
      // what fits the whole schema fits its types: only what does not is looked at more closely, to
      // say what is wrong with it
      const parsed = tool.input.safeParse(args);
      if (!parsed.success) {
        const why = findTypeMismatch(tool.inputSchema, args);
        if (why) return this.#failed("bad-arguments", "invalid_params", why);
      }
      const violation = findLimitViolation(args);
      if (violation) return this.#failed("refused", violation.type, violation.message);
      if (!parsed.success)
        return this.#failed("refused", "invalid_params", wordsOf(parsed.error.issues[0]!));
      return tool.effect === "read"
        ? this.#read(tool, parsed.data)
        : this.#write(tool, parsed.data);
    } catch (error) {
      if (error instanceof Refusal)
        return this.#failed("refused", error.type, error.message, error.hint);
      return this.#failed(
        "broken",
        "internal",
        `${name} broke: ${(error as Error).stack ?? String(error)}`,
      );
    }
  }

  /**
   * Another session that starts from this one's state and never sees this one again. Copies
   * nothing.
   */
  fork(): Session {
    return new Session(this.tools, this.seed, this.#state);
  }

  /** Puts back a state that this session, or one opened alike, had before. */
  restore(state: State): void {
    this.#state = state;
  }

  #read(tool: Tool, args: JsonObject): CallResult {
    const { world, clock } = this.#state[tool.server]!;
    const value = tool.run(world, args, { now: clock, newId: notInARead, random: notInARead });
    return { outcome: { kind: "ok", value }, patches: [], digest: this.digest };
  }

  #write(tool: Tool, args: JsonObject): CallResult {
    const before = this.#state[tool.server]!;
    const context = momentOf(before, keyOf(this.seed, tool.server));
    const draft = createDraft<Writable>(before);
    const value = tool.run(draft.value.world, args, context);
    draft.value.clock = ticked(before.clock);
    draft.value.draws = context.draws;
    const { after, changes } = draft.finish();
    const state = Object.freeze({ ...this.#state, [tool.server]: after });
    deriveDigest(this.#state, state, [tool.server]);
    this.#state = state;
    // a result may point into the draft, which has ended
    return {
      outcome: { kind: "ok", value: finalizeValue(value) },
      patches: changes.map(it => patchOf(tool.server, it)),
      digest: this.digest,
    };
  }

  #failed(
    kind: Fault["kind"],
    type: ErrorType | "internal",
    message: string,
    hint?: string,
  ): CallResult {
    return {
      outcome: { kind, type, message, ...(hint === undefined ? {} : { hint }) },
      patches: [],
      digest: this.digest,
    };
  }
}

const wordsOf = ({ path, message }: z.core.$ZodIssue) =>
  path.length ? `${path.join(".")}: ${message}` : message;

/** A server's state as a tool's run may change it; the world's own type is the tool's affair. */
type Writable = { world: JsonObject; clock: string; draws: number };

function patchOf(server: string, { op, path: place, value }: DraftChange): Patch {
  const path = `/${server}/${place.map(escaped).join("/")}`;
  return op === "remove" ? { op, path } : { op, path, value: value as Json };
}

/** A key as a step of a JSON Pointer. */
const escaped = (key: string | number) =>
  typeof key === "number" || !/[~/]/.test(key)
    ? key
    : key.replaceAll("~", "~0").replaceAll("/", "~1");

const opened = new WeakMap<Fixture, ServerState>();

/** A fixture as a first state, shared by every session that starts from it. */
function stateOf(fixture: Fixture): ServerState {
  let state = opened.get(fixture);
  if (!state)
    opened.set(
      fixture,
      (state = deepFreeze({
        world: rebuilt(fixture.state) as JsonObject,
        clock: fixture.now,
        draws: 0,
      })),
    );
  return state;
}

/**
 * The same value with its records built anew: V8 keeps such a record's keys in a shape that all its
 * copies share, and those of parsed text, from some 130 keys on, in a hash table, for which every
 * copy and every look over its entries pays.
 */
function rebuilt(value: Json): Json {
  if (Array.isArray(value)) return value.map((it: Json) => rebuilt(it));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, rebuilt(it)]));
}

const notInARead = (): never => {
  throw new Error("a read tool draws no ids and no chance");
};

/** Ids and chance by counter, so that the number of draws is the generator's whole state. */
function momentOf(state: ServerState, key: number): ToolContext & { draws: number } {
  const context = {
    now: state.clock,
    draws: state.draws,
    random: () => randomAt(key, context.draws++),
    // an affine walk over four-digit numbers: no id comes twice, and none meets a fixture's (under
    // 1000)
    newId: (prefix: string) => {
      const n = context.draws++;
      return `${prefix}_${n < 9000 ? 1000 + ((n * 7919 + (key % 9000)) % 9000) : 10_000 + n}`;
    },
  };
  return context;
}

/** A minute later, mostly within the hour. */
function ticked(clock: string): string {
  const minute = Number(clock.slice(14)) + 1;
  return minute < 60
    ? `${clock.slice(0, 14)}${minute < 10 ? "0" : ""}${minute}`
    : addMinutes(clock, 1);
}
