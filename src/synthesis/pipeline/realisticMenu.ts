/**
 * Chooses the tools beside the needed ones on a menu of kind `realistic`: 20 to 40 tools in all,
 * near misses of the server that the conversation is about, and tools of other servers. The sizes
 * are drawn without regard to what the conversation needs, so that they tell nothing about it.
 */
import type { Random } from "../../environment/random.ts";
import type { Tool } from "../../environment/server.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { computeSimilarity } from "./toolSimilarity.ts";

/** The fewest and the most tools on a menu. */
const menuSize = { min: 20, max: 40 };

/** The fewest and the most tools of the server that has most of them. */
const mainSize = { min: 6, max: 11 };

/** The least and the greatest share of tools that change something. */
const writeShare = { min: 0.4, max: 0.6 };

/** How much chance there is in the choice beside similarity, which is at most 1. */
const chance = { near: 0.3, far: 0.8 };

export interface RealisticCandidates {
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
export const chooseRealistic = (
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
