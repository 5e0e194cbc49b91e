/**
 * Synthesis with a language model: works on several slots of the file at once and yields their
 * attempts in the order of the file. Continues after attempts that were made before.
 */
import { PolicyFault } from "../../policy/policy.ts";
import { attemptTask, type AttemptResult } from "./attemptTask.ts";
import type { TaskSlot } from "./composition.ts";
import { DuplicateFilter } from "./filter.ts";
import { attemptsPerServer, planSynthesisSlots, selectServers } from "./synthesize.ts";
import type { SynthesisOptions } from "./synthesisOptions.ts";
import { Synthesizer } from "./synthesizer.ts";

export interface ConcurrentOptions {
  /** Slots worked on at once. */
  readonly concurrency: number;
  /** Attempts that were made before, in their order. They come first, unchanged. */
  readonly earlierAttempts: readonly AttemptResult[];
}

/** The most attempts in a row that may end in a fault of the model before the fault is thrown. */
const maxFaults = 5;

/**
 * Yields attempts until there are as many tasks as wanted. Throws a `PolicyFault` if the model no
 * longer answers.
 */
export async function* synthesizeConcurrently(
  options: SynthesisOptions,
  { concurrency, earlierAttempts }: ConcurrentOptions,
): AsyncGenerator<AttemptResult> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const ownOptions = { ...options, servers: selectServers(options), signal };
  const context = {
    options: ownOptions,
    synthesizer: new Synthesizer(ownOptions),
    duplicates: new DuplicateFilter(),
  };
  const slots = planSynthesisSlots(ownOptions);
  let slot = slots.next();
  for (const attempt of earlierAttempts) {
    yield attempt;
    if (attempt.kind === "rejected") continue;
    context.duplicates.addIfNew(attempt.task);
    context.synthesizer.recordAccepted(attempt.task);
    if (!slot.done) slot = slots.next(attempt.task.servers[0]!.name);
  }
  let n = Math.max(-1, ...earlierAttempts.map(getNumber)) + 1;
  let faults = 0;

  /** The attempts for one slot. The last one is accepted unless the servers have no such task. */
  async function fillSlot({ kind, servers }: TaskSlot): Promise<AttemptResult[]> {
    const attempts: AttemptResult[] = [];
    for (let i = 0; i < servers.length * attemptsPerServer; i++) {
      signal.throwIfAborted();
      const target = { n: n++, home: servers[Math.floor(i / attemptsPerServer)]!, kind };
      const attempt = await attemptTask(target, context).catch((error: unknown) => {
        if (!(error instanceof PolicyFault) || ++faults >= maxFaults) throw error;
        return undefined;
      });
      if (!attempt) continue;
      faults = 0;
      attempts.push(attempt);
      if (attempt.kind === "accepted") break;
    }
    return attempts;
  }

  const running: Promise<AttemptResult[]>[] = [];
  try {
    for (;;) {
      while (running.length < concurrency && !slot.done) {
        const filling = fillSlot(slot.value);
        // it is awaited in its turn; until then its rejection counts as handled
        filling.catch(() => {});
        running.push(filling);
        slot = slots.next(slot.value.servers[0]!);
      }
      const next = running.shift();
      if (!next) return;
      const attempts = await next;
      yield* attempts;
      if (attempts.at(-1)?.kind !== "accepted") return;
    }
  } finally {
    stop.abort(new Error("the synthesis has ended"));
    await Promise.allSettled(running);
  }
}

/** An attempt's number, with which its id ends. */
function getNumber(attempt: AttemptResult): number {
  const { id } = attempt.kind === "accepted" ? attempt.task : attempt.rejected;
  return Number(/-(\d+)$/.exec(id)?.[1] ?? -1);
}
