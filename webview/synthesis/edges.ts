/** Transitions put together to edges, with their shares. Pure; knows no elements. */
import type { TransitionCount } from "../../src/protocol/synthesisPage.ts";

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly n: number;
  /** The commonest first. */
  readonly events: readonly { readonly event: string; readonly n: number }[];
  /** Of all that leave its state. */
  readonly share: number;
  /** Of the edge that most went along, from 0 to 1. */
  readonly weight: number;
}

export function groupTransitions(transitions: readonly TransitionCount[]): readonly Edge[] {
  const grouped = new Map<string, TransitionCount[]>();
  for (const it of transitions)
    grouped.set(`${it.from}>${it.to}`, [...(grouped.get(`${it.from}>${it.to}`) ?? []), it]);
  const sums = [...grouped.values()].map(all => ({
    from: all[0]!.from,
    to: all[0]!.to,
    n: sum(all),
    events: all.map(({ event, n }) => ({ event, n })).toSorted((a, b) => b.n - a.n),
  }));
  const most = Math.max(1, ...sums.map(it => it.n));
  return sums.map(it => ({
    ...it,
    share: it.n / countLeaving(sums, it.from),
    weight: it.n / most,
  }));
}

/** How often each state was entered; the first one, how often it was left. */
export function countVisits(edges: readonly Edge[], state: string): number {
  const entered = sum(edges.filter(it => it.to === state));
  const left = sum(edges.filter(it => it.from === state));
  return Math.max(entered, left);
}

const countLeaving = (
  edges: readonly { readonly from: string; readonly n: number }[],
  from: string,
) => sum(edges.filter(it => it.from === from)) || 1;

const sum = (counts: readonly { readonly n: number }[]) =>
  counts.reduce((total, it) => total + it.n, 0);

/**
 * What kind of way it is: a rejection, a mending of something that went wrong, or the usual one.
 */
export const classifyEdge = ({
  from,
  to,
}: Pick<Edge, "from" | "to">): "reject" | "mend" | "usual" => {
  if (to === "reject") return "reject";
  const mends = ["regenerate", "recover", "partial", "failure"];
  return mends.includes(to) || mends.includes(from) || (from === "check-query" && to === "query")
    ? "mend"
    : "usual";
};
