/**
 * Verifies the edges of a dependency graph on live sessions: calls the first tool, passes its
 * result to the second, and reports whether that call succeeds. The graph itself does not change.
 */
import { setAt } from "../../environment/argumentPaths.ts";
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { createRandom, type Random } from "../../environment/random.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Session } from "../../environment/session.ts";
import { getDeclarations, type Declarations } from "./declarations.ts";
import type { Edge } from "./dependencyGraph.ts";
import {
  findEntities,
  isEntityId,
  type EntityId,
  type ResultEntity,
} from "../../trajectory/entities.ts";
import type { Outcome } from "../../environment/outcome.ts";
import { getProperties, listRequired } from "../../environment/schemaKeywords.ts";
import { inferSchema } from "../../environment/inferSchema.ts";
import type { PublishedTool } from "./labels.ts";

/** The result of running an edge's two tools. */
export interface EdgeVerification {
  readonly a: string;
  readonly b: string;
  readonly kind: Edge["kind"];
  readonly via?: Edge["via"];
  /** `untried`: the first tool never produced what the second takes. */
  readonly verified: "works" | "fails" | "untried";
  /** Pairs of calls made. */
  readonly tries: number;
  /** The last reason why it did not work. Absent where it works. */
  readonly why?: string;
}

/** An entity that a call must use for one of its arguments. */
interface EdgeEntity {
  readonly input: string;
  readonly entity: ResultEntity;
}

/** Chooses the arguments of a call, or returns undefined where a required one has no value. */
type ArgumentChooser = (tool: string, random: Random, given?: EdgeEntity) => JsonObject | undefined;

export interface VerificationSetup {
  readonly catalog: Catalog;
  readonly server: string;
  readonly fixtures: readonly string[];
  readonly seed: number;
  /** Creates the chooser of arguments for a session opened from a fixture. */
  readonly createChooser: (session: Session, fixture: string) => ArgumentChooser;
}

/** Pairs of calls before an edge counts as failing. */
const maxTries = 120;

/**
 * Runs every edge on fresh sessions, alternating between the server's fixtures. The same seed gives
 * the same results.
 */
export function* verifyEdges(
  edges: readonly Edge[],
  setup: VerificationSetup,
): Generator<EdgeVerification> {
  const verifiers = setup.fixtures.map(it => new FixtureVerifier(setup, it));
  for (const edge of edges) {
    const { a, b, kind, via } = edge;
    const random = createRandom(setup.seed, "audit", a, b, via?.input ?? "");
    let tries = 0;
    let why = "";
    let hasRun = false;
    let works = false;
    while (tries < maxTries && !works) {
      const verifier = verifiers[tries++ % verifiers.length]!;
      const result =
        kind === "explicit"
          ? verifier.tryValueFlow(edge, random)
          : verifier.tryPrecondition(edge, random);
      works = result === true;
      if (result === true) break;
      // a refusal by the second tool is more informative than not having reached it
      if (result.hasRun || !hasRun) why = result.why;
      hasRun ||= result.hasRun;
    }
    const verified = works ? "works" : hasRun ? "fails" : "untried";
    yield { a, b, kind, ...(via ? { via } : {}), verified, tries, ...(works ? {} : { why }) };
  }
}

interface Failure {
  /** Whether the second tool was called. */
  readonly hasRun: boolean;
  readonly why: string;
}

/** Runs pairs of calls on sessions opened from one fixture. */
class FixtureVerifier {
  readonly #declarations: Declarations;
  readonly #chooseArguments: ArgumentChooser;
  readonly #open: () => Session;

  constructor({ catalog, server, seed, createChooser }: VerificationSetup, fixture: string) {
    this.#declarations = getDeclarations(catalog.getServer(server));
    this.#open = () => openSessionByName(catalog, { servers: [{ name: server, fixture }], seed });
    this.#chooseArguments = createChooser(this.#open(), fixture);
  }

