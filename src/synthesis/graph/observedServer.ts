/**
 * Explores a connected server that declares no entities: calls its read tools to see what their
 * results look like, and verifies edges with the values in those results. What will be called is
 * planned first, so that a person can see it before it is.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Outcome } from "../../environment/outcome.ts";
import { getProperties, listRequired } from "../../environment/schemaKeywords.ts";
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

/** Lists the tools that `observeServer` calls: the reads without required arguments. */
export const listObservedTools = ({ tools }: Pick<LiveServer, "tools">): PublishedTool[] =>
  [...tools.values()].filter(
    it => it.effect === "read" && listRequired(it.inputSchema).length === 0,
  );

/** Calls every read tool without required arguments once. */
export async function observeServer(live: LiveServer, signal?: AbortSignal): Promise<Observation> {
  const values = new Map<string, Json>();
  const tools: PublishedTool[] = [];
  const observed = new Set(listObservedTools(live));
  for (const tool of live.tools.values()) {
    signal?.throwIfAborted();
    const outcome = observed.has(tool) ? await live.call(tool.name, {}) : undefined;
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

/** The calls by which an edge is verified, or why it is not. */
export interface PlannedEdge {
  readonly edge: Edge;
  /** The second tool, with the arguments of each try; the first that succeeds is the last. */
  readonly run?: { readonly tool: PublishedTool; readonly tries: readonly JsonObject[] };
  readonly why?: string;
  /** The second tool, if it is not allowed to run. */
  readonly refused?: PublishedTool;
}

/**
 * Plans how edges are verified: with values that the first tool returned, passed to the second. A
 * tool for which there is a refusal is not called.
 */
export const planVerification = (
  edges: readonly Edge[],
  { tools, values }: Observation,
  findRefusal: (tool: PublishedTool) => string | undefined,
): PlannedEdge[] =>
  edges.map(edge => {
    const { a, b, via } = edge;
    if (!via) return { edge, why: "no value flows along the edge" };
    const tool = tools.find(it => it.name === b)!;
    const others = listRequired(tool.inputSchema).filter(it => it !== via.input);
    const candidates = [...new Set(findStringsAt(values.get(a), via.output))].slice(0, maxTries);
    if (candidates.length === 0)
      return {
        edge,
        why: values.has(a)
          ? `${a} showed no ${via.output}`
          : `${a} requires arguments or is not allowed to run`,
      };
    if (others.length > 0) return { edge, why: `${b} also requires ${others.join(" and ")}` };
    const refusal = findRefusal(tool);
    if (refusal !== undefined) return { edge, why: refusal, refused: tool };
    const isList = getProperties(tool.inputSchema)[via.input]?.["type"] === "array";
    const tries = candidates.map(it => ({ [via.input]: isList ? [it] : it }));
    return { edge, run: { tool, tries } };
  });

/** Makes the planned calls. */
export async function* runVerification(
  live: LiveServer,
  plan: readonly PlannedEdge[],
  signal?: AbortSignal,
): AsyncGenerator<EdgeVerification> {
  for (const { edge, run, why } of plan) {
    signal?.throwIfAborted();
    const { a, b, kind, via } = edge;
    const verified = run
      ? await tryCalls(live, run)
      : { verified: "untried" as const, tries: 0, ...(why === undefined ? {} : { why }) };
    yield { a, b, kind, ...(via ? { via } : {}), ...verified };
  }
}

async function tryCalls(
  live: LiveServer,
  { tool, tries }: NonNullable<PlannedEdge["run"]>,
): Promise<Pick<EdgeVerification, "verified" | "tries" | "why">> {
  let why = "";
  for (const [i, args] of tries.entries()) {
    // what an earlier write left in the server's memory must not influence this call
    if (tool.effect === "write") await live.restart(0);
    const outcome = await live.call(tool.name, args);
    if (outcome.kind === "ok") return { verified: "works", tries: i + 1 };
    if (outcome.kind === "refused" && outcome.type === "permission_denied")
      return { verified: "untried", tries: i + 1, why: outcome.message };
    why = outcome.message;
  }
  return { verified: "fails", tries: tries.length, why };
}
