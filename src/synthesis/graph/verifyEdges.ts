/**
 * Edges of a dependency graph held against live sessions: the first tool is called, its result
 * handed to the second, and the edge stays only if that call succeeds. Knows the words that make
 * calls, and neither chains nor tasks; the labels stay as they were.
 */
import { openByName, type Catalog } from "../../environment/catalog.ts";
import { createRandom, type Random } from "../../environment/random.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Session } from "../../environment/session.ts";
import { declarationsOf, findEntities, type Declarations } from "./declarations.ts";
import type { Edge } from "./dependencyGraph.ts";
import type { Persona } from "../text/personas.ts";
import type { ServerTemplates } from "../text/templates.ts";
import {
  mergeShownEntity,
  sampleEntities,
  type EntitySample,
  type EntityInstance,
} from "../user/entitySampling.ts";
import { createIntent, type ConversationContext, type Intent } from "../user/intent.ts";

/** What running a pair showed. */
export interface EdgeVerification {
  readonly a: string;
  readonly b: string;
  readonly kind: Edge["kind"];
  readonly via?: Edge["via"];
  /** `untried`: the first tool never gave what the second takes, so that nothing can be said. */
  readonly verified: "works" | "fails" | "untried";
  /** Pairs of calls made. */
  readonly tries: number;
  /** What stood in the way last, in a refusal's words. Absent where it works. */
  readonly why?: string;
}

/** What edges are run on. */
export interface VerificationSetup {
  readonly catalog: Catalog;
  readonly server: string;
  readonly fixtures: readonly string[];
  readonly phrases: ServerTemplates;
  readonly seed: number;
}

/** Pairs of calls after which an edge that has not worked is given up. */
const mostTries = 120;

/**
 * Runs every edge on fresh sessions, on the server's fixtures in turn. The same seed gives the same
 * verdicts.
 */
export function* verifyEdges(
  edges: readonly Edge[],
  ground: VerificationSetup,
): Generator<EdgeVerification> {
  const places = ground.fixtures.map(it => new FixtureVerifier(ground, it));
  for (const edge of edges) {
    const { a, b, kind, via } = edge;
    const random = createRandom(ground.seed, "audit", a, b, via?.input ?? "");
    let tries = 0;
    let why = "";
    let ran = false;
    let works = false;
    while (tries < mostTries && !works) {
      const place = places[tries++ % places.length]!;
      const came =
        kind === "explicit" ? place.flows(edge, random) : place.establishes(edge, random);
      works = came === true;
      if (came === true) break;
      // what the second tool said says more than that it was never reached
      if (came.ran || !ran) why = came.why;
      ran ||= came.ran;
    }
    const verified = works ? "works" : ran ? "fails" : "untried";
    yield { a, b, kind, ...(via ? { via } : {}), verified, tries, ...(works ? {} : { why }) };
  }
}

/** What came of a try that did not work; whether the second tool was called at all. */
interface Failure {
  readonly ran: boolean;
  readonly why: string;
}

const plain: Persona = { name: "plain", weight: 1, ask: ["{clause}"], dates: "plain" };

/** A fixture to run pairs on. */
class FixtureVerifier {
  readonly #declarations: Declarations;
  readonly #phrases: ServerTemplates;
  readonly #sample: EntitySample;
  readonly #open: () => Session;
  readonly #now: string;

