/**
 * The definition of a server: a schema for its state, and tools that read or write the state. The
 * definition is plain data, from which validation, the MCP listing and the dependency graph follow.
 */
import { join } from "node:path";
import { z } from "zod";
import type { ErrorType } from "./outcome.ts";
import type { Json, JsonObject } from "./json.ts";
import { createReferenceCheck, type References } from "./referenceChecks.ts";

export type JsonSchema = JsonObject;

/** A fixture, and the writes that were made on it. */
export interface StateHistory {
  readonly fixture: string;
  readonly calls: readonly LoggedCall[];
}

/** A call with its full name. */
export interface LoggedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What a tool receives besides the state and its arguments. */
export interface ToolContext {
  /** The session's time, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  /** A new id `<prefix>_<number>`, unique within the session. Write tools only. */
  readonly newId: (prefix: string) => string;
  /** A number in [0, 1) from the session's seeded generator. Write tools only. */
  readonly random: () => number;
  /** Of a server that runs elsewhere: how its process gets to this state. */
  readonly history?: StateHistory | undefined;
}

/** What `createToolFactory` takes. */
export interface ToolDefinition<
  World,
  Input extends z.core.$ZodShape,
  Returns extends z.core.$ZodShape,
> {
  /** A read does not change the state; a write runs on a draft that counts only if it succeeds. */
  effect: "read" | "write";
  /** The description that a model sees: one or two sentences. */
  summary: string;
  input: Input;
  returns: Returns;
  /** The write removes or overwrites something that cannot be restored. */
  destructive?: true;
  /** Repeating the call with equal arguments has no further effect. */
  idempotent?: true;
  /** Short names of tools of this server, one of which must have run before this one. */
  requires?: readonly string[];
  run: (
    world: World,
    args: z.output<z.ZodObject<Input>>,
    context: ToolContext,
  ) => z.input<z.ZodObject<Returns>>;
}

export interface Tool {
  /** Full name as models see it: `<server>_<verb…>`. */
  readonly name: string;
  readonly server: string;
  readonly effect: "read" | "write";
  readonly summary: string;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  /** Full names of tools of this server, one of which must have run before. */
  readonly requires: readonly string[];
  readonly input: z.ZodType<JsonObject>;
  readonly returns: z.ZodType;
  /** Published JSON Schema (draft 2020-12) of arguments and of `structuredContent`. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly run: (world: unknown, args: JsonObject, context: ToolContext) => Json;
  /** Of a server that runs elsewhere: gets what `run` needs, which does not wait for it then. */
  readonly prepare?: (world: unknown, args: JsonObject, history: StateHistory) => Promise<void>;
}

export interface Server {
  readonly name: string;
  readonly category: string;
  /** What the state holds, in one line. */
  readonly summary: string;
  /** Of the state, with the check of its references. */
  readonly schema: z.ZodType;
  readonly references: References;
  /** In the fixed order of the definition, by full name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly invariants: readonly Invariant[];
  /** It runs in processes of its own, whose states are observed. */
  readonly isConnected?: true;
  /** Throws a `UserError` if no session may be opened on it. */
  readonly checkAccess?: () => void;
  /** How much its processes have done so far, by kind of work. */
  readonly countWork?: () => Promise<Readonly<Record<string, number>>>;
  /** Throws if the state that a write left breaks the schema or an invariant. */
  readonly checkWrite?: (after: unknown, before: unknown) => void;
  /** The folder with its texts, if they are not among those that ship. */
  readonly folder?: string;
}

/** A file with texts of a server: its own, else the one that ships. */
export const getTextFile = (shipped: string, { name, folder }: Server, file: string): string =>
  join(folder ?? join(shipped, name), file);

/**
 * A business rule of a server: it holds in every state that calls can lead to, whichever tools are
 * used.
 */
export interface Invariant<World = unknown> {
  /** The rule in one sentence, such as "An account is never overdrawn." */
  readonly rule: string;
  /**
   * Describes a violation, or returns undefined. `before` is the state before the write that led to
   * this one; it is absent for a state that no write led to, such as a fixture.
   */
  readonly findViolation: (world: World, before?: World) => string | undefined;
}

type AnyDefinition = ToolDefinition<never, z.core.$ZodShape, z.core.$ZodShape>;

