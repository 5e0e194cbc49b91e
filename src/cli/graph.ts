/** `graph`: the dependency edges between tools, as they are declared. */
import { graphOf, type Edge } from "../synthesis/graph.ts";
import type { Command } from "./command.ts";

export const graph: Command = {
  usage: "graph [server] [--json]",
  summary: "List which tool needs which other: kind, what flows, confidence.",
  options: { json: { type: "boolean" } },
  async run({ catalog, print }, [name], { json }) {
    const graphs = (name === undefined ? [...catalog.servers.values()] : [catalog.server(name)]).map(graphOf);
    if (json) {
      print(JSON.stringify(graphs.map(({ server, hash, edges }) => ({ server, hash, edges })), null, 2));
      return 0;
    }
    for (const { server, hash, edges } of graphs) {
      print(`${server}: ${edges.length} edges (${hash})`);
      for (const edge of edges) print(`  ${readable(edge)}`);
    }
    return 0;
  },
};

const readable = ({ a, b, kind, via, confidence }: Edge): string =>
  `${a} -> ${b}  ${kind}${via ? `  ${via.output} -> ${via.input} (${via.entity})` : ""}  ${confidence}`;
