/**
 * Creates the menu of a task: the tools that were called and some that were not, in a random order,
 * with or without the enums of their arguments.
 */
import type { Server, Tool } from "../../../environment/server.ts";
import type { Random } from "../../../environment/random.ts";
import { getDeclarations, type ToolDeclaration } from "../../graph/declarations.ts";
import type { MenuKind } from "../synthesisOptions.ts";

interface MenuEntry {
  readonly name: string;
  readonly enumsStripped?: true;
}

/** The tools on the menu, those that were hidden, and the knobs that describe it in the task. */
export interface Menu {
  readonly menu: MenuEntry[];
  readonly hidden: string[];
  readonly knobs: {
    readonly menu: MenuKind;
    readonly company: number;
    readonly distractors: number;
    readonly enumsStripped: boolean;
  };
}

interface MenuOptions {
  readonly kind: MenuKind;
  /** The home server, then the other servers of the session. */
  readonly servers: readonly Server[];
  /** Full names of tools that the conversation called. */
  readonly calledTools: ReadonlySet<string>;
  /** Full names of tools that must not be on the menu. */
  readonly hiddenTools: ReadonlySet<string>;
  /**
   * The number of tools of other servers; `mixed` has some of them within the size of a menu of
   * kind `chain`.
   */
  readonly distractors: number | "mixed";
  /** Only tools of other servers are on the menu. */
  readonly onlyOtherServers: boolean;
  readonly stripsEnums: boolean;
}

/** The most tools on a menu of kind `chain`, apart from distractors. */
const maxMenuSize = 8;

/** The fewest tools on a menu of a conversation that calls nothing. */
const minIdleMenuSize = 3;

/** Tools beside those that the conversation needs. */
interface Additions {
  readonly tools: readonly ToolDeclaration[];
  /** How many of them are of other servers. */
  readonly distractorCount: number;
}

/** What the additions are chosen from. */
interface Candidates {
  readonly needed: readonly ToolDeclaration[];
  readonly hidden: readonly ToolDeclaration[];
  readonly all: readonly ToolDeclaration[];
  /** Of the home server, and of other servers that the conversation called. */
  readonly near: readonly ToolDeclaration[];
  readonly foreign: readonly ToolDeclaration[];
}

export function createMenu(options: MenuOptions, random: Random): Menu {
  const { servers, calledTools, hiddenTools, kind, stripsEnums } = options;
  const declarations = servers.flatMap(it => [...getDeclarations(it).values()]);
  const needed = declarations.filter(it => calledTools.has(it.tool.name));
  const hidden = declarations.filter(it => hiddenTools.has(it.tool.name));
  // a menu must not offer two right answers, nor a tool that does what a hidden one does
  const exclusive = [...(kind === "full" ? [] : needed), ...hidden];
  const all = declarations.filter(
    it =>
      !needed.includes(it) &&
      !hidden.includes(it) &&
      !exclusive.some(other => isSubstitute(it, other)),
  );
  const nearServers = new Set([servers[0]!.name, ...needed.map(it => it.tool.server)]);
  const additions = chooseAdditions(
    options,
    {
      needed,
      hidden,
      all,
      near: all.filter(it => nearServers.has(it.tool.server)),
      foreign: all.filter(it => !nearServers.has(it.tool.server)),
    },
    random,
  );
  const menu = random
    .shuffle([...needed, ...additions.tools])
    .map(({ tool }): MenuEntry =>
      stripsEnums && hasEnum(tool) ? { name: tool.name, enumsStripped: true } : { name: tool.name },
    );
  return {
    menu,
    hidden: hidden.map(it => it.tool.name),
    knobs: {
      menu: kind,
      company: additions.tools.length - additions.distractorCount,
      distractors: additions.distractorCount,
      enumsStripped: stripsEnums,
    },
  };
}