  /** Passes a value from the result of `a` to `b`. */
  tryValueFlow({ a, b, via }: Edge, random: Random): true | Failure {
    const session = this.#open();
    const first = this.#chooseArguments(a, random);
    if (!first) return { hasRun: false, why: `no arguments for ${a}` };
    const { outcome } = session.call(a, first);
    if (outcome.kind !== "ok") return { hasRun: false, why: outcome.message };
    const value = random.pick(findIdsAt(outcome.value, via!.output));
    if (value === undefined) return { hasRun: false, why: `${a} showed no ${via!.output}` };
    const entity = this.#findEntity({ a, b, input: via!.input }, value, outcome.value);
    const args = this.#chooseArgumentsWith(b, via!.input, value, entity, random);
    return args ? tryCall(session, b, args) : { hasRun: false, why: `no arguments for ${b}` };
  }

  /** Checks that `b` is refused before `a` has run and succeeds after it. */
  tryPrecondition({ a, b }: Edge, random: Random): true | Failure {
    const session = this.#open();
    const [first, second] = [this.#chooseArguments(a, random), this.#chooseArguments(b, random)];
    if (!first || !second) return { hasRun: false, why: `no arguments for ${first ? b : a}` };
    if (session.fork().call(b, second).outcome.kind === "ok")
      return { hasRun: false, why: `${b} needs nothing here` };
    const { outcome } = session.call(a, first);
    return outcome.kind === "ok"
      ? tryCall(session, b, second)
      : { hasRun: false, why: outcome.message };
  }

  /**
   * Chooses arguments for `b` with one of them given. Where the chooser finds none and no other
   * argument is required, the given value alone is enough.
   */
  #chooseArgumentsWith(
    b: string,
    input: string,
    value: EntityId,
    entity: ResultEntity | undefined,
    random: Random,
  ): JsonObject | undefined {
    const { inputs, labels, values } = this.#declarations.get(b)!;
    const isAlone = [...inputs, ...labels, ...values].every(
      it => !it.isRequired || it.key === input,
    );
    const args =
      this.#chooseArguments(b, random, entity && { input, entity }) ??
      this.#chooseArguments(b, random) ??
      (isAlone ? {} : undefined);
    const isList = inputs.some(it => it.key === input && it.isList);
    return args && (isList ? { ...args, [input]: [value] } : setAt(args, input, value));
  }

  /**
   * Finds the entity with an id in the result of `a`, where the argument of `b` takes an entity.
   */
  #findEntity(
    { a, b, input }: { readonly a: string; readonly b: string; readonly input: string },
    id: EntityId,
    result: Json,
  ): ResultEntity | undefined {
    const entity = this.#declarations.get(b)!.inputs.find(it => it.path === input)?.entity;
    return findEntities(this.#declarations.get(a)!, result).find(
      it => it.entity === entity && it.id === id,
    );
  }
}

function tryCall(session: Session, tool: string, args: JsonObject): true | Failure {
  const { outcome } = session.call(tool, args);
  return outcome.kind === "ok" || { hasRun: true, why: outcome.message };
}

/** Finds the ids at a path such as `accounts[].account_id` or `by_day{}.event_id`. */
function findIdsAt(value: Json | undefined, path: string): EntityId[] {
  if (path === "") return isEntityId(value) ? [value] : [];
  const [, key = "", rest = ""] = /^(\[\]|\{\}|\.?[^.[{]+)([^]*)$/.exec(path) ?? [];
  if (value === null || typeof value !== "object") return [];
  if (key === "[]" || key === "{}") return Object.values(value).flatMap(it => findIdsAt(it, rest));
  return Array.isArray(value) ? [] : findIdsAt((value as JsonObject)[key.replace(/^\./, "")], rest);
}

// Explores a connected server that declares no entities: calls its read tools to see what their
// results look like, and verifies edges with the values in those results. What will be called is
// planned first, so that a person can see it before it is.

/** A session on a connected server, which returns to an earlier state by restarting. */
interface LiveServer {
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

/** The most values of a result that are tried for one argument. */
const maxValues = 3;

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
    const candidates = [...new Set(findIdsAt(values.get(a), via.output))].slice(0, maxValues);
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
