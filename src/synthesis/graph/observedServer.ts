/**
 * A server that declares nothing, looked at from outside: its reads are called to see what results
 * look like, and the edges that names suggest are held against what it answers. Runs only what its
 * session lets through; how that is started it does not know.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Outcome } from "../../environment/outcome.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { findStringsAt, type EdgeVerification } from "./verifyEdges.ts";
import type { Edge } from "./dependencyGraph.ts";
import type { PublishedTool } from "./labels.ts";

/** A session on a server that is no value: it goes back by being started afresh. */
export interface LiveServer {
  readonly tools: ReadonlyMap<string, PublishedTool>;
  /** A call that it may not run is refused, not run. */
  call(name: string, args: JsonObject): Promise<Outcome>;
  /** Starts afresh and makes the first `n` calls again. */
  back(n: number): Promise<unknown>;
}

export interface Observation {
  /** The tools, with a schema read off an answer where none is published. */
  readonly tools: readonly PublishedTool[];
  /** What the reads that need nothing answered, by tool. */
  readonly values: ReadonlyMap<string, Json>;
}

/** Calls every read tool that needs no argument, once. */
export async function observeServer(live: LiveServer, signal?: AbortSignal): Promise<Observation> {
  const values = new Map<string, Json>();
  const tools: PublishedTool[] = [];
  for (const tool of live.tools.values()) {
    signal?.throwIfAborted();
    const isFree = tool.effect === "read" && requiredOf(tool).length === 0;
    const outcome = isFree ? await live.call(tool.name, {}) : undefined;
    if (outcome?.kind === "ok") values.set(tool.name, outcome.value);
    const isPublished = Object.keys(tool.outputSchema).length > 0;
    tools.push(
      isPublished || outcome?.kind !== "ok"
        ? tool
        : { ...tool, outputSchema: inferSchema(outcome.value) },
    );
  }
  return { tools, values };
}

/** The schema of one value: of a list, that of all its rows together. */
function inferSchema(value: Json): JsonSchema {
  if (Array.isArray(value)) {
    const rows = value.map(inferSchema);
    const properties = Object.assign({}, ...rows.map(it => it["properties"] ?? {})) as JsonObject;
    return {
      type: "array",
      items: Object.keys(properties).length > 0 ? { type: "object", properties } : (rows[0] ?? {}),
    };
  }
  if (value === null) return { type: "null" };
  if (typeof value !== "object") return { type: typeof value };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(value).map(([key, it]) => [key, inferSchema(it)]),
    ),
  };
}

/** Values of one argument that are tried: the first few that a result shows. */
const mostTries = 3;

/**
 * Runs the explicit edges whose first tool answered, handing its values to the second tool; what a
 * write leaves behind goes with the server.
 */
export async function* verifyObservedEdges(
  live: LiveServer,
  edges: readonly Edge[],
  { values }: Observation,
  signal?: AbortSignal,
): AsyncGenerator<EdgeVerification> {
  for (const { a, b, kind, via } of edges) {
    signal?.throwIfAborted();
    if (!via) {
      yield { a, b, kind, verified: "untried", tries: 0, why: "nothing flows along it" };
      continue;
    }
    const edge = { a, b, kind, via };
    const others = requiredOf(live.tools.get(b)!).filter(it => it !== via.input);
    const shown = [...new Set(findStringsAt(values.get(a), via.output))].slice(0, mostTries);
    if (shown.length === 0)
      yield {
        ...edge,
        verified: "untried",
        tries: 0,
        why: values.has(a)
          ? `${a} showed no ${via.output}`
          : `${a} needs arguments, or may not be run`,
      };
    else if (others.length > 0)
      yield {
        ...edge,
        verified: "untried",
        tries: 0,
        why: `${b} needs ${others.join(" and ")} too`,
      };
    else yield { ...edge, ...(await tryValues(live, b, via.input, shown)) };
  }
}

async function tryValues(
  live: LiveServer,
  tool: string,
  input: string,
  shown: readonly string[],
): Promise<Pick<EdgeVerification, "verified" | "tries" | "why">> {
  const properties = (live.tools.get(tool)!.inputSchema["properties"] ?? {}) as Record<
    string,
    JsonSchema
  >;
  let why = "";
  for (const [i, value] of shown.entries()) {
    // what a write leaves behind must not help the next one
    if (live.tools.get(tool)!.effect === "write") await live.back(0);
    const outcome = await live.call(tool, {
      [input]: properties[input]?.["type"] === "array" ? [value] : value,
    });
    if (outcome.kind === "ok") return { verified: "works", tries: i + 1 };
    if (outcome.kind === "refused" && outcome.type === "permission_denied")
      return { verified: "untried", tries: i + 1, why: outcome.message };
    why = outcome.message;
  }
  return { verified: "fails", tries: shown.length, why };
}

const requiredOf = ({ inputSchema }: PublishedTool): readonly string[] =>
  (inputSchema["required"] ?? []) as readonly string[];