function chooseAdditions(options: MenuOptions, candidates: Candidates, random: Random): Additions {
  const { kind, servers, distractors, onlyOtherServers } = options;
  const { needed, hidden, all, near, foreign } = candidates;
  if (kind === "realistic") {
    const home = servers[0]!.name;
    const targets = [...needed, ...hidden];
    const tools = chooseRealistic({ needed, targets, all, home, onlyOtherServers }, random);
    return { tools, distractorCount: tools.filter(it => it.tool.server !== home).length };
  }
  if (distractors === "mixed" && kind === "chain") {
    const tools =
      needed.length === 0
        ? pickSome(onlyOtherServers ? foreign : all, drawIdleMenuSize(random), random)
        : chooseMixed(needed, all, random);
    const home = servers[0]!.name;
    return { tools, distractorCount: tools.filter(it => it.tool.server !== home).length };
  }
  const count = kind === "full" ? Infinity : drawAdditionCount(needed.length, random);
  const far = pickSome(foreign, distractors === "mixed" ? 0 : distractors, random);
  const choices = onlyOtherServers ? foreign.filter(it => !far.includes(it)) : near;
  return {
    tools: [...pickSome(choices, count, random), ...far],
    distractorCount: far.length,
  };
}

function drawAdditionCount(neededCount: number, random: Random): number {
  if (neededCount === 0) return drawIdleMenuSize(random);
  const room = Math.max(0, maxMenuSize - neededCount);
  return room === 0 ? 0 : 1 + random.integer(room);
}

const drawIdleMenuSize = (random: Random): number =>
  minIdleMenuSize + random.integer(maxMenuSize - minIdleMenuSize + 1);

const pickSome = (
  list: readonly ToolDeclaration[],
  count: number,
  random: Random,
): ToolDeclaration[] => random.shuffle(list).slice(0, count);

/** Tools of every server, up to the size of a menu: at least one of each other server. */
function chooseMixed(
  needed: readonly ToolDeclaration[],
  all: readonly ToolDeclaration[],
  random: Random,
): ToolDeclaration[] {
  const room = maxMenuSize - needed.length;
  if (room <= 0) return [];
  const foreign = all.filter(it => it.tool.server !== needed[0]?.tool.server);
  const count = Math.min(room, all.length, 1 + random.integer(room));
  const oneOfEach = [...new Set(foreign.map(it => it.tool.server))].map(server =>
    random.pick(foreign.filter(it => it.tool.server === server)),
  );
  const chosen = oneOfEach.slice(0, room);
  const others = all.filter(it => !chosen.includes(it));
  return [...chosen, ...pickSome(others, Math.max(0, count - chosen.length), random)];
}

const hasEnum = (tool: Tool): boolean => JSON.stringify(tool.inputSchema).includes('"enum":');

// Chooses the tools beside the needed ones on a menu of kind `realistic`: 20 to 40 tools in all,
// near misses of the server that the conversation is about, and tools of other servers. The sizes
// are drawn without regard to what the conversation needs, so that they tell nothing about it.

/** The fewest and the most tools on a menu. */
const menuSize = { min: 20, max: 40 };

/** The fewest and the most tools of the server that has most of them. */
const mainSize = { min: 6, max: 11 };

/** The least and the greatest share of tools that change something. */
const writeShare = { min: 0.4, max: 0.6 };

/** How much chance there is in the choice beside similarity, which is at most 1. */
const chance = { near: 0.3, far: 0.8 };

interface RealisticCandidates {
  readonly needed: readonly ToolDeclaration[];
  /** What the near misses are near to: the needed tools, and the hidden ones. */
  readonly targets: readonly ToolDeclaration[];
  /** The tools that may be added, of all servers of the session. */
  readonly all: readonly ToolDeclaration[];
  /** The server that the conversation is about. */
  readonly home: string;
  /** Only tools of other servers are added. */
  readonly onlyOtherServers: boolean;
}

