/** Groups transitions into the edges of the state machine, with their shares. Pure functions. */
import type { TransitionCount } from "../../src/protocol/synthesisPage.ts";

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly n: number;
  /** The most frequent first. */
  readonly events: readonly { readonly event: string; readonly n: number }[];
  /** Share of all transitions that leave the state `from`, from 0 to 1. */
  readonly share: number;
  /** Count relative to the most frequent edge, from 0 to 1. */
  readonly weight: number;
}

export function groupTransitions(transitions: readonly TransitionCount[]): readonly Edge[] {
  const groups = new Map<string, TransitionCount[]>();
  for (const it of transitions)
    groups.set(`${it.from}>${it.to}`, [...(groups.get(`${it.from}>${it.to}`) ?? []), it]);
  const sums = [...groups.values()].map(all => ({
    from: all[0]!.from,
    to: all[0]!.to,
    n: sum(all),
    events: all.map(({ event, n }) => ({ event, n })).toSorted((a, b) => b.n - a.n),
  }));
  const max = Math.max(1, ...sums.map(it => it.n));
  return sums.map(it => ({
    ...it,
    share: it.n / countLeaving(sums, it.from),
    weight: it.n / max,
  }));
}

/** How often a state was entered; for the first state, how often it was left. */
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

/** Whether an edge is a rejection, a repair of something that went wrong, or the normal path. */
export const classifyEdge = ({
  from,
  to,
}: Pick<Edge, "from" | "to">): "reject" | "repair" | "normal" => {
  if (to === "reject") return "reject";
  const repairs = ["regenerate", "recover", "partial", "failure"];
  return repairs.includes(to) ||
    repairs.includes(from) ||
    (from === "check-query" && to === "query")
    ? "repair"
    : "normal";
};
