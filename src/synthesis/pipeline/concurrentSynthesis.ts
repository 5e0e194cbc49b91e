/**
 * Synthesizes tasks with a language model: fills several slots of the file at once and yields their
 * attempts in the order of the file. Continues after earlier attempts.
 */
import { PolicyFault } from "../../policy/policy.ts";
import {
  attemptTask,
  createAttemptContext,
  type AttemptContext,
  type AttemptResult,
} from "./attemptTask.ts";
import type { TaskSlot } from "./composition.ts";
import { attemptsPerServer, planSynthesisSlots, selectServers } from "./synthesize.ts";
import type { SynthesisOptions } from "./synthesisOptions.ts";

export interface ConcurrentOptions {
  /** The number of slots that are filled at once. */
  readonly concurrency: number;
  /** Attempts of an earlier run, in order. They are yielded first, unchanged. */
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
  const context = createAttemptContext(ownOptions);
  const slots = planSynthesisSlots(ownOptions);
  let slot = slots.next();
  for (const attempt of earlierAttempts) {
    yield attempt;
    if (attempt.kind === "rejected") continue;
    context.duplicates.addIfNew(attempt.task);
    context.synthesizer.recordAccepted(attempt.task);
    if (!slot.done) slot = slots.next(attempt.task.servers[0]!.name);
  }
  const filler = new SlotFiller(context, signal, getNextNumber(earlierAttempts));
  const running: Promise<AttemptResult[]>[] = [];
  try {
    for (;;) {
      while (running.length < concurrency && !slot.done) {
        const filling = filler.fill(slot.value);
        // it is awaited later; until then, this keeps its rejection from being reported as
        // unhandled
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

/** Makes the attempts for slots. Attempt numbers and faults are counted over all slots together. */
class SlotFiller {
  readonly #context: AttemptContext;
  readonly #signal: AbortSignal;
  #nextNumber: number;
  #faultsInRow = 0;

  constructor(context: AttemptContext, signal: AbortSignal, firstNumber: number) {
    this.#context = context;
    this.#signal = signal;
    this.#nextNumber = firstNumber;
  }

  /** Makes the attempts for a slot. The last is accepted, unless no server has such a task. */
  async fill({ kind, servers }: TaskSlot): Promise<AttemptResult[]> {
    const attempts: AttemptResult[] = [];
    for (let i = 0; i < servers.length * attemptsPerServer; i++) {
      this.#signal.throwIfAborted();
      const home = servers[Math.floor(i / attemptsPerServer)]!;
      const attempt = await attemptTask({ n: this.#nextNumber++, home, kind }, this.#context).catch(
        (error: unknown) => {
          if (!(error instanceof PolicyFault) || ++this.#faultsInRow >= maxFaults) throw error;
          return undefined;
        },
      );
      if (!attempt) continue;
      this.#faultsInRow = 0;
      attempts.push(attempt);
      if (attempt.kind === "accepted") break;
    }
    return attempts;
  }
}

const getNextNumber = (attempts: readonly AttemptResult[]): number =>
  Math.max(-1, ...attempts.map(getNumber)) + 1;

/** The number of an attempt, which is the end of its id. */
function getNumber(attempt: AttemptResult): number {
  const { id } = attempt.kind === "accepted" ? attempt.task : attempt.rejected;
  return Number(/-(\d+)$/.exec(id)?.[1] ?? -1);
}
