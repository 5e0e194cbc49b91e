/**
 * A session: one private state, created from fixtures, that executes calls. The state is a frozen
 * value: opening and forking a session copy nothing, and a write runs on a copy-on-write draft that
 * replaces the state only if the call succeeds.
 */
import type { z } from "zod";
import { replaceTooDeep, tooDeepText } from "../storage/jsonDepth.ts";
import { findLimitViolation, findArgumentMismatch } from "./argumentChecks.ts";
import { computeDigest, deriveDigest, measureJson, type Digest } from "./digest.ts";
import { createDraft, finalizeValue, type DraftChange } from "./draft.ts";
import type { Json, JsonObject } from "./json.ts";
import {
  createTooDeepFault,
  createUnknownToolFault,
  type CallResult,
  type ErrorType,
  type Fault,
  type Patch,
} from "./outcome.ts";
import { computeRandomKey, randomAt } from "./random.ts";
import {
  Refusal,
  type LoggedCall,
  type Server,
  type StateHistory,
  type Tool,
  type ToolContext,
} from "./server.ts";
import { getInitialState, type SessionServer, type State, type ServerState } from "./state.ts";
import { addMinutes } from "./time.ts";
import { findReason } from "../storage/schemaIssue.ts";

interface SessionOptions {
  readonly servers: readonly SessionServer[];
  /** Sessions with the same seed and the same calls give the same bytes. */
  readonly seed: number;
  /** The full names of the offered tools; all tools of the servers if absent. */
  readonly menu?: readonly string[];
  /** Shared by sessions with the same servers and seed, which then repeat no call on a state. */
  readonly memo?: CallMemo | undefined;
}

/** Opens a session on one or more servers. */
export function openSession({ servers, seed, menu, memo }: SessionOptions): Session {
  const own = servers.map(it => it.server);
  for (const it of own) it.checkAccess?.();
  return new Session(own, selectTools(own, menu), seed, getInitialState(servers), memo);
}