/** The tools to add, in no particular order. */
const chooseRealistic = (
  candidates: RealisticCandidates,
  random: Random,
): readonly ToolDeclaration[] => new RealisticMenu(candidates, random).choose();

class RealisticMenu {
  readonly #candidates: RealisticCandidates;
  readonly #random: Random;
  readonly #addable: readonly ToolDeclaration[];
  readonly #chosen: ToolDeclaration[] = [];
  readonly #size: number;
  /** How many more reads and writes there may be. */
  readonly #room: Record<Tool["effect"], number>;

  constructor(candidates: RealisticCandidates, random: Random) {
    const { needed, all, home, onlyOtherServers } = candidates;
    this.#candidates = candidates;
    this.#random = random;
    this.#addable = all.filter(it => !onlyOtherServers || it.tool.server !== home);
    this.#size = drawBetween(menuSize, random);
    const writes = Math.round(
      this.#size * (writeShare.min + (writeShare.max - writeShare.min) * random.next()),
    );
    const neededWrites = needed.filter(it => it.tool.effect === "write").length;
    this.#room = {
      write: writes - neededWrites,
      read: this.#size - writes - (needed.length - neededWrites),
    };
  }

  choose(): readonly ToolDeclaration[] {
    const { needed, home, onlyOtherServers } = this.#candidates;
    const random = this.#random;
    const wantedOfMain = drawBetween(mainSize, random);
    const others = [...new Set([...needed, ...this.#addable].map(it => it.tool.server))].filter(
      it => it !== home,
    );
    // without the home server, another one has as many tools as it would have had
    const main = onlyOtherServers && others.length > 0 ? random.pick(others) : home;
    this.#addOf(main, wantedOfMain, chance.near);
    const rest = random.shuffle(others.filter(it => it !== main));
    for (const [i, server] of rest.entries()) {
      const weight = 0.5 + random.next();
      const share = weight / (weight + rest.length - i - 1);
      const count = Math.ceil(this.#countMissing() * share);
      this.#addOf(server, this.#countNeeded(server) + count, chance.far);
    }
    this.#add(this.#addable, this.#countMissing(), 1);
    return this.#chosen;
  }

  #countMissing(): number {
    return this.#size - this.#candidates.needed.length - this.#chosen.length;
  }

  #countNeeded(server: string): number {
    return this.#candidates.needed.filter(it => it.tool.server === server).length;
  }

  /** Adds tools of a server until there are `count` of it. */
  #addOf(server: string, count: number, ownChance: number): void {
    const tools = this.#addable.filter(it => it.tool.server === server);
    this.#add(tools, count - this.#countNeeded(server), ownChance);
  }

  /** Adds some of the tools: mostly those that are most like one of the targets. */
  #add(tools: readonly ToolDeclaration[], count: number, ownChance: number): void {
    const { targets } = this.#candidates;
    const scored = tools
      .filter(it => !this.#chosen.includes(it))
      .map(tool => {
        const similarity = Math.max(0, ...targets.map(it => computeSimilarity(tool, it)));
        return { tool, score: similarity + ownChance * this.#random.next() };
      })
      .sort((a, b) => b.score - a.score);
    let left = count;
    for (const { tool } of scored) {
      if (left <= 0) return;
      const { effect } = tool.tool;
      if (this.#room[effect] <= 0) continue;
      this.#room[effect]--;
      this.#chosen.push(tool);
      left--;
    }
  }
}

const drawBetween = (
  { min, max }: { readonly min: number; readonly max: number },
  random: Random,
): number => min + random.integer(max - min + 1);

// Computes how easily two tools are confused: by their names, summaries and arguments.

/** What each property counts for; the sum is 1. */
const weights = { verb: 0.2, object: 0.4, summary: 0.2, arguments: 0.2 };

interface ToolWords {
  /** The first word of the name, as in `list`. */
  readonly verb: string;
  /** The other words of the name, in the singular. */
  readonly object: ReadonlySet<string>;
  readonly summary: ReadonlySet<string>;
  readonly arguments: ReadonlySet<string>;
}

const wordsByTool = new WeakMap<ToolDeclaration, ToolWords>();

/** From 0 for tools with nothing in common to 1. */
function computeSimilarity(a: ToolDeclaration, b: ToolDeclaration): number {
  const [own, other] = [getWords(a), getWords(b)];
  return (
    (own.verb === other.verb ? weights.verb : 0) +
    weights.object * computeOverlap(own.object, other.object) +
    weights.summary * computeOverlap(own.summary, other.summary) +
    weights.arguments * computeOverlap(own.arguments, other.arguments)
  );
}

function getWords(declaration: ToolDeclaration): ToolWords {
  let words = wordsByTool.get(declaration);
  if (!words) wordsByTool.set(declaration, (words = splitWords(declaration)));
  return words;
}

function splitWords({ tool, inputs, labels, values }: ToolDeclaration): ToolWords {
  const [verb = "", ...object] = tool.name.slice(tool.server.length + 1).split("_");
  return {
    verb,
    object: new Set(object.map(makeSingular)),
    summary: new Set(
      tool.summary
        .toLowerCase()
        .match(/\p{L}{4,}/gu)
        ?.map(makeSingular),
    ),
    arguments: new Set([...inputs, ...labels, ...values].map(it => it.key)),
  };
}

const makeSingular = (word: string): string => word.replace(/s$/, "");

/** The Jaccard similarity of two sets; 0 if both are empty. */
function computeOverlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const it of a) if (b.has(it)) shared++;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}

