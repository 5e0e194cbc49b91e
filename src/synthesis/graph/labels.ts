/**
 * Defines labels of tool pairs, which say whether one tool's call can depend on the other's, and
 * compares them. Declarations, names and chat models all produce labels of this type.
 */
import type { Tool } from "../../environment/server.ts";
import type { DependencyGraph } from "./dependencyGraph.ts";

/** The published part of a tool, which connected servers provide too. */
export type PublishedTool = Pick<
  Tool,
  "name" | "server" | "effect" | "summary" | "inputSchema" | "outputSchema"
>;

/** `a` before `b`. A pair without an edge has one label `none`, in either direction. */
export interface Label {
  readonly a: string;
  readonly b: string;
  readonly label: "explicit" | "implicit" | "none";
  /** The path in the result of `a`, such as `accounts[].account_id`, and the argument of `b`. */
  readonly via?: { readonly output: string; readonly input: string };
  /** 0 to 1. */
  readonly confidence: number;
  readonly rationale?: string;
}

/** The edges of a dependency graph as labels. */
export const listDeclaredLabels = ({ edges }: Pick<DependencyGraph, "edges">): Label[] =>
  edges.map(({ a, b, kind, via, confidence }) => ({
    a,
    b,
    label: kind,
    ...(via ? { via: { output: via.output, input: via.input } } : {}),
    confidence,
  }));

/** Lists all unordered pairs, n(n-1)/2 of them. */
export const listPairs = <T>(tools: readonly T[]): (readonly [T, T])[] =>
  tools.flatMap((a, i) => tools.slice(i + 1).map(b => [a, b] as const));

export interface Agreement {
  /** Pairs connected by the labels, by the reference, and by both. */
  readonly labelled: number;
  readonly reference: number;
  readonly both: number;
  /** both / labelled; 1 where nothing is labelled. */
  readonly precision: number;
  /** both / reference; 1 where the reference is empty. */
  readonly recall: number;
}

/** Measures how far labels agree with a reference on the directed pairs of all kinds or of one. */
export function measureAgreement(
  labels: readonly Label[],
  reference: readonly Label[],
  kind?: "explicit" | "implicit",
): Agreement {
  const listEdgeKeys = (list: readonly Label[]) =>
    new Set(
      list
        .filter(it => it.label !== "none" && (kind === undefined || it.label === kind))
        .map(it => `${it.a} > ${it.b}`),
    );
  const [own, other] = [listEdgeKeys(labels), listEdgeKeys(reference)];
  const both = [...own].filter(it => other.has(it)).length;
  const ratio = (total: number) => (total === 0 ? 1 : Math.round((1000 * both) / total) / 1000);
  return {
    labelled: own.size,
    reference: other.size,
    both,
    precision: ratio(own.size),
    recall: ratio(other.size),
  };
}
