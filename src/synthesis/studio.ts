/**
 * Everything in place for a conversation: what it is to be about, a live session, who speaks and who teaches. What all attempts of
 * one synthesis share is kept here: phrases, samples, and how often each tool has been used. Does not judge what comes of it.
 */
import { join } from "node:path";
import { openByName, type Catalog } from "../environment/catalog.ts";
import { fixtureDigest } from "../environment/fixture.ts";
import type { Server } from "../environment/server.ts";
import { variantName, variantNamed } from "../environment/variant.ts";
import type { Task } from "../trajectory/task.ts";
import { trajectoryFormat, type CallEvent, type Event, type Header } from "../trajectory/trajectory.ts";
import { Author, type Plot } from "./author.ts";
import { readBridges, type Bridge } from "./bridge.ts";
import { crossingOf, type Crossing } from "./bridgePlan.ts";
import { chainOf, loners, rarityOf, used, type Uses } from "./chain.ts";
import { chanceOf, type Chance } from "../environment/chance.ts";
import { declarationsOf, type Declarations, type EntityInput } from "./declared.ts";
import { holds } from "./goals.ts";
import type { Conversation, Speaker } from "./machine.ts";
import { personaOf, readManners, type Manners, type Persona } from "./persona.ts";
import type { MenuKind } from "./perturb.ts";
import { readPhrases, type Phrases } from "./phrase.ts";
import { sampleOf, type Sample } from "./sampler.ts";
import { GraphTeacher, Refusing } from "./teacher.ts";
import { worldScene } from "./worldScene.ts";

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
  /** Share of the normal tasks that need several servers; none where absent. */
  readonly crossing?: number;
  /** Variants of each fixture, under other ids; 0 for the fixtures as they are. */
  readonly variants?: number;
  /** False keeps tasks that make the same calls as an earlier one. */
  readonly distinct?: boolean;
  readonly signal?: AbortSignal;
}

/** Shares of the paper, and what is ours: refusals that the user runs into, tasks of one turn, look-ups in whole lists. */
const shares = {
  missing: 0.2,
  minimal: 0.2,
  irrelevant: 0.05,
  foreignMenu: 0.5,
  refusals: 0.35,
  courted: 0.15,
  oneTurn: 0.4,
  lists: 0.08,
  listsWhenMinimal: 0.75,
  loner: 0.08,
  saidLookUp: 0.15,
};

/** Variants of a fixture, where nothing else is said. */
const fewVariants = 40;

/** Samples of a fixture that has no variants. */
const stretches = 4;

/** What an attempt sets out to make. */
export interface Brief {
  /** Of the task. */
  readonly id: string;
  /** The server that the talk is about. */
  readonly home: string;
  readonly chain: readonly string[];
  readonly kind: Task["kind"];
  readonly info: Task["info"];
  readonly isOneTurn: boolean;
  readonly listsFirst: boolean;
  /** Those that are opened, the home first. */
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
  readonly sessionSeed: number;
  readonly persona: Persona;
  /** What takes it from one server to another; absent where it stays at home. */
  readonly crossing?: Crossing;
}

/** A conversation that can begin. */
export interface Stage {
  readonly conversation: Conversation;
  /** Full names of the tools that the user's wishes are for. */
  readonly wished: readonly string[];
  readonly author: Author;
}

export class Studio {
  readonly #of: Synthesis;
  readonly #manners: Manners;
  readonly #phrases = new Map<string, Phrases>();
  readonly #grounds = new Map<string, { readonly fixtures: readonly string[]; readonly hasVariants: boolean }>();
  readonly #uses: Uses = new Map();
  readonly #samples = new Map<string, Sample>();
  readonly #bridges: readonly Bridge[];
  #accepted = 0;
  #irrelevant = 0;

  constructor(synthesis: Synthesis) {
    this.#of = synthesis;
    this.#manners = readManners(synthesis.resources);
    const { catalog, resources } = synthesis;
    const isHere = (tool: string) => synthesis.servers.includes(catalog.tools.get(tool)!.server);
    this.#bridges = synthesis.crossing ? readBridges(resources, catalog).filter(it => isHere(it.from) && isHere(it.to)) : [];
    for (const name of synthesis.servers) {
      this.#phrases.set(name, readPhrases(join(synthesis.resources, "phrases"), catalog.server(name)));
      this.#grounds.set(name, { fixtures: catalog.fixtureNames(name), hasVariants: hasHiddenIds(catalog.server(name)) });
    }
  }

