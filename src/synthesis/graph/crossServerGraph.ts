/** The dependency graph of several servers: the edges within each of them. */
import { digestOf, freeze } from "../../environment/digest.ts";
import type { Server } from "../../environment/server.ts";
import { createGraph, dependencyGraphOf, type DependencyGraph } from "./dependencyGraph.ts";

export function createCrossServerGraph(servers: readonly Server[]): DependencyGraph {
  const graphs = servers.map(dependencyGraphOf);
  return createGraph(
    {
      server: servers.map(it => it.name).join(", "),
      hash: digestOf(freeze(graphs.map(it => it.hash))),
    },
    graphs.flatMap(it => it.edges),
  );
}
