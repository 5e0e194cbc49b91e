/**
 * Which call of an attempt serves which goal call, decided once and read by every part. Knows
 * names, arguments and order, not weights; where names are opaque and there is no server it works
 * alike.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { OutcomeKind } from "../environment/outcome.ts";
import type { JsonSchema } from "../environment/server.ts";
import type { Goal } from "../trajectory/task.ts";
import { compareArguments, computeEqualShare } from "./argument.ts";
import type { ArgumentEvidence } from "./breakdown.ts";
import type { AlignedPair } from "./alignedPair.ts";

/** A call that can be scored, which excludes one with the outcome `broken`. */
export interface ScoredCall {
  /** "" where the block could not be parsed. */
  readonly name: string;
  readonly arguments: Json;
  readonly outcome: {
    readonly kind: Exclude<OutcomeKind, "broken">;
    /** Of a call that is not `ok`, where it is known. */
    readonly message?: string;
  };
  /** The index of the message it was in; a message of its own when absent. */
  readonly message?: number | undefined;
}

/** A goal as far as grading reads it. Goals are in topological order: `after` points back. */
export type ScoredGoal = Pick<Goal, "calls" | "after">;

export interface AlignmentOptions {
  readonly strictMessageOrder: boolean;
  readonly coverageRequiresSuccess: boolean;
  /** The arguments' schema of a tool, where it is known: arrays of unique items compare as sets. */
  readonly schemaOf?: (tool: string) => JsonSchema | undefined;
}

export interface Alignment {
  readonly pairs: readonly AlignedPair[];
  /** For each goal the positions that serve its calls, null where none does. */
  readonly positions: readonly (readonly (number | null)[])[];
  /** For each goal the goals before it whose order is broken, or that are not matched. */
  readonly broken: readonly (readonly number[])[];
}

/**
 * Gives each goal call at most one call and each call at most one goal call. Goals are visited in
 * their order; a candidate has the goal call's name and all of its keys. Among free candidates:
 * order kept first, then more equal values, then earlier.
 */
export function alignCalls(
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
  choices: AlignmentOptions,
): Alignment {
  const byName = groupPositionsByName(calls, choices);
  const taken = new Set<number>();
  const pairs: AlignedPair[] = [];
  const positions: (number | null)[][] = [];
  for (const [g, { calls: wanted, after }] of goals.entries()) {
    const earliest = Math.max(-1, ...after.map(it => getBound(positions[it.goal]!)));
    const messages = choices.strictMessageOrder
      ? after
          .filter(it => it.kind === "explicit")
          .map(it => getLastMessage(positions[it.goal]!, calls))
      : [];
    const inOrder = (call: number) =>
      call > earliest && messages.every(it => getMessage(calls, call) > it);
    positions[g] = wanted.map((want, part) => {
      const free = (byName.get(want.name) ?? []).filter(
        it => !taken.has(it) && hasKeys(calls[it]!.arguments, want.arguments),
      );
      const best = chooseCandidate(free, it => {
        const evidence = compareArguments(
          want,
          calls[it]!.arguments,
          choices.schemaOf?.(want.name),
        );
        return { inOrder: inOrder(it), share: computeEqualShare(evidence), evidence };
      });
      if (!best) return null;
      taken.add(best.call);
      pairs.push({ goal: g, part, call: best.call, arguments: best.evidence });
      return best.call;
    });
  }
  return {
    pairs,
    positions,
    broken: goals.map((_, g) => findBrokenEdges(goals, positions, calls, g, choices)),
  };
}

/**
 * μ of equation (1): the last position that serves a goal, undefined unless all of its calls are
 * served.
 */
export function getPosition(served: readonly (number | null)[]): number | undefined {
  return served.includes(null) ? undefined : Math.max(...(served as readonly number[]));
}

interface Candidate {
  readonly inOrder: boolean;
  readonly share: number;
  readonly evidence: readonly ArgumentEvidence[];
}

function chooseCandidate(
  free: readonly number[],
  look: (call: number) => Candidate,
): (Candidate & { call: number }) | undefined {
  let best: (Candidate & { call: number }) | undefined;
  for (const call of free) {
    const it = look(call);
    const better = !best || (it.inOrder === best.inOrder ? it.share > best.share : it.inOrder);
    if (better) best = { ...it, call };
  }
  return best;
}

function findBrokenEdges(
  goals: readonly ScoredGoal[],
  positions: readonly (readonly (number | null)[])[],
  calls: readonly ScoredCall[],
  g: number,
  choices: AlignmentOptions,
): readonly number[] {
  const here = getPosition(positions[g]!);
  if (here === undefined) return [];
  return goals[g]!.after.filter(({ goal: j, kind }) => {
    if (getBound(positions[j]!) >= here) return true;
    return (
      choices.strictMessageOrder &&
      kind === "explicit" &&
      getLastMessage(positions[j]!, calls) >= getMessage(calls, here)
    );
  }).map(it => it.goal);
}

function groupPositionsByName(
  calls: readonly ScoredCall[],
  choices: AlignmentOptions,
): ReadonlyMap<string, readonly number[]> {
  const byName = new Map<string, number[]>();
  for (const [position, call] of calls.entries()) {
    if (!canServe(call, choices)) continue;
    const known = byName.get(call.name);
    if (known) known.push(position);
    else byName.set(call.name, [position]);
  }
  return byName;
}

const canServe = (call: ScoredCall, { coverageRequiresSuccess }: AlignmentOptions) =>
  call.name !== "" && (!coverageRequiresSuccess || call.outcome.kind === "ok");

const hasKeys = (args: Json, wanted: object) =>
  isJsonObject(args) && Object.keys(wanted).every(it => Object.hasOwn(args, it));

/**
 * The position after which a successor is in order; nothing is after a goal that is not matched.
 */
const getBound = (served: readonly (number | null)[]) => getPosition(served) ?? Infinity;

const getMessage = (calls: readonly ScoredCall[], call: number) => calls[call]!.message ?? call;

const getLastMessage = (served: readonly (number | null)[], calls: readonly ScoredCall[]) =>
  served.includes(null) ? Infinity : Math.max(...served.map(it => getMessage(calls, it!)));