/**
 * Creates a function that defines tools on the state of this schema. Each tool then infers the
 * types of its own arguments and result.
 */
export const createToolFactory =
  <S extends z.ZodType>(_schema: S) =>
  <const Input extends z.core.$ZodShape, const Returns extends z.core.$ZodShape>(
    definition: ToolDefinition<z.output<S>, Input, Returns>,
  ): AnyDefinition => {
    const tool = definition as unknown as AnyDefinition;
    collected?.push(tool);
    return tool;
  };

let collected: AnyDefinition[] | undefined;

/** Runs code, and also returns the tools that it defined, in order. */
export function collectDefinitions<T>(run: () => T): readonly [T, readonly AnyDefinition[]] {
  const outer = collected;
  const own: AnyDefinition[] = [];
  collected = own;
  try {
    return [run(), own];
  } finally {
    collected = outer;
  }
}

/**
 * Defines a server from the schema of its state and its tools, keyed by short name. Throws if a
 * name is not valid or a required tool does not exist.
 */
export function defineServer<S extends z.ZodType>(definition: {
  name: string;
  category: string;
  summary: string;
  schema: S;
  references?: References;
  tools: Readonly<Record<string, AnyDefinition>>;
  invariants?: readonly Invariant<z.output<S>>[];
}): Server {
  const { name: server, category, summary, references = {} } = definition;
  const tools = new Map<string, Tool>();
  for (const [short, it] of Object.entries(definition.tools)) {
    const name = `${server}_${short}`;
    if (!/^[a-z][a-z0-9_]{2,63}$/.test(name))
      throw new Error(`tool name ${name} is not a valid identifier`);
    const input = z.strictObject(it.input);
    const returns = z.object(it.returns);
    const requires = (it.requires ?? []).map(need => {
      if (!(need in definition.tools))
        throw new Error(`${name} requires ${need}, which ${server} does not have`);
      return `${server}_${need}`;
    });
    const inputSchema = memoize(() => toJsonSchema(input, "input"));
    const outputSchema = memoize(() => toJsonSchema(returns, "output"));
    tools.set(name, {
      name,
      server,
      effect: it.effect,
      summary: it.summary,
      destructive: it.destructive ?? false,
      idempotent: it.effect === "read" || (it.idempotent ?? false),
      requires,
      input: input as unknown as z.ZodType<JsonObject>,
      returns,
      get inputSchema() {
        return inputSchema();
      },
      get outputSchema() {
        return outputSchema();
      },
      run: it.run as unknown as Tool["run"],
    });
  }
  const invariants = (definition.invariants ?? []) as readonly Invariant[];
  const schema = definition.schema.superRefine((state, context) =>
    createReferenceCheck(references)(state as object, context),
  );
  return { name: server, category, summary, schema, references, tools, invariants };
}

/** Schemas are converted when they are first used, because that takes longer than defining them. */
function memoize<T>(create: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= create());
}

function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, reused: "inline" });
  return rest as JsonSchema;
}

type RefusalType = Exclude<ErrorType, "unknown_tool">;

/** Thrown by `refuse`. The session turns it into an outcome and leaves the state unchanged. */
export class Refusal extends Error {
  readonly type: RefusalType;
  readonly hint: string | undefined;
  constructor(type: RefusalType, message: string, hint?: string) {
    super(message);
    this.type = type;
    this.hint = hint;
  }
}

/**
 * Refuses the call. The message is for a model to read: what prevents the call, with the values
 * concerned.
 */
export function refuse(type: RefusalType, message: string, hint?: string): never {
  // a refusal is a result, not a bug: nobody reads its stack, and taking one costs more than the
  // call
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const refusal = new Refusal(type, message, hint);
  Error.stackTraceLimit = stackTraceLimit;
  throw refusal;
}

/**
 * The entity with that id; refuses the call as `not_found` if there is none. It looks at own keys
 * only, so that `__proto__` is just an unknown id.
 */
export function findEntity<T>(
  entities: Readonly<Record<string, T>>,
  id: string,
  noun: string,
  hint?: string,
): T {
  return Object.hasOwn(entities, id)
    ? entities[id]!
    : refuse("not_found", `there is no ${noun} ${id}`, hint);
}
