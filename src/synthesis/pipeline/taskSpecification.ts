/**
 * What an attempt sets out to make: the chain, the people, the fixtures, and every coin that is
 * tossed beforehand. What all attempts of one synthesis share is handed in. Opens no session.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Random } from "../../environment/random.ts";
import type { Server } from "../../environment/server.ts";
import { formatVariantName } from "../../environment/variant.ts";
import type { Task } from "../../trajectory/task.ts";
import type { CrossServerLink } from "../text/crossServerLinks.ts";
import { planCrossServerTask, type CrossServerPlan } from "./crossServerPlan.ts";
import {
  drawChain,
  listIsolatedTools,
  computeRarity,
  type UseCounts,
  type ChainSource,
} from "../graph/chains.ts";
import type { TaskKind } from "./composition.ts";
import { declarationsOf } from "../graph/declarations.ts";
import type { EdgeVerdicts } from "../graph/edgeVerdicts.ts";
import { pickPersona, type StyleGuide, type Persona } from "../text/personas.ts";
import { areRelatedServers } from "./menu.ts";
import type { UserPlan } from "../user/userPlan.ts";
import type { Preset } from "./presets.ts";
import { isHeldOut } from "./split.ts";

/** Shares of the paper, and what is ours: look-ups in whole lists, tools that no edge touches. */
const shares = {
  missing: 0.2,
  minimal: 0.2,
  enumsStripped: 0.3,
  far: 0.5,
  lists: 0.08,
  listsWhenMinimal: 0.75,
  loner: 0.08,
};

/**
 * Variants of a fixture, where nothing else is said; of those, the ones in use at a time, and for
 * how many attempts on a server.
 */
const variety = { variants: 40, atOnce: 2, attempts: 40 };

export interface TaskSpecification {
  /** Of the task. */
  readonly id: string;
  /** The server that the talk is about. */
  readonly home: string;
  readonly chain: readonly string[];
  readonly kind: TaskKind;
  readonly info: Task["info"];
  readonly isOneTurn: boolean;
  readonly prefersLists: boolean;
  /** Those that are opened, the home first. */
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
  readonly sessionSeed: number;
  readonly persona: Persona;
  /** Tools of other servers on the menu; `mixed` has some among the company. */
  readonly distractors: number | "mixed";
  readonly stripsEnums: boolean;
  /** Of a talk that nothing can do: only tools of other servers are on offer. */
  readonly onlyOtherServers: boolean;
  /** What takes it from one server to another; absent where it stays at home. */
  readonly crossServerPlan?: CrossServerPlan;
  /** What is to be as in another task; absent where nothing is. */
  readonly script?: ConversationScript;
}

/** The plan of a talk that there is already. */
export interface ConversationScript {
  /** Full names of the tools that it calls. */
  readonly tools: readonly string[];
  /** What each turn asks for; absent where nothing is to be done. */
  readonly turns?: UserPlan["script"];
  /** Full names of the tools that are not to be had. */
  readonly hiddenTools?: ReadonlySet<string>;
}

/** What attempts share. */
export interface SpecificationContext {
  readonly catalog: Catalog;
  readonly seed: number;
  readonly preset: Preset;
  readonly oneTurn: number;
  readonly variants: number;
  /** Share of the normal tasks that need several servers, and what leads from one to another. */
  readonly crossing: number;
  readonly bridges: readonly CrossServerLink[];
  /** How much was told in the normal tasks so far. */
  readonly infos: ReadonlyMap<Task["info"], number>;
  /** Names of a server's fixtures. */
  readonly fixtures: (server: string) => readonly string[];
  readonly manners: StyleGuide;
  readonly uses: UseCounts;
  /** What was said of the graphs' edges. */
  readonly audit: EdgeVerdicts;
  /** Servers that tasks are made on, and all there are for distractors. */
  readonly servers: readonly string[];
}

/** What attempt number n is to make on a server, or undefined where its draw leads nowhere. */
export function specifyTask(
  ground: SpecificationContext,
  { n, home, kind }: { n: number; home: string; kind: TaskKind },
  random: Random,
): TaskSpecification | undefined {
  const { catalog, seed, preset, oneTurn, manners, uses, bridges, servers } = ground;
  const chain =
    kind === "abstain"
      ? []
      : chainFor({ server: catalog.getServer(home), uses, verdicts: ground.audit }, random);
  if (!chain) return undefined;
  const info = toldIn(ground.infos, random);
  const crossing =
    kind === "normal" && bridges.length > 0 && random.boolean(ground.crossing)
      ? planCrossServerTask(bridges, servers, home, uses, random)
      : undefined;
  const isFar = kind === "irrelevant" && random.boolean(shares.far);
  const distractors =
    preset.mixedMenuShare > 0
      ? "mixed"
      : random.boolean(preset.distractorShare)
        ? 3 + random.integer(6)
        : 0;
  const needed = crossing ? crossing.servers : [home];
  const others = random
    .shuffle(othersThan(needed, ground))
    .slice(0, companyOf(distractors, kind, isFar, ground, random));
  const fixtures = crossing
    ? sharedFixture(crossing, ground, n, random)
    : [{ name: home, fixture: fixtureFor(ground, home, n, random) }];
  return {
    id: `${needed[0]!}-${seed}-${n}`,
    home: needed[0]!,
    chain: crossing ? crossing.chain : chain,
    kind,
    info: kind !== "normal" || (crossing && info === "missing") ? "complete" : info,
    isOneTurn:
      kind === "abstain" ||
      (preset.name === "student" && kind === "irrelevant") ||
      random.boolean(oneTurn),
    prefersLists: random.boolean(info === "minimal" ? shares.listsWhenMinimal : shares.lists),
    servers: [
      ...fixtures,
      ...others.map(name => ({ name, fixture: fixtureFor(ground, name, n, random) })),
    ],
    sessionSeed: random.integer(100_000),
    persona: pickPersona(manners, random),
    distractors,
    stripsEnums: random.boolean(shares.enumsStripped),
    onlyOtherServers: isFar && others.length > 0,
    ...(crossing ? { crossServerPlan: crossing } : {}),
  };
}