function selectTools(
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

/**
 * The size that calls may let the state of one server grow to, in characters of JSON text. It also
 * bounds what a call can cost. Shipped fixtures have up to 60,000.
 */
export const maxStateSize = 1_000_000;

export class Session {
  readonly seed: number;
  readonly #servers: readonly Server[];
  #tools: ReadonlyMap<string, Tool>;
  #state: State;
  readonly #memo: CallMemo | undefined;

  constructor(
    servers: readonly Server[],
    tools: ReadonlyMap<string, Tool>,
    seed: number,
    state: State,
    memo?: CallMemo,
  ) {
    this.#servers = servers;
    this.#tools = tools;
    this.seed = seed;
    this.#state = state;
    this.#memo = memo;
  }

  /** The offered tools, by full name, in menu order. */
  get tools(): ReadonlyMap<string, Tool> {
    return this.#tools;
  }

  /** Offers more tools of its servers from now on. Names that no server has are ignored. */
  addTools(names: readonly string[]): void {
    this.#tools = new Map([...this.#tools, ...selectTools(this.#servers, names)]);
  }

  get state(): State {
    return this.#state;
  }

  get digest(): Digest {
    return computeDigest(this.#state);
  }

  /**
   * Executes a call. It never throws: every failure is an outcome that leaves the state unchanged.
   */
  call(name: string, args: unknown): CallResult {
    const tool = this.#tools.get(name);
    if (!tool) return this.#fail(createUnknownToolFault(name, args));
    // a record has the text in their place, and its replay the same outcome
    if (replaceTooDeep(args) === tooDeepText) return this.#fail(createTooDeepFault());
    if (!this.#memo) return this.#execute(tool, args);
    const { result, after } = this.#memo.getOrExecute(this.#state, name, args, () => ({
      result: this.#execute(tool, args),
      after: this.#state,
    }));
    this.#state = after;
    return result;
  }

  /**
   * Asks the servers that run elsewhere, so that these calls, made one after the other, do not wait
   * for them. Undefined if no such server is called.
   */
  prepare(calls: readonly PreparedCall[]): Promise<void> | undefined {
    return calls.some(it => this.#tools.get(it.name)?.prepare)
      ? this.fork().#prepareAndCall(calls)
      : undefined;
  }

  async #prepareAndCall(calls: readonly PreparedCall[]): Promise<void> {
    for (const [i, { name, arguments: args }] of calls.entries()) {
      const tool = this.#tools.get(name);
      if (tool?.prepare && !this.#memo?.has(this.#state, name, args) && fits(tool, args)) {
        const { world, history } = this.#state[tool.server]!;
        await tool.prepare(world, args, history!);
      }
      if (i === calls.length - 1) return;
      if (this.call(name, args).outcome.kind === "broken") return;
    }
  }

  #execute(tool: Tool, args: unknown): CallResult {
    try {
      // arguments that match the full schema also have the right types; the slower check, which
      // describes the mismatch, runs only on the others
      const parsed = tool.input.safeParse(args);
      if (!parsed.success) {
        const mismatch = findArgumentMismatch(tool.inputSchema, args);
        if (mismatch)
          return this.#fail({ kind: "bad-arguments", type: "invalid_params", message: mismatch });
      }
      const violation = findLimitViolation(args);
      if (violation) return this.#refuse(violation.type, violation.message);
      if (!parsed.success)
        return this.#refuse("invalid_params", formatIssue(findReason(parsed.error)));
      return tool.effect === "read"
        ? this.#read(tool, parsed.data)
        : this.#write(tool, parsed.data);
    } catch (error) {
      if (error instanceof Refusal) return this.#refuse(error.type, error.message, error.hint);
      const message = `${tool.name} broke: ${(error as Error).stack ?? String(error)}`;
      return this.#fail({ kind: "broken", type: "internal", message });
    }
  }

  /** Opens another session that starts from this one's state and is independent of it. */
  fork(): Session {
    return new Session(this.#servers, this.#tools, this.seed, this.#state, this.#memo);
  }

  /** Returns to a state, and to tools, that this session or its source had before. */
  restore(state: State, tools = this.#tools): void {
    this.#state = state;
    this.#tools = tools;
  }

  #read(tool: Tool, args: JsonObject): CallResult {
    const state = this.#state[tool.server]!;
    const value = tool.run(state.world, args, createReadContext(state));
    return { outcome: { kind: "ok", value }, patches: [], digest: this.digest };
  }

  #write(tool: Tool, args: JsonObject): CallResult {
    const before = this.#state[tool.server]!;
    const context = createWriteContext(before, computeRandomKey(this.seed, tool.server));
    const draft = createDraft<WritableServerState>(before);
    const value = tool.run(draft.value.world, args, context);
    draft.value.clock = advanceClock(before.clock);
    draft.value.draws = context.draws;
    (draft.value.history?.calls as LoggedCall[] | undefined)?.push({
      name: tool.name,
      arguments: args,
    });
    const { after, changes } = draft.finish();
    this.#servers.find(it => it.name === tool.server)?.checkWrite?.(after.world, before.world);
    const size = measureJson(after.world);
    if (size > maxStateSize && size > measureJson(before.world))
      return this.#refuse(
        "limit_exceeded",
        `${tool.server} is full: its state would have ${size} characters, and ${maxStateSize} are the most`,
        "delete something first",
      );
    const state = Object.freeze({ ...this.#state, [tool.server]: after });
    deriveDigest(this.#state, state, [tool.server]);
    this.#state = state;
    return {
      // the value may contain parts of the draft
      outcome: { kind: "ok", value: finalizeValue(value) },
      patches: changes.map(it => createPatch(tool.server, it)),
      digest: this.digest,
    };
  }

  #refuse(type: ErrorType, message: string, hint?: string): CallResult {
    return this.#fail({
      kind: "refused",
      type,
      message,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  #fail(fault: Fault): CallResult {
    return { outcome: fault, patches: [], digest: this.digest };
  }
}