  /** What attempt number n sets out to make, or undefined where its draw leads nowhere. */
  brief(n: number, chance: Chance): Brief | undefined {
    const { servers, oneTurn = shares.oneTurn } = this.#of;
    const home = servers[n % servers.length]!;
    const chain = this.#chain(home, chance);
    if (!chain) return undefined;
    const kind: Task["kind"] = chance.happens(shares.irrelevant) && this.#irrelevant <= shares.irrelevant * this.#accepted ? "irrelevant" : "normal";
    const info: Task["info"] = chance.weighted(["complete", "missing", "minimal"] as const, it => (it === "complete" ? 1 - shares.missing - shares.minimal : shares[it]));
    const crossing = kind === "normal" && this.#bridges.length > 0 && chance.happens(this.#of.crossing!) ? crossingOf(this.#bridges, servers, home, this.#uses, chance) : undefined;
    if (crossing) return this.#across(crossing, n, info, chance);
    const foreign = chance.shuffled(servers.filter(it => it !== home)).slice(0, chance.happens(shares.foreignMenu) || kind === "irrelevant" ? 1 + chance.below(2) : 0);
    return {
      id: `${home}-${this.#of.seed}-${n}`,
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

  /** A task over several servers, all on fixtures of one world. */
  #across(crossing: Crossing, n: number, info: Task["info"], chance: Chance): Brief {
    const { seed, oneTurn = shares.oneTurn } = this.#of;
    const home = crossing.servers[0]!;
    const [first, ...others] = crossing.servers.map(it => this.#grounds.get(it)!.fixtures);
    const fixture = chance.pick(first!.filter(it => others.every(list => list.includes(it))));
    return {
      id: `${home}-${seed}-${n}`,
      home,
      chain: crossing.chain,
      kind: "normal",
      info: info === "missing" ? "complete" : info,
      isOneTurn: chance.happens(oneTurn),
      listsFirst: chance.happens(shares.lists),
      servers: crossing.servers.map(name => ({ name, fixture: this.#numbered(name, fixture, chance) })),
      sessionSeed: chance.below(100_000),
      persona: personaOf(this.#manners, chance),
      crossing,
    };
  }

  /** A live session, who speaks and who teaches. */
  stage(brief: Brief, n: number, chance: Chance): Stage {
    const { catalog } = this.#of;
    const server = catalog.server(brief.home);
    const session = openByName(catalog, { servers: brief.servers, seed: brief.sessionSeed });
    const declarations = declarationsOf(server);
    const now = session.state[brief.home]!.clock;
    const sample = this.#sample(brief.home, brief.servers[0]!.fixture, n);
    const shareOf = (it: { name: string; fixture: string }) => ({ server: catalog.server(it.name), phrases: this.#phrases.get(it.name)!, sample: this.#sample(it.name, it.fixture, n) });
    const scenery = brief.crossing ? worldScene(brief.servers.map(shareOf)) : { declarations, phrases: this.#phrases.get(brief.home)!, sample };
    const plot: Plot = {
      session,
      manners: this.#manners,
      tools: brief.crossing ? [...brief.crossing.steps.keys()] : brief.kind === "irrelevant" ? brief.chain.slice(-1) : wishedFor(brief.chain, declarations, sample, chance),
      ...(brief.crossing ? { steps: brief.crossing.steps } : {}),
      info: brief.info,
      isOneTurn: brief.isOneTurn,
      refusals: brief.kind === "irrelevant" ? { met: 0, courted: 0 } : { met: shares.refusals, courted: shares.courted },
      listsFirst: brief.listsFirst,
      rarity: tool => rarityOf(tool, this.#uses),
    };
    const words = { persona: brief.persona, isMinimal: brief.info === "minimal" };
    const author = new Author(plot, { ...scenery, ...words, now, chance, met: new Map(), focus: [], recent: [] });
    const teacher = brief.kind === "irrelevant" ? new Refusing(this.#manners, chance) : new GraphTeacher(author, this.#manners);
    const events: Event[] = [];
    const speaker = speakerOf(author, teacher, catalog);
    const talk = { header: headerOf(brief, catalog), tools: [...session.tools.values()], now, events };
    const turns = brief.isOneTurn ? { minTurns: 1, maxTurns: 1 } : { minTurns: 2, maxTurns: 3 };
    return { conversation: { session, speaker, teacher, talk, chance, ...turns }, wished: plot.tools, author };
  }

  /** Told of a task that is kept, so that the next ones use other tools. */
  kept({ kind, chain, goals, knobs }: Task): void {
    if (typeof knobs["bridges"] === "string") used(knobs["bridges"].split(", "), this.#uses);
    const called = new Set(goals.flatMap(it => it.calls.map(call => call.name)));
    used(called, this.#uses);
    used(chain.filter(it => !called.has(it)), this.#uses, true);
    this.#accepted++;
    if (kind === "irrelevant") this.#irrelevant++;
  }

  /** Told of a chain that came to nothing. */
  failed(chain: readonly string[], crossing?: Crossing): void {
    used([...chain, ...(crossing?.bridges ?? [])], this.#uses, true);
  }

  #chain(home: string, chance: Chance): readonly string[] | undefined {
    const server = this.#of.catalog.server(home);
    const chain = chainOf(server, this.#uses, chance);
    const alone = loners(server);
    if (!chain) return undefined;
    return alone.length > 0 && chance.happens(shares.loner) ? [...chain.tools, chance.weighted(alone, it => rarityOf(it, this.#uses))] : chain.tools;
  }

  /** One of the server's fixtures, its ids renumbered where ids are what has to be found out. */
  #fixture(name: string, chance: Chance): string {
    return this.#numbered(name, chance.pick(this.#grounds.get(name)!.fixtures), chance);
  }

  #numbered(name: string, fixture: string, chance: Chance): string {
    const { hasVariants } = this.#grounds.get(name)!;
    const { variants = fewVariants } = this.#of;
    const number = 1 + chance.below(variants);
    return hasVariants && variants > 0 ? variantName(fixture, number) : fixture;
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
}

/** What the teacher's trajectory pins. Its menu is drawn when it is known which tools it calls. */
const headerOf = ({ id, servers, sessionSeed }: Brief, catalog: Catalog): Header => ({
  kind: "header",
  format: trajectoryFormat,
  id: `${id}/graph`,
  task: id,
  servers: servers.map(it => ({ ...it, digest: fixtureDigest(catalog.fixture(it.name, it.fixture)) })),
  catalog: catalog.hash(servers.map(it => it.name)),
  seed: sessionSeed,
  menu: [],
  policy: "graph",
});

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
    return !isLookUp || chance.happens(shares.saidLookUp);
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

const outcomeOf = (call: CallEvent) =>
  call.outcome === "ok" ? ({ kind: "ok", value: call.value ?? null } as const) : ({ kind: call.outcome, type: "internal", message: call.error ?? "" } as const);
