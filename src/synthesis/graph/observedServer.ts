/**
 * Explores a connected server that declares no entities: calls its read tools to see what their
 * results look like, and verifies edges with the values in those results. Runs only the calls that
 * its session allows.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Outcome } from "../../environment/outcome.ts";
import type { JsonSchema } from "../../environment/server.ts";
import type { Edge } from "./dependencyGraph.ts";
import type { PublishedTool } from "./labels.ts";
import { findStringsAt, type EdgeVerification } from "./verifyEdges.ts";

/** A session on a connected server, which returns to an earlier state by restarting. */
export interface LiveServer {
  readonly tools: ReadonlyMap<string, PublishedTool>;
  /** A call that is not allowed is refused without running. */
  call(name: string, args: JsonObject): Promise<Outcome>;
  /** Restarts the server and repeats its first calls. */
  restart(callCount: number): Promise<unknown>;
}

export interface Observation {
  /** The tools; a missing output schema is inferred from a result. */
  readonly tools: readonly PublishedTool[];
  /** The results of the read tools without required arguments, by tool name. */
  readonly values: ReadonlyMap<string, Json>;
}

/** Calls every read tool without required arguments once. */
export async function observeServer(live: LiveServer, signal?: AbortSignal): Promise<Observation> {
  const values = new Map<string, Json>();
  const tools: PublishedTool[] = [];
  for (const tool of live.tools.values()) {
    signal?.throwIfAborted();
    const isCallable = tool.effect === "read" && listRequiredKeys(tool).length === 0;
    const outcome = isCallable ? await live.call(tool.name, {}) : undefined;
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

/** Infers the schema of a value; for a list, the combined schema of its rows. */
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

/** The most values of a result that are tried for one argument. */
const maxTries = 3;

/** Runs the explicit edges whose first tool was observed, passing its values to the second tool. */
export async function* verifyObservedEdges(
  live: LiveServer,
  edges: readonly Edge[],
  { values }: Observation,
  signal?: AbortSignal,
): AsyncGenerator<EdgeVerification> {
  for (const { a, b, kind, via } of edges) {
    signal?.throwIfAborted();
    if (!via) {
      yield { a, b, kind, verified: "untried", tries: 0, why: "no value flows along the edge" };
      continue;
    }
    const edge = { a, b, kind, via };
    const createUntried = (why: string) => ({
      ...edge,
      verified: "untried" as const,
      tries: 0,
      why,
    });
    const others = listRequiredKeys(live.tools.get(b)!).filter(it => it !== via.input);
    const candidates = [...new Set(findStringsAt(values.get(a), via.output))].slice(0, maxTries);
    if (candidates.length === 0)
      yield createUntried(
        values.has(a)
          ? `${a} showed no ${via.output}`
          : `${a} requires arguments or is not allowed to run`,
      );
    else if (others.length > 0) yield createUntried(`${b} also requires ${others.join(" and ")}`);
    else yield { ...edge, ...(await tryValues(live, b, via.input, candidates)) };
  }
}

async function tryValues(
  live: LiveServer,
  name: string,
  input: string,
  candidates: readonly string[],
): Promise<Pick<EdgeVerification, "verified" | "tries" | "why">> {
  const tool = live.tools.get(name)!;
  const properties = (tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>;
  let why = "";
  for (const [i, value] of candidates.entries()) {
    // the effects of an earlier write must not influence this call
    if (tool.effect === "write") await live.restart(0);
    const outcome = await live.call(name, {
      [input]: properties[input]?.["type"] === "array" ? [value] : value,
    });
    if (outcome.kind === "ok") return { verified: "works", tries: i + 1 };
    if (outcome.kind === "refused" && outcome.type === "permission_denied")
      return { verified: "untried", tries: i + 1, why: outcome.message };
    why = outcome.message;
  }
  return { verified: "fails", tries: candidates.length, why };
}

const listRequiredKeys = ({ inputSchema }: PublishedTool): readonly string[] =>
  (inputSchema["required"] ?? []) as readonly string[];