/** A call that is going to be made. */
export interface PreparedCall {
  readonly name: string;
  readonly arguments: unknown;
}

/** Whether a tool accepts the arguments. */
const fits = (tool: Tool, args: unknown): args is JsonObject =>
  replaceTooDeep(args) !== tooDeepText &&
  tool.input.safeParse(args).success &&
  !findLimitViolation(args);

const formatIssue = ({ path, message }: z.core.$ZodIssue) =>
  path.length ? `${path.join(".")}: ${message}` : message;

type WritableServerState = {
  world: JsonObject;
  clock: string;
  draws: number;
  history?: StateHistory;
};

function createPatch(server: string, { op, path: keys, value }: DraftChange): Patch {
  const path = `/${server}/${keys.map(escapeKey).join("/")}`;
  return op === "remove" ? { op, path } : { op, path, value: value as Json };
}

/** A key as a reference token of a JSON Pointer. */
const escapeKey = (key: string | number) =>
  typeof key === "number" || !/[~/]/.test(key)
    ? key
    : key.replaceAll("~", "~0").replaceAll("/", "~1");

// What a call receives besides its arguments: the session's time, ids and random numbers. All of
// them follow from the session's seed and from how often its generator has been drawn from.

/** The context of a read, which may draw neither ids nor random numbers. */
const createReadContext = ({ clock, history }: ServerState): ToolContext => ({
  now: clock,
  newId: throwInRead,
  random: throwInRead,
  history,
});

const throwInRead = (): never => {
  throw new Error("a read tool must not draw ids or random numbers");
};

/** The context of a write, which counts its draws. */
function createWriteContext(
  { clock, draws, history }: ServerState,
  key: number,
): ToolContext & { draws: number } {
  const context = {
    now: clock,
    draws,
    history,
    random: () => randomAt(key, context.draws++),
    // an affine walk over four-digit numbers: no id is drawn twice, and none is below 1000, where
    // the ids of fixtures are
    newId: (prefix: string) => {
      const n = context.draws++;
      return `${prefix}_${n < 9000 ? 1000 + ((n * 7919 + (key % 9000)) % 9000) : 10_000 + n}`;
    },
  };
  return context;
}

/** One minute later. Within the hour this is done on the text, which is faster. */
export function advanceClock(clock: string): string {
  const minute = Number(clock.slice(14)) + 1;
  return minute < 60
    ? `${clock.slice(0, 14)}${minute < 10 ? "0" : ""}${minute}`
    : addMinutes(clock, 1);
}

// Remembers what calls returned and which state they left, by the state before. Sessions with the
// same servers and seed that share it execute a call on a state once.

interface ExecutedCall {
  readonly result: CallResult;
  readonly after: State;
}

/**
 * The most calls that a memo keeps, which bounds its memory: it may be shared by sessions for days.
 */
export const maxMemoCalls = 10_000;

export class CallMemo {
  readonly #callsByState = new WeakMap<State, Map<string, ExecutedCall>>();
  #callCount = 0;

  has(before: State, name: string, args: unknown): boolean {
    return this.#callsByState.get(before)?.has(createCallKey(name, args)) ?? false;
  }

  /** The executed call, from the memo or else from `execute`. A full memo keeps no other call. */
  getOrExecute(
    before: State,
    name: string,
    args: unknown,
    execute: () => ExecutedCall,
  ): ExecutedCall {
    const calls = this.#callsByState.get(before) ?? new Map<string, ExecutedCall>();
    const key = createCallKey(name, args);
    const known = calls.get(key);
    if (known) return known;
    const call = execute();
    if (this.#callCount === maxMemoCalls) return call;
    this.#callCount++;
    this.#callsByState.set(before, calls.set(key, call));
    return call;
  }
}

const createCallKey = (name: string, args: unknown) => `${name} ${JSON.stringify(args)}`;
