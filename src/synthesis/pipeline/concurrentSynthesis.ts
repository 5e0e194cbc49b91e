/**
 * Synthesis by a cast that takes its time: several places of the file are worked on at once, and
 * what comes of them is told in the order of the file. Goes on after tasks that are there already.
 * Knows neither models nor files.
 */
import { PolicyFault } from "../../policy/policy.ts";
import type { TaskSlot } from "./composition.ts";
import { DuplicateFilter } from "./filter.ts";
import { Synthesizer, type SynthesisOptions } from "./synthesizer.ts";
import {
  attemptTask,
  attemptsPerServer,
  selectServers,
  planSynthesisSlots,
  type AttemptResult,
} from "./synthesize.ts";

export interface ConcurrentOptions {
  /** Places worked on at once. */
  readonly concurrency: number;
  /** Attempts that were made before, in their order: they come first, as they are. */
  readonly earlierAttempts: readonly AttemptResult[];
}

/** Attempts in a row that a fault of the model's cut off, after which the fault goes up. */
const mostFaults = 5;

/**
 * A stream of attempts that ends when there are as many tasks as wanted. Throws a `PolicyFault`
 * where the model no longer answers.
 */
export async function* synthesizeConcurrently(
  synthesis: SynthesisOptions,
  { concurrency, earlierAttempts }: ConcurrentOptions,
): AsyncGenerator<AttemptResult> {
  const servers = selectServers(synthesis);
  const stop = new AbortController();
  const signal = synthesis.signal ? AbortSignal.any([synthesis.signal, stop.signal]) : stop.signal;
  const work = { ...synthesis, servers, signal };
  const [studio, kept] = [new Synthesizer(work), new DuplicateFilter()];
  const slots = planSynthesisSlots(work);
  let slot = slots.next();
  for (const attempted of earlierAttempts) {
    yield attempted;
    if (attempted.kind === "rejected") continue;
    kept.addIfNew(attempted.task);
    studio.recordAccepted(attempted.task);
    if (!slot.done) slot = slots.next(attempted.task.servers[0]!.name);
  }
  let [n, faults] = [Math.max(-1, ...earlierAttempts.map(numberOf)) + 1, 0];

  /** All that is tried for one place, the last one accepted unless nothing came of it. */
  async function filled({ kind, servers: order }: TaskSlot): Promise<AttemptResult[]> {
    const all: AttemptResult[] = [];
    for (let i = 0; i < order.length * attemptsPerServer; i++) {
      signal.throwIfAborted();
      const aim = { n: n++, home: order[Math.floor(i / attemptsPerServer)]!, kind };
      const attempted = await attemptTask(aim, work, studio, kept).catch((error: unknown) => {
        if (!(error instanceof PolicyFault) || ++faults >= mostFaults) throw error;
        return undefined;
      });
      if (!attempted) continue;
      faults = 0;
      all.push(attempted);
      if (attempted.kind === "accepted") break;
    }
    return all;
  }

  const lanes: Promise<AttemptResult[]>[] = [];
  try {
    for (;;) {
      while (lanes.length < concurrency && !slot.done) {
        const lane = filled(slot.value);
        // it is waited for in its turn; until then nobody minds
        lane.catch(() => {});
        lanes.push(lane);
        slot = slots.next(slot.value.servers[0]!);
      }
      const lane = lanes.shift();
      if (!lane) return;
      const attempts = await lane;
      yield* attempts;
      if (attempts.at(-1)?.kind !== "accepted") return;
    }
  } finally {
    stop.abort(new Error("nobody waits for it"));
    await Promise.allSettled(lanes);
  }
}

/** An attempt's number, with which its id ends. */
const numberOf = (attempted: AttemptResult): number =>
  Number(
    /-(\d+)$/.exec(
      attempted.kind === "accepted" ? attempted.task.id : attempted.rejected.id,
    )?.[1] ?? -1,
  );
