/**
 * What makes a menu harder than the chain needs: tools that do not help, lists of allowed values
 * taken away, another order; and for a task that nothing can do, a menu without what it wants.
 * Knows names and declarations, not conversations.
 */
import type { Server, Tool } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";
import { declarationsOf, type ToolDeclaration } from "../graph/declarations.ts";
import type { MenuKind } from "./presets.ts";

interface MenuEntry {
  readonly name: string;
  readonly enumsStripped?: true;
}

/** What is on offer, what was taken away, and what was turned to make it so. */
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

/** What a menu is made of. */
export interface MenuOptions {
  readonly kind: MenuKind;
  /** The home, then the other servers that are open. */
  readonly servers: readonly Server[];
  /** Full names of tools that the talk called. */
  readonly calledTools: ReadonlySet<string>;
  /** Full names of tools that are not to be had. */
  readonly hiddenTools: ReadonlySet<string>;
  /**
   * Tools of other servers beside those of the home; `mixed` has them among the company of a menu
   * of kind `chain`.
   */
  readonly distractors: number | "mixed";
  /** Only tools of other servers. */
  readonly onlyOtherServers: boolean;
  readonly stripsEnums: boolean;
}

/** Tools on a menu of kind `chain`, those of other servers that join it aside. */
const mostOnMenu = 8;

/** The tools on offer: those that the talk called and others beside them, in a random order. */
export function createMenu(offer: MenuOptions, random: Random): Menu {
  const { servers, calledTools, hiddenTools, kind, onlyOtherServers, stripsEnums } = offer;
  const declared = servers.flatMap(it => [...declarationsOf(it).values()]);
  const needed = declared.filter(it => calledTools.has(it.tool.name));
  const missed = declared.filter(it => hiddenTools.has(it.tool.name));
  // none that would do as well as a tool that is needed: a menu must not hold two right answers;
  // nor one that does what is missing
  const others = declared.filter(
    it =>
      !needed.includes(it) &&
      !missed.includes(it) &&
      ![...(kind === "chain" ? needed : []), ...missed].some(other => isSubstitute(it, other)),
  );
  const home = servers[0]!.name;
  // a talk over several servers has company from each of them
  const near = new Set([home, ...needed.map(it => it.tool.server)]);
  const [own, foreign] = [
    others.filter(it => near.has(it.tool.server)),
    others.filter(it => !near.has(it.tool.server)),
  ];
  const isIdle = needed.length === 0;
  let beside: ToolDeclaration[];
  let joined: number;
  if (offer.distractors === "mixed" && kind === "chain") {
    beside = isIdle
      ? some(onlyOtherServers ? foreign : others, 3 + random.integer(mostOnMenu - 2), random)
      : mixed(needed, others, random);
    joined = beside.filter(it => it.tool.server !== home).length;
  } else {
    const room = Math.max(0, mostOnMenu - needed.length);
    const n =
      kind === "full"
        ? Infinity
        : isIdle
          ? 3 + random.integer(mostOnMenu - 2)
          : room === 0
            ? 0
            : 1 + random.integer(room);
    const far = some(foreign, offer.distractors === "mixed" ? 0 : offer.distractors, random);
    beside = [
      ...(onlyOtherServers
        ? some(
            foreign.filter(it => !far.includes(it)),
            n,
            random,
          )
        : some(own, n, random)),
      ...far,
    ];
    joined = far.length;
  }
  const menu = random
    .shuffle([...needed, ...beside])
    .map(({ tool }): MenuEntry =>
      stripsEnums && hasEnum(tool) ? { name: tool.name, enumsStripped: true } : { name: tool.name },
    );
  return {
    menu,
    hidden: missed.map(it => it.tool.name),
    knobs: {
      menu: kind,
      company: beside.length - joined,
      distractors: joined,
      enumsStripped: stripsEnums,
    },
  };
}

const some = (list: readonly ToolDeclaration[], n: number, random: Random): ToolDeclaration[] =>
  random.shuffle(list).slice(0, n);

/** Company of every server that is open, at most one menu full. */
function mixed(
  needed: readonly ToolDeclaration[],
  others: readonly ToolDeclaration[],
  random: Random,
): ToolDeclaration[] {
  const room = mostOnMenu - needed.length;
  if (room <= 0) return [];
  const foreign = others.filter(it => it.tool.server !== needed[0]?.tool.server);
  const n = Math.min(room, others.length, 1 + random.integer(room));
  // at least one of every server that was opened for it
  const oneEach = [...new Set(foreign.map(it => it.tool.server))].map(server =>
    random.pick(foreign.filter(it => it.tool.server === server)),
  );
  const chosen = oneEach.slice(0, room);
  return [
    ...chosen,
    ...some(
      others.filter(it => !chosen.includes(it)),
      Math.max(0, n - chosen.length),
      random,
    ),
  ];
}

/** Two reads that take the same and show the same kind of thing, or two look-ups of one entity. */
export function isSubstitute(a: ToolDeclaration, b: ToolDeclaration): boolean {
  if (a.tool.effect !== "read" || b.tool.effect !== "read" || a.tool.server !== b.tool.server)
    return false;
  const required = (it: ToolDeclaration) =>
    it.inputs
      .filter(input => input.isRequired)
      .map(input => input.entity)
      .sort()
      .join(" ");
  if (required(a) !== required(b)) return false;
  const outputs = new Set(a.outputs.map(it => it.entity));
  if (b.outputs.some(it => outputs.has(it.entity))) return true;
  const fields = (it: ToolDeclaration) =>
    Object.keys((it.tool.outputSchema["properties"] ?? {}) as object);
  const shared = fields(a).filter(it => fields(b).includes(it)).length;
  return shared * 2 > Math.min(fields(a).length, fields(b).length);
}

/**
 * These tools of a server and what would do as well: what is hidden so that nothing does what they
 * do.
 */
export function findToolsToHide(names: readonly string[], server: Server): Set<string> {
  const declared = [...declarationsOf(server).values()];
  const wanted = declared.filter(it => names.includes(it.tool.name));
  return new Set(
    declared
      .filter(it => wanted.some(other => other === it || isSubstitute(it, other)))
      .map(it => it.tool.name),
  );
}

/**
 * Servers that are about the same things: what one of them offers is not unrelated to the others.
 */
const kin: readonly (readonly string[])[] = [
  ["calendar", "video_meeting"],
  ["email", "team_chat", "social_media"],
  ["banking", "payments", "budget", "trading"],
  ["shopping", "marketplace", "retail_chain", "food_delivery"],
  ["crm", "issue_tracker"],
  ["maps", "vehicle", "travel_booking"],
];

export const areRelatedServers = (a: string, b: string): boolean =>
  kin.some(it => it.includes(a) && it.includes(b));

const hasEnum = (tool: Tool): boolean => JSON.stringify(tool.inputSchema).includes('"enum":');
