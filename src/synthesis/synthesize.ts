/**
 * The pipeline, read top to bottom: chain, sample, conversation, goals, menu, screen. A stream of accepted tasks and of what was
 * rejected and why; the same seed gives the same bytes. Does not know where tasks are written or which model will learn from them.
 */
import { join } from "node:path";
import { openByName, type Catalog } from "../environment/catalog.ts";
import { fixtureDigest } from "../environment/fixture.ts";
import type { Server } from "../environment/server.ts";
import { variantName, variantNamed } from "../environment/variant.ts";
import { callBudget, taskFormat, type Task } from "../trajectory/task.ts";
import { trajectoryFormat, type Event, type Header } from "../trajectory/trajectory.ts";
import { Author, type Plot } from "./author.ts";
import { chainOf, loners, used, type Uses } from "./chain.ts";
import { chanceOf, type Chance } from "./chance.ts";
import { declarationsOf, type Declarations, type EntityInput } from "./declared.ts";
import { goalsOf, holds } from "./goals.ts";
import { graphOf } from "./graph.ts";
import { converse, type Conversation, type Course, type Speaker } from "./machine.ts";
import { personaOf, readManners, type Manners, type Persona } from "./persona.ts";
import { menuFor, menuWithout, type MenuKind } from "./perturb.ts";
import { readPhrases, type Phrases } from "./phrase.ts";
import { sampleOf, type Sample } from "./sampler.ts";
import { Kept, screened } from "./screen.ts";
import { splitOf } from "./split.ts";
import { GraphTeacher, Refusing } from "./teacher.ts";

export interface Synthesis {
  readonly catalog: Catalog;
  /** The product's `resources` folder: phrases and personas. */
  readonly resources: string;
  readonly seed: number;
  /** Servers to make tasks on, by name. */
  readonly servers: readonly string[];
  readonly menu: MenuKind;
  /** Only tasks of this split. */
  readonly split?: Task["split"];
  /** Share of tasks with a single user turn; the others have two or three. */
  readonly oneTurn?: number;
  /** False keeps tasks that make the same calls as an earlier one. */
  readonly distinct?: boolean;
  readonly signal?: AbortSignal;
}

/** One attempt at a task: kept, or turned down with the course it took. */
export type Attempted =
  | { readonly kind: "accepted"; readonly task: Task }
  | { readonly kind: "rejected"; readonly server: string; readonly reason: string; readonly why: string; readonly log: Course["log"] };

/** Shares of the paper, and what is ours: refusals that the user runs into, tasks of one turn, look-ups in whole lists. */
const shares = { missing: 0.2, minimal: 0.2, irrelevant: 0.05, foreignMenu: 0.5, refusals: 0.35, oneTurn: 0.4, listsWhenMinimal: 0.75, lists: 0.08, loner: 0.08 };

/** Variants of a fixture under other ids. */
const variants = 40;

/** Samples of a fixture that has no variants. */
const stretches = 4;

/** Calls in one task: more do not fit what a small student can say. */
const mostCalls = { chain: 6, full: 12 };

/** Attempts in a row that come to nothing: the servers have no more to give. */
const patience = 3000;

/** An endless stream of attempts, or until nothing new comes of them. */
export async function* synthesize(synthesis: Synthesis): AsyncGenerator<Attempted> {
  const studio = new Studio(synthesis);
  let barren = 0;
  for (let n = 0; barren < patience; n++) {
    synthesis.signal?.throwIfAborted();
    const attempted = await studio.attempt(n);
    barren = attempted.kind === "accepted" ? 0 : barren + 1;
    yield attempted;
  }
}

/** What an attempt sets out to make. */
interface Brief {
  readonly home: string;
  readonly chain: readonly string[];
  readonly kind: Task["kind"];
  readonly info: Task["info"];
  readonly isOneTurn: boolean;
  readonly listsFirst: boolean;
  /** The first is what the talk is about. */
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
  readonly sessionSeed: number;
  readonly persona: Persona;
}

interface Stage {
  readonly conversation: Conversation;
  readonly plot: Plot;
  readonly author: Author;
}