  constructor({ catalog, server, phrases, seed }: VerificationSetup, fixture: string) {
    this.#declarations = declarationsOf(catalog.server(server));
    this.#phrases = phrases;
    this.#open = () => openByName(catalog, { servers: [{ name: server, fixture }], seed });
    const session = this.#open();
    this.#now = session.state[server]!.clock;
    this.#sample = sampleEntities(
      catalog.server(server),
      session,
      createRandom(seed, "audit", server, fixture),
    );
  }

  /** Hands what `a` shows to `b`. */
  flows({ a, b, via }: Edge, random: Random): true | Failure {
    const session = this.#open();
    const first = this.#wish(a, random);
    if (!first) return { ran: false, why: `no arguments for ${a}` };
    const { outcome } = session.call(a, first.arguments);
    if (outcome.kind !== "ok") return { ran: false, why: outcome.message };
    const value = random.pick(findStringsAt(outcome.value, via!.output));
    if (value === undefined) return { ran: false, why: `${a} showed no ${via!.output}` };
    const args = this.#taking(
      b,
      random,
      via!.input,
      value,
      this.#flow(a, b, via!.input, value, outcome.value),
    );
    return args ? tryCall(session, b, args) : { ran: false, why: `no arguments for ${b}` };
  }

  /** `b` is refused before `a` has run and granted after it. */
  establishes({ a, b }: Edge, random: Random): true | Failure {
    const session = this.#open();
    const [first, second] = [this.#wish(a, random), this.#wish(b, random)];
    if (!first || !second) return { ran: false, why: `no arguments for ${first ? b : a}` };
    if (session.fork().call(b, second.arguments).outcome.kind === "ok")
      return { ran: false, why: `${b} needs nothing here` };
    const { outcome } = session.call(a, first.arguments);
    return outcome.kind === "ok"
      ? tryCall(session, b, second.arguments)
      : { ran: false, why: outcome.message };
  }

  /**
   * Arguments for `b`, one of them given; what has no name that a person would say can be handed on
   * all the same.
   */
  #taking(
    b: string,
    random: Random,
    input: string,
    value: string,
    flow: Record<string, readonly EntityInstance[]>,
  ): JsonObject | undefined {
    const { inputs, labels, values } = this.#declarations.get(b)!;
    const isAlone = [...inputs, ...labels, ...values].every(
      it => !it.isRequired || it.key === input,
    );
    const args =
      (this.#wish(b, random, flow) ?? this.#wish(b, random))?.arguments ??
      (isAlone ? {} : undefined);
    const isMany = inputs.some(it => it.key === input && it.isList);
    return args && { ...args, [input]: isMany ? [value] : value };
  }

  /**
   * The thing of that id, for an argument that takes one: what else `b` is asked for may hang on
   * it.
   */
  #flow(
    a: string,
    b: string,
    input: string,
    id: string,
    value: Json,
  ): Record<string, readonly EntityInstance[]> {
    const entity = this.#declarations.get(b)!.inputs.find(it => it.key === input)?.entity;
    const shown = findEntities(this.#declarations.get(a)!, value).find(
      it => it.entity === entity && it.id === id,
    );
    return shown
      ? { [input]: [mergeShownEntity(this.#sample.find(shown.entity, shown.id), shown, {})] }
      : {};
  }

  #wish(
    tool: string,
    random: Random,
    flow?: Readonly<Record<string, readonly EntityInstance[]>>,
  ): Intent | undefined {
    const scene: ConversationContext = {
      declarations: this.#declarations,
      phrases: this.#phrases,
      persona: plain,
      sample: this.#sample,
      now: this.#now,
      random,
      known: new Map(),
      focus: [],
      recent: [],
      isMinimal: false,
    };
    return createIntent(scene, {
      declared: this.#declarations.get(tool)!,
      form: random.pick(this.#phrases.tools[tool]!.forms),
      ...(flow ? { flow } : {}),
    });
  }
}

function tryCall(session: Session, tool: string, args: JsonObject): true | Failure {
  const { outcome } = session.call(tool, args);
  return outcome.kind === "ok" || { ran: true, why: outcome.message };
}

/** The strings at a path such as `accounts[].account_id` or `by_day{}.event_id`. */
export function findStringsAt(value: Json | undefined, path: string): string[] {
  if (path === "") return typeof value === "string" ? [value] : [];
  const [, key = "", rest = ""] = /^(\[\]|\{\}|\.?[^.[{]+)(.*)$/.exec(path) ?? [];
  if (value === null || typeof value !== "object") return [];
  if (key === "[]" || key === "{}")
    return Object.values(value).flatMap(it => findStringsAt(it, rest));
  return Array.isArray(value)
    ? []
    : findStringsAt((value as JsonObject)[key.replace(/^\./, "")], rest);
}
