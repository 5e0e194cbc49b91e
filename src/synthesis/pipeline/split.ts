/**
 * Computes the split of a task from what its goals use: servers, edges, pairs of tools, worlds. The
 * seed has no influence, so the same calls in the same world are in the same split in every
 * synthesis.
 */
import { hash } from "node:crypto";
import { isHeldOutWorld } from "../../environment/fixture.ts";
import type { Split, Task } from "../../trajectory/task.ts";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "../../storage/parseJson.ts";
import { listGoalEdges } from "../../trajectory/seenTasks.ts";

/** Servers whose tools are in no training task, to measure generalization to unseen servers. */
export const heldOutServers: readonly string[] = ["trading", "marketplace", "team_chat", "vehicle"];

export const isHeldOut = (server: string): boolean => heldOutServers.includes(server);

/** A split, and the edges or pairs that are the reason for it. */
export interface SplitChoice {
  readonly split: Split;
  readonly heldOut?: readonly string[];
}

/** What a split is computed from. */
export interface SplitSubject {
  readonly goals: Task["goals"];
  /** Stands for the tools where there are no goals. */
  readonly chain: readonly string[];
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
}

/**
 * Computes the split. The first that applies of server, edge, chain and world; a task of a held-out
 * world therefore has no other reason to be held out.
 */
export function computeSplit(
  { goals, chain, servers }: SplitSubject,
  heldOutEdges: HeldOutEdges,
): SplitChoice {
  const tools = goals.flatMap(it => it.calls.map(call => call.name));
  // the tools of a held-out server may be on the menu although no goal calls one
  const isServerHeldOut = servers.some(it => isHeldOut(it.name));
  if (isServerHeldOut || [...tools, ...(goals.length > 0 ? [] : chain)].some(isToolHeldOut))
    return { split: "heldout-server" };
  const edges = listHeldOutEdges(goals, heldOutEdges);
  if (edges.length > 0) return { split: "heldout-edge", heldOut: edges };
  const pairs = listHeldOutPairs(tools, heldOutEdges);
  if (pairs.length > 0) return { split: "heldout-chain", heldOut: pairs };
  return { split: computeWorldSplit(servers) };
}

const isToolHeldOut = (tool: string): boolean =>
  heldOutServers.some(server => tool.startsWith(`${server}_`));

const computeWorldSplit = (servers: SplitSubject["servers"]): Split =>
  servers.some(it => isHeldOutWorld(it.fixture)) ? "heldout-world" : "train";

/** One set of tools in this many is held out. */
const heldOutInterval = 5;

/**
 * Computes the split of tasks for the small student, whose chains are held out as exact sets of
 * tools. A single tool is always for training, because a model must have seen what each tool does.
 */
export function computeStudentSplit({ goals, chain, servers }: SplitSubject): SplitChoice {
  const names = new Set(goals.flatMap(it => it.calls.map(call => call.name)));
  const tools = [...(names.size > 0 ? names : new Set(chain))].sort();
  if ((names.size === 0 && isHeldOut(servers[0]?.name ?? "")) || tools.some(isToolHeldOut))
    return { split: "heldout-server" };
  const digest = hash("sha256", tools.join("\n"), "hex");
  if (tools.length > 1 && Number.parseInt(digest.slice(0, 8), 16) % heldOutInterval === 0)
    return { split: "heldout-chain" };
  return { split: computeWorldSplit(servers) };
}

// The edges and pairs of tools that no training task uses, from `graphs/heldOut.json`. They are
// listed, because a rule alone would hold out an edge that almost every task of a tool needs.
// `test/chooseHeldOut.ts` chooses them by a hash of their names.

export const heldOutFormat = "prove/heldOut@1";

const heldOutSchema = z.strictObject({
  format: z.literal(heldOutFormat),
  /** A value flows from the first tool to the second. */
  edges: z.array(z.string()),
  /** Two tools in one task, neither of which needs the other. */
  pairs: z.array(z.string()),
});

interface HeldOutEdges {
  readonly edges: ReadonlySet<string>;
  readonly pairs: ReadonlySet<string>;
}

/** Two tools, in the order of their names, in one string. */
export const formatPair = (a: string, b: string): string => (a < b ? `${a} + ${b}` : `${b} + ${a}`);

const listsByFolder = new Map<string, HeldOutEdges>();

/** Reads the list of the product's `resources` folder once. */
export function readHeldOutEdges(resources: string): HeldOutEdges {
  let list = listsByFolder.get(resources);
  if (!list) listsByFolder.set(resources, (list = readList(resources)));
  return list;
}

function readList(resources: string): HeldOutEdges {
  const { edges, pairs } = readJsonFile(heldOutSchema, join(resources, "graphs", "heldOut.json"), {
    noun: "a list of held-out edges",
    remedy: "reinstall PROVE",
  });
  return { edges: new Set(edges), pairs: new Set(pairs) };
}

/** The held-out edges of a task. */
const listHeldOutEdges = (goals: Task["goals"], { edges }: HeldOutEdges): readonly string[] =>
  listGoalEdges(goals).filter(it => edges.has(it));

/** The held-out pairs among the tools that a task's goals call. */
function listHeldOutPairs(tools: readonly string[], { pairs }: HeldOutEdges): readonly string[] {
  const names = [...new Set(tools)].sort();
  return names.flatMap((a, i) =>
    names.slice(i + 1).flatMap(b => {
      const pair = formatPair(a, b);
      return pairs.has(pair) ? [pair] : [];
    }),
  );
}