/** What all attempts of one synthesis share: phrases, how often tools were used, samples, and the tasks kept. */
class Studio {
  readonly #of: Synthesis;
  readonly #manners: Manners;
  readonly #phrases = new Map<string, Phrases>();
  readonly #grounds = new Map<string, { readonly fixtures: readonly string[]; readonly hasVariants: boolean }>();
  readonly #uses: Uses = new Map();
  readonly #samples = new Map<string, Sample>();
  readonly #kept = new Kept();
  #accepted = 0;
  #irrelevant = 0;

  constructor(synthesis: Synthesis) {
    this.#of = synthesis;
    this.#manners = readManners(synthesis.resources);
    const { catalog } = synthesis;
    for (const name of synthesis.servers) {
      this.#phrases.set(name, readPhrases(join(synthesis.resources, "phrases"), catalog.server(name)));
      this.#grounds.set(name, { fixtures: catalog.fixtureNames(name), hasVariants: hasHiddenIds(catalog.server(name)) });
    }
  }

  async attempt(n: number): Promise<Attempted> {
    const { seed, servers } = this.#of;
    const chance = chanceOf(seed, "task", n);
    const home = servers[n % servers.length]!;
    const rejected = (reason: string, why: string, log: Course["log"] = []): Attempted => ({ kind: "rejected", server: home, reason, why, log });

    const chain = this.#chain(home, chance);
    if (!chain) return rejected("chain", "no chain here");
    const brief = this.#brief(home, chain, chance);
    const stage = this.#stage(brief, n, chance);
    const course = await converse(stage.conversation);
    if (course.rejected !== undefined) return rejected(course.rejected, course.log.at(-1)!.event, course.log);
    const task = this.#task(brief, stage, course, chance);
    if (typeof task === "string") return rejected(task, task, course.log);
    if (this.#of.split !== undefined && task.split !== this.#of.split) return rejected("split", `it is ${task.split}`, course.log);
    const flaw = screened(task, this.#of.catalog);
    if (flaw) return rejected(flaw.reason, flaw.why, course.log);
    if (this.#of.distinct !== false && !this.#kept.add(task)) return rejected("duplicate", "a task kept before makes nearly the same calls", course.log);
    used([...new Set([...chain, ...task.goals.flatMap(it => it.calls.map(call => call.name))])], this.#uses);
    this.#accepted++;
    if (task.kind === "irrelevant") this.#irrelevant++;
    return { kind: "accepted", task };
  }

  #chain(home: string, chance: Chance): readonly string[] | undefined {
    const server = this.#of.catalog.server(home);
    const chain = chainOf(server, this.#uses, chance);
    const alone = loners(server);
    if (!chain) return undefined;
    return alone.length > 0 && chance.happens(shares.loner) ? [...chain.tools, chance.weighted(alone, it => 1 / (1 + (this.#uses.get(it) ?? 0)))] : chain.tools;
  }

  #brief(home: string, chain: readonly string[], chance: Chance): Brief {
    const { servers, oneTurn = shares.oneTurn } = this.#of;
    const kind: Task["kind"] = chance.happens(shares.irrelevant) && this.#irrelevant <= shares.irrelevant * this.#accepted ? "irrelevant" : "normal";
    const info: Task["info"] = chance.weighted(["complete", "missing", "minimal"] as const, it => (it === "complete" ? 1 - shares.missing - shares.minimal : shares[it]));
    const foreign = chance.shuffled(servers.filter(it => it !== home)).slice(0, chance.happens(shares.foreignMenu) || kind === "irrelevant" ? 1 + chance.below(2) : 0);
    return {
      home,
      chain,
      kind,
      info: kind === "irrelevant" ? ("complete" as const) : info,
      isOneTurn: kind === "irrelevant" || chance.happens(oneTurn),
      listsFirst: chance.happens(info === "minimal" ? shares.listsWhenMinimal : shares.lists),
      servers: [home, ...foreign].map(name => ({ name, fixture: this.#fixture(name, chance) })),
      sessionSeed: chance.below(100_000),
      persona: personaOf(this.#manners, chance),
    };
  }

  /** One of the server's fixtures, its ids renumbered where ids are what has to be found out. */
  #fixture(name: string, chance: Chance): string {
    const { fixtures, hasVariants } = this.#grounds.get(name)!;
    const fixture = chance.pick(fixtures);
    const number = 1 + chance.below(variants);
    return hasVariants ? variantName(fixture, number) : fixture;
  }

  /** Everything in place for a conversation: a live session, who speaks, who teaches. */
  #stage(brief: Brief, n: number, chance: Chance): Stage {
    const { catalog, seed } = this.#of;
    const server = catalog.server(brief.home);
    const session = openByName(catalog, { servers: brief.servers, seed: brief.sessionSeed });
    const declarations = declarationsOf(server);
    const now = session.state[brief.home]!.clock;
    const sample = this.#sample(brief.home, brief.servers[0]!.fixture, n);
    const plot: Plot = {
      graph: graphOf(server),
      session,
      manners: this.#manners,
      tools: brief.kind === "irrelevant" ? brief.chain.slice(-1) : wishedFor(brief.chain, declarations, sample, chance),
      info: brief.info,
      isOneTurn: brief.isOneTurn,
      refusals: brief.kind === "irrelevant" ? 0 : shares.refusals,
      listsFirst: brief.listsFirst,
    };
    const author = new Author(plot, { declarations, phrases: this.#phrases.get(brief.home)!, persona: brief.persona, sample, now, chance, met: new Map(), focus: [], isMinimal: brief.info === "minimal" });
    const teacher = brief.kind === "irrelevant" ? new Refusing(this.#manners, chance) : new GraphTeacher(author.script, this.#manners);
    const header: Header = {
      kind: "header",
      format: trajectoryFormat,
      id: `${brief.home}-${seed}-${n}/graph`,
      task: `${brief.home}-${seed}-${n}`,
      servers: brief.servers.map(it => ({ ...it, digest: fixtureDigest(catalog.fixture(it.name, it.fixture)) })),
      catalog: catalog.hash(brief.servers.map(it => it.name)),
      seed: brief.sessionSeed,
      menu: [],
      policy: "graph",
    };
    const events: Event[] = [];
    const speaker = speakerOf(author, teacher, catalog);
    const talk = { header, tools: [...session.tools.values()], now, events };
    const turns = brief.isOneTurn ? { minTurns: 1, maxTurns: 1 } : { minTurns: 2, maxTurns: 3 };
    return { conversation: { session, speaker, teacher, talk, chance, ...turns }, plot, author };
  }

  /** Kept by fixture; another for every variant and every stretch of tasks, so that no few things are all that is ever talked about. */
  #sample(name: string, fixture: string, n: number): Sample {
    const { catalog, seed } = this.#of;
    const key = `${name}/${fixture}/${variantNamed(fixture) ? 0 : Math.floor(n / 20) % stretches}`;
    let sample = this.#samples.get(key);
    if (!sample) {
      const session = openByName(catalog, { servers: [{ name, fixture }], seed });
      this.#samples.set(key, (sample = sampleOf(catalog.server(name), session, chanceOf(seed, "sample", key))));
    }
    return sample;
  }

  /** The task, or why there is none. */
  #task(brief: Brief, { conversation, plot, author }: Stage, course: Course, chance: Chance): Task | string {
    const { catalog, menu: kind } = this.#of;
    const { talk } = conversation;
    const goals = goalsOf(talk.events, plot.graph);
    const isIrrelevant = brief.kind === "irrelevant";
    if (goals.length === 0 && !isIrrelevant) return "no goals";
    const calls = talk.events.filter(it => it.kind === "call");
    if (calls.length > mostCalls[kind]) return "length";
    const servers = brief.servers.map(it => catalog.server(it.name));
    const called = new Set(calls.map(it => it.name));
    const { menu, knobs, hidden = [] } = isIrrelevant ? menuWithout(plot.tools, chance.happens(0.5) && servers.length > 1 ? servers.slice(1) : servers, kind, chance) : { ...menuFor(called, servers, kind, chance), hidden: [] };
    if (menu.length === 0 || (kind === "chain" && called.size > menu.length)) return "menu";
    const header = { ...talk.header, menu: menu.map(it => it.name) };
    const turns = turnsOf(talk.events, goals);
    return {
      format: taskFormat,
      id: header.task,
      servers: [...header.servers],
      catalog: header.catalog,
      seed: header.seed,
      split: splitOf(goals.length > 0 ? goals.flatMap(it => it.calls.map(call => call.name)) : brief.chain),
      kind: brief.kind,
      persona: brief.persona.name,
      now: talk.now,
      menu,
      hidden,
      turns,
      goals,
      knobs: { ...knobs, lists: brief.listsFirst, failedCalls: calls.filter(it => it.outcome !== "ok").length },
      info: brief.info === "missing" && !author.hasWithheld ? "complete" : brief.info,
      chain: [...brief.chain],
      budget: { calls: callBudget(goals), assistantMessages: Math.max(callBudget(goals) + turns.length, turns.length + 1) },
      provenance: { teacher: "graph", graph: plot.graph.hash, log: course.log.map(it => ({ ...it })) },
      trajectory: { header, events: [...talk.events.map(withoutPatches), { kind: "ended", by: "policy" }] },
    };
  }
}

/** Whether most ids are such as nobody says, so that they must be read off results. */
function hasHiddenIds(server: Server): boolean {
  const inputs = [...declarationsOf(server).values()].flatMap(it => it.inputs);
  return inputs.filter(it => !it.spoken).length * 2 > inputs.length;
}

/** The chain's tools that the user asks for: a look-up that only finds what the next tool takes goes unsaid. */
function wishedFor(chain: readonly string[], declarations: Declarations, sample: Sample, chance: Chance): readonly string[] {
  return chain.filter((name, i) => {
    const { tool, inputs, labels } = declarations.get(name)!;
    const next = chain[i + 1] === undefined ? undefined : declarations.get(chain[i + 1]!);
    if (!next || tool.effect === "write") return true;
    // what people say themselves needs no look-up, unless it goes by another name too
    const isHidden = (input: EntityInput) => !input.spoken || labels.some(it => it.entity === input.entity);
    const fed = declarations.get(name)!.outputs.filter(it => next.inputs.some(input => input.required && isHidden(input) && input.entity === it.entity));
    const hangsOn = (entity: string) => Object.keys(sample.things.get(entity)?.[0]?.context ?? {});
    const isLookUp = fed.some(it => inputs.every(input => !input.required || hangsOn(it.entity).includes(input.entity)));
    return !isLookUp || chance.happens(0.15);
  });
}

/** The author as the machine knows a speaker. */
function speakerOf(author: Author, teacher: GraphTeacher | Refusing, catalog: Catalog): Speaker {
  return {
    say: kind => author.say(kind)?.text,
    flaw: text => ([...catalog.tools.keys()].some(it => holds(text, it)) ? "names a tool" : /[{}|\u0000-\u0008]/.test(text) ? "has a slot left open" : undefined),
    get stuck() {
      return author.stuck;
    },
    get owes() {
      return author.owes;
    },
    get hasMore() {
      return author.hasMore;
    },
    heard() {
      if (teacher instanceof GraphTeacher) author.heard(teacher.answered.map(({ wish, call }) => ({ wish, outcome: outcomeOf(call) })));
    },
  };
}

const outcomeOf = (call: Extract<Event, { kind: "call" }>) =>
  call.outcome === "ok" ? ({ kind: "ok", value: call.value ?? null } as const) : ({ kind: call.outcome, type: "internal", message: call.error ?? "" } as const);

function turnsOf(events: readonly Event[], goals: Task["goals"]): Task["turns"] {
  const turns: Task["turns"] = [];
  for (const event of events) {
    if (event.kind === "user") turns.push({ user: event.text, goals: goals.flatMap((it, i) => (it.turn === turns.length ? [i] : [])), reply: "" });
    else if (event.kind === "assistant" && event.text !== "") turns.at(-1)!.reply = event.text;
  }
  return turns;
}

/** Files keep no patches: replay brings them back. */
function withoutPatches(event: Event): Event {
  if (event.kind !== "call") return event;
  const { patches: _, ...rest } = event;
  return rest;
}
