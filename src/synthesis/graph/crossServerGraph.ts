/** Creates the dependency graph of several servers, with the edges within each of them. */
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import type { Server } from "../../environment/server.ts";
import { createGraph, getDependencyGraph, type DependencyGraph } from "./dependencyGraph.ts";

export function createCrossServerGraph(servers: readonly Server[]): DependencyGraph {
  const graphs = servers.map(getDependencyGraph);
  return createGraph(
    {
      server: servers.map(it => it.name).join(", "),
      hash: computeDigest(deepFreeze(graphs.map(it => it.hash))),
    },
    graphs.flatMap(it => it.edges),
  );
}
