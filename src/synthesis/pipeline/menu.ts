/**
 * Creates the menu of a task: the tools that were called and some that were not, in a random order,
 * with or without the enums of their arguments.
 */
import type { Server, Tool } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";
import { getDeclarations, type ToolDeclaration } from "../graph/declarations.ts";
import type { MenuKind } from "./presets.ts";
import { chooseRealistic } from "./realisticMenu.ts";
import { isSubstitute } from "./substitutes.ts";

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

export interface MenuOptions {
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
