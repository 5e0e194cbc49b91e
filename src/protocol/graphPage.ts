/** What the dependency graph page shows, and its requests and events. Types only. */
import type { PageContract } from "./pageChannel.ts";

/** A tool as the dependency graph shows it. */
interface GraphTool {
  readonly name: string;
  readonly effect: "read" | "write";
  readonly summary: string;
}

/** Tool `a` comes before tool `b`; both are indices into the list of tools. */
export interface GraphEdge {
  readonly a: number;
  readonly b: number;
  readonly kind: "explicit" | "implicit";
  /** The value that flows: its place in the result, and the argument that takes it. */
  readonly via?: { readonly output: string; readonly input: string; readonly entity?: string };
  readonly confidence: number;
  /** The result of running the pair, if it was run. */
  readonly verified?: "works" | "fails" | "untried";
  /** Why synthesis does not use the edge. */
  readonly why?: string;
}

export interface GraphView {
  readonly server: string;
  readonly tools: readonly GraphTool[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphPage extends PageContract {
  readonly requests: { load: { params: null; result: GraphView } };
  readonly events: { changed: GraphView };
}
