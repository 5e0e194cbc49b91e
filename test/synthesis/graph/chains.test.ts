/**
 * Chains are short simple paths over edges that nothing speaks against, and between them they visit
 * every tool that the graph reaches.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadServers } from "../../../src/servers/catalog.ts";
import { chainOf, loners, used, type Chain } from "../../../src/synthesis/graph/chains.ts";
import { createRandom } from "../../../src/environment/random.ts";
import { auditFiles, eligible, readAudit } from "../../../src/synthesis/graph/edgeVerdicts.ts";
import { graphOf } from "../../../src/synthesis/graph/dependencyGraph.ts";

const servers = await loadServers();

const audit = readAudit(auditFiles(join(import.meta.dirname, "../../resources")));

function chains(server: (typeof servers)[number], n: number): Chain[] {
  const uses = new Map<string, number>();
  return Array.from({ length: n }).flatMap((_, i) => {
    const chain = chainOf({ server, uses, audit }, createRandom(4, i));
    if (chain) used(chain.tools, uses);
    return chain ?? [];
  });
}

test.each(servers.map(it => [it.name, it] as const))(
  "of %s: simple paths of two to five tools with something flowing",
  (_, server) => {
    const edges = new Set(eligible(graphOf(server), audit).edges.map(it => `${it.a} ${it.b}`));
    for (const { tools, edges: walked } of chains(server, 200)) {
      expect(tools.length).toBeGreaterThanOrEqual(2);
      expect(tools.length).toBeLessThanOrEqual(5);
      expect(new Set(tools).size).toBe(tools.length);
      expect(walked.map(it => `${it.a} ${it.b}`)).toEqual(
        tools.slice(1).map((it, i) => `${tools[i]} ${it}`),
      );
      expect(walked.every(it => edges.has(`${it.a} ${it.b}`))).toBe(true);
      expect(walked.some(it => it.kind === "explicit")).toBe(true);
    }
  },
);

test.each(servers.map(it => [it.name, it] as const))(
  "of %s: every tool has its turn within 300 chains",
  (_, server) => {
    const seen = new Set([
      ...chains(server, 300).flatMap(it => it.tools),
      ...loners({ server, audit }),
    ]);
    expect([...server.tools.keys()].filter(it => !seen.has(it))).toEqual([]);
  },
);

test("most chains end with a change", () => {
  const ends = chains(servers[0]!, 400).map(it => servers[0]!.tools.get(it.tools.at(-1)!)!.effect);
  const share = ends.filter(it => it === "write").length / ends.length;
  expect(share).toBeGreaterThan(0.6);
  expect(share).toBeLessThan(0.95);
});
