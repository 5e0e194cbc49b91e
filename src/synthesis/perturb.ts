/**
 * What makes a menu harder than the chain needs: tools that do not help, lists of allowed values taken away, another order; and
 * for a task that nothing can do, a menu without what it wants. Knows names and declarations, not conversations.
 */
import type { Server, Tool } from "../environment/server.ts";
import type { Chance } from "../environment/chance.ts";
import { declarationsOf, type Declared } from "./declared.ts";

export type MenuKind = "chain" | "full";

interface MenuEntry {
  readonly name: string;
  readonly enumsStripped?: true;
}

/** What is on offer, what was taken away, and what was turned to make it so. */
export interface Menu {
  readonly menu: MenuEntry[];
  readonly hidden: string[];
  readonly knobs: Knobs;
}

interface Knobs {
  readonly menu: MenuKind;
  /** Tools on offer that no goal calls. */
  readonly distractors: number;
  readonly enumsStripped: boolean;
}

/** Tools on a menu of kind `chain`. */
const mostOnMenu = 8;

const enumStripping = 0.3;
const foreignOnFull = 0.4;
const farMenus = 0.5;

/** The tools on offer: those that the talk called and others beside them, in a random order. */
export function menuFor(called: ReadonlySet<string>, servers: readonly Server[], kind: MenuKind, chance: Chance): Menu {
  const declared = servers.flatMap(it => [...declarationsOf(it).values()]);
  const needed = declared.filter(it => called.has(it.tool.name));
  const others = declared.filter(it => !called.has(it.tool.name));
  const home = servers[0]!.name;
  const tools = kind === "full" ? fullMenu(declared, home, chance) : [...needed, ...distractors(needed, others, chance)];
  const stripped = chance.happens(enumStripping);
  const menu = chance.shuffled(tools).map(({ tool }): MenuEntry => (stripped && hasEnum(tool) ? { name: tool.name, enumsStripped: true } : { name: tool.name }));
  return { menu, hidden: [], knobs: { menu: kind, distractors: tools.length - needed.length, enumsStripped: stripped } };
}

/** All tools of the server, and in some tasks three to eight of the others. */
function fullMenu(declared: readonly Declared[], home: string, chance: Chance): Declared[] {
  const [own, foreign] = [declared.filter(it => it.tool.server === home), declared.filter(it => it.tool.server !== home)];
  return chance.happens(foreignOnFull) ? [...own, ...chance.shuffled(foreign).slice(0, 3 + chance.below(6))] : own;
}

/** None that would do as well as a tool that is needed: a menu must not hold two right answers. */
function distractors(needed: readonly Declared[], others: readonly Declared[], chance: Chance): Declared[] {
  const room = mostOnMenu - needed.length;
  if (room <= 0) return [];
  const distracting = others.filter(it => !needed.some(other => isSubstitute(it, other)));
  const foreign = distracting.filter(it => it.tool.server !== needed[0]?.tool.server);
  const n = Math.min(room, distracting.length, 1 + chance.below(room));
  // at least one of every server that was opened for it
  const oneEach = [...new Set(foreign.map(it => it.tool.server))].map(server => chance.pick(foreign.filter(it => it.tool.server === server)));
  const chosen = oneEach.slice(0, room);
  return [...chosen, ...chance.shuffled(distracting.filter(it => !chosen.includes(it))).slice(0, Math.max(0, n - chosen.length))];
}

/** Two reads that take the same and show the same kind of thing, or two look-ups of one entity. */
export function isSubstitute(a: Declared, b: Declared): boolean {
  if (a.tool.effect !== "read" || b.tool.effect !== "read" || a.tool.server !== b.tool.server) return false;
  const required = (it: Declared) => it.inputs.filter(input => input.required).map(input => input.entity).sort().join(" ");
  if (required(a) !== required(b)) return false;
  const outputs = new Set(a.outputs.map(it => it.entity));
  if (b.outputs.some(it => outputs.has(it.entity))) return true;
  const fields = (it: Declared) => Object.keys((it.tool.outputSchema["properties"] ?? {}) as object);
  const shared = fields(a).filter(it => fields(b).includes(it)).length;
  return shared * 2 > Math.min(fields(a).length, fields(b).length);
}

/** A menu on which nothing does what these tools do: of other servers, or of this one too, which is harder to tell. */
export function menuWithout(wanted: readonly string[], servers: readonly Server[], kind: MenuKind, chance: Chance): Menu {
  const isFar = chance.happens(farMenus) && servers.length > 1;
  const declared = (isFar ? servers.slice(1) : servers).flatMap(it => [...declarationsOf(it).values()]);
  const missed = declared.filter(it => wanted.includes(it.tool.name));
  const left = declared.filter(it => !wanted.includes(it.tool.name) && !missed.some(other => isSubstitute(it, other)));
  const n = kind === "full" ? left.length : Math.min(left.length, 3 + chance.below(mostOnMenu - 2));
  const menu = chance.shuffled(left).slice(0, n);
  return {
    menu: menu.map(({ tool }) => ({ name: tool.name })),
    hidden: missed.map(it => it.tool.name),
    knobs: { menu: kind, distractors: menu.length, enumsStripped: false },
  };
}

const hasEnum = (tool: Tool): boolean => JSON.stringify(tool.inputSchema).includes('"enum":');