// Finds tools and servers that can replace each other, so that a menu has only one of them.

/**
 * Whether two reads take the same entities, and show the same entity or mostly the same fields.
 */
export function isSubstitute(a: ToolDeclaration, b: ToolDeclaration): boolean {
  if (a.tool.effect !== "read" || b.tool.effect !== "read" || a.tool.server !== b.tool.server)
    return false;
  if (getRequiredEntities(a) !== getRequiredEntities(b)) return false;
  const entities = new Set(a.outputs.map(it => it.entity));
  if (b.outputs.some(it => entities.has(it.entity))) return true;
  const [fieldsOfA, fieldsOfB] = [listFields(a), listFields(b)];
  const shared = fieldsOfA.filter(it => fieldsOfB.includes(it)).length;
  return shared * 2 > Math.min(fieldsOfA.length, fieldsOfB.length);
}

const getRequiredEntities = ({ inputs }: ToolDeclaration): string =>
  inputs
    .filter(it => it.isRequired)
    .map(it => it.entity)
    .sort()
    .join(" ");

const listFields = ({ tool }: ToolDeclaration): string[] =>
  Object.keys((tool.outputSchema["properties"] ?? {}) as object);

/** The tools to hide so that nothing does what the named tools of these servers do. */
export function findToolsToHide(names: readonly string[], servers: readonly Server[]): Set<string> {
  const declarations = servers.flatMap(it => [...getDeclarations(it).values()]);
  const namedTools = declarations.filter(it => names.includes(it.tool.name));
  return new Set(
    declarations
      .filter(it => namedTools.some(other => other === it || isSubstitute(it, other)))
      .map(it => it.tool.name),
  );
}

const relatedServers: readonly (readonly string[])[] = [
  ["calendar", "video_meeting"],
  ["email", "team_chat", "social_media"],
  ["banking", "payments", "budget", "trading"],
  ["shopping", "marketplace", "retail_chain", "food_delivery"],
  ["crm", "issue_tracker"],
  ["maps", "vehicle", "travel_booking"],
];

/** Whether two servers have so much in common that tools of one may replace tools of the other. */
export const areRelatedServers = (a: string, b: string): boolean =>
  relatedServers.some(it => it.includes(a) && it.includes(b));
