/**
 * What an agent acts on: a server is a schema for its world and tools that read or write it. A
 * definition is an inert value from which everything else is read: validation, MCP listing,
 * dependency graph. Knows nothing of models or wires.
 */
import { z } from "zod";
import type { ErrorType } from "./outcome.ts";
import type { Json, JsonObject } from "./json.ts";

export type JsonSchema = JsonObject;

/**
 * What a tool may know besides the world and its arguments: the session's own time, ids and chance.
 */
export interface ToolContext {
  /** The session's time, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  /** A new id `<prefix>_<number>`, never given twice in a session. Write tools only. */
  readonly newId: (prefix: string) => string;
  /** A number in [0, 1) from the session's seeded generator. Write tools only. */
  readonly random: () => number;
}

export interface ToolDefinition<
  World,
  Input extends z.core.$ZodShape,
  Returns extends z.core.$ZodShape,
> {
  /**
   * A read leaves the state as it is; a write runs on a draft that is published only if it
   * succeeds.
   */
  effect: "read" | "write";
  /** The description a model chooses by: one or two sentences. */
  summary: string;
  input: Input;
  returns: Returns;
  /** A write that removes or overwrites what cannot be made again. */
  destructive?: true;
  /** Repeating the call with equal arguments changes nothing more. */
  idempotent?: true;
  /**
   * Short names of tools of this server, one of which must have run to establish the state this one
   * needs.
   */
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
}

export interface Server {
  readonly name: string;
  readonly category: string;
  /** The state in a line. */
  readonly summary: string;
  readonly schema: z.ZodType;
  /** In the fixed order of the definition, by full name. */
  readonly tools: ReadonlyMap<string, Tool>;
}

type AnyDefinition = ToolDefinition<never, z.core.$ZodShape, z.core.$ZodShape>;

/**
 * Fixes the world's type once, so that each tool of a server infers its own argument and result
 * types.
 */
export const createToolFactory =
  <S extends z.ZodType>(_schema: S) =>
  <const Input extends z.core.$ZodShape, const Returns extends z.core.$ZodShape>(
    definition: ToolDefinition<z.output<S>, Input, Returns>,
  ): AnyDefinition =>
    definition as unknown as AnyDefinition;

/**
 * Makes a server of a world's schema and its tools, keyed by short name. Throws where the
 * definition is not sound.
 */
export function defineServer(definition: {
  name: string;
  category: string;
  summary: string;
  schema: z.ZodType;
  tools: Readonly<Record<string, AnyDefinition>>;
}): Server {
  const { name: server, category, summary, schema } = definition;
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
    const inputSchema = once(() => published(input, "input"));
    const outputSchema = once(() => published(returns, "output"));
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
  return { name: server, category, summary, schema, tools };
}

/** Publishing takes longer than defining: a tool that nobody looks at is not published. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function published(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, reused: "inline" });
  return rest as JsonSchema;
}

/** Thrown by `refuse`, caught by the session: a refusal is data, and leaves the state as it was. */
export class Refusal extends Error {
  readonly type: Exclude<ErrorType, "unknown_tool">;
  readonly hint: string | undefined;
  constructor(type: Exclude<ErrorType, "unknown_tool">, message: string, hint?: string) {
    super(message);
    this.type = type;
    this.hint = hint;
  }
}

/**
 * Refuses the call. The message is for a model to read: what prevents the call, with the values
 * concerned.
 */
export function refuse(
  type: Exclude<ErrorType, "unknown_tool">,
  message: string,
  hint?: string,
): never {
  // a refusal is a result, not a bug: nobody reads its stack, and taking one costs more than the
  // call
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const refusal = new Refusal(type, message, hint);
  Error.stackTraceLimit = stackTraceLimit;
  throw refusal;
}

/**
 * The entity of that id, or a `not_found` refusal. Own keys only, so `__proto__` is just another
 * unknown id.
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
