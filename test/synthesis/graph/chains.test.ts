/** Chains are short simple paths over accepted edges, and together they use every tool. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadServers } from "../../../src/servers/catalog.ts";
import {
  drawChain,
  listIsolatedTools,
  countUses,
  type Chain,
} from "../../../src/synthesis/graph/chains.ts";
import { createRandom } from "../../../src/environment/random.ts";
import {
  listVerdictFiles,
  removeRejectedEdges,
  readVerdicts,
  getDependencyGraph,
} from "../../../src/synthesis/graph/dependencyGraph.ts";

const servers = await loadServers();

const verdicts = readVerdicts(listVerdictFiles(join(import.meta.dirname, "../../resources")));

function drawChains(server: (typeof servers)[number], n: number): Chain[] {
  const uses = new Map<string, number>();
  return Array.from({ length: n }).flatMap((_, i) => {
    const chain = drawChain({ server, uses, verdicts }, createRandom(4, i));
    if (chain) countUses(chain.tools, uses);
    return chain ?? [];
  });
}

test.each(servers.map(it => [it.name, it] as const))(
  "chains of %s are simple paths of two to five tools with at least one explicit edge",
  (_, server) => {
    const edges = new Set(
      removeRejectedEdges(getDependencyGraph(server), verdicts).edges.map(it => `${it.a} ${it.b}`),
    );
    for (const { tools, edges: chainEdges } of drawChains(server, 200)) {
      expect(tools.length).toBeGreaterThanOrEqual(2);
      expect(tools.length).toBeLessThanOrEqual(5);
      expect(new Set(tools).size).toBe(tools.length);
      expect(chainEdges.map(it => `${it.a} ${it.b}`)).toEqual(
        tools.slice(1).map((it, i) => `${tools[i]} ${it}`),
      );
      expect(chainEdges.every(it => edges.has(`${it.a} ${it.b}`))).toBe(true);
      expect(chainEdges.some(it => it.kind === "explicit")).toBe(true);
    }
  },
);

test.each(servers.map(it => [it.name, it] as const))(
  "300 chains of %s use every tool",
  (_, server) => {
    const usedTools = new Set([
      ...drawChains(server, 300).flatMap(it => it.tools),
      ...listIsolatedTools({ server, verdicts }),
    ]);
    expect([...server.tools.keys()].filter(it => !usedTools.has(it))).toEqual([]);
  },
);

test("most chains end with a write", () => {
  const ends = drawChains(servers[0]!, 400).map(
    it => servers[0]!.tools.get(it.tools.at(-1)!)!.effect,
  );
  const share = ends.filter(it => it === "write").length / ends.length;
  expect(share).toBeGreaterThan(0.6);
  expect(share).toBeLessThan(0.95);
});