/**
 * How much the user is to tell: by the shares, and the more of what has come about less often. Not
 * everything can be left out.
 */
function toldIn(infos: SpecificationContext["infos"], random: Random): Task["info"] {
  const all = [...infos.values()].reduce((a, b) => a + b, 0);
  const due = (info: "missing" | "minimal") =>
    Math.max(0, shares[info] + (all < few ? 0 : 3 * (shares[info] - (infos.get(info) ?? 0) / all)));
  const [missing, minimal] = [due("missing"), due("minimal")];
  return random.pickWeighted(
    ["complete", "missing", "minimal"] as const,
    it => ({ complete: Math.max(0.1, 1 - missing - minimal), missing, minimal })[it],
  );
}

/** Too few to tell a share by. */
const few = 50;

/** How many servers are opened beside those that are needed. */
function companyOf(
  distractors: TaskSpecification["distractors"],
  kind: TaskKind,
  isFar: boolean,
  { preset }: SpecificationContext,
  random: Random,
): number {
  if (distractors === "mixed")
    return kind === "irrelevant" || random.boolean(preset.mixedMenuShare)
      ? 1 + random.integer(2)
      : 0;
  return distractors > 0 || isFar ? 2 + random.integer(2) : 0;
}

/** Fixtures of one world for all servers of a talk. */
function sharedFixture(
  { servers }: CrossServerPlan,
  ground: SpecificationContext,
  n: number,
  random: Random,
): TaskSpecification["servers"] {
  const [first, ...others] = servers.map(ground.fixtures);
  const fixture = random.pick(first!.filter(it => others.every(list => list.includes(it))));
  return servers.map(name => ({ name, fixture: numbered(ground, name, fixture, n, random) }));
}

function chainFor(ways: ChainSource, random: Random): readonly string[] | undefined {
  const chain = drawChain(ways, random);
  const alone = listIsolatedTools(ways);
  if (!chain) return undefined;
  return alone.length > 0 && random.boolean(shares.loner)
    ? [...chain.tools, random.pickWeighted(alone, it => computeRarity(it, ways.uses))]
    : chain.tools;
}

/**
 * Servers whose tools have nothing to do with these. A held-out one is shown by tasks on held-out
 * ones only.
 */
function othersThan(
  needed: readonly string[],
  { catalog, servers, preset }: SpecificationContext,
): string[] {
  const all = preset.name === "paper" ? [...catalog.servers.keys()] : servers;
  const isApart = (it: string) =>
    needed.every(own => own !== it && (preset.name === "student" || !areRelatedServers(own, it)));
  return all.filter(it => isApart(it) && (!isHeldOut(it) || needed.some(isHeldOut)));
}

/** One of the server's fixtures. */
const fixtureFor = (
  ground: SpecificationContext,
  name: string,
  n: number,
  random: Random,
): string => numbered(ground, name, random.pick(ground.fixtures(name)), n, random);

/**
 * The fixture with its ids renumbered, where ids are what has to be found out. Few variants are in
 * use at a time.
 */
function numbered(
  { catalog, servers, variants }: SpecificationContext,
  name: string,
  fixture: string,
  n: number,
  random: Random,
): string {
  const stretch = Math.floor(n / (variety.attempts * servers.length));
  const number =
    1 + ((stretch * variety.atOnce + random.integer(variety.atOnce)) % Math.max(1, variants));
  return hasHiddenIds(catalog.getServer(name)) && variants > 0
    ? formatVariantName(fixture, number)
    : fixture;
}

export const defaultVariants = variety.variants;

const hidden = new WeakMap<Server, boolean>();

/** Whether most ids are such as nobody says, so that they must be read off results. */
export function hasHiddenIds(server: Server): boolean {
  let known = hidden.get(server);
  if (known === undefined) {
    const inputs = [...declarationsOf(server).values()].flatMap(it => it.inputs);
    hidden.set(server, (known = inputs.filter(it => !it.isSpoken).length * 2 > inputs.length));
  }
  return known;
}
