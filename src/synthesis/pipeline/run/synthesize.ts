/**
 * The synthesis pipeline: attempts for each slot of the file, accepted tasks and rejected attempts.
 * The same seed gives the same bytes. Many servers are divided into shards, which know nothing of
 * each other, so that they can run at the same time.
 */
import { UserError } from "../../../userError.ts";
import type { Task } from "../../../trajectory/task.ts";
import {
  attemptTask,
  createAttemptContext,
  type AttemptResult,
  type AttemptContext,
} from "../task/attemptTask.ts";
import {
  computeComposition,
  countTasks,
  divideComposition,
  endless,
  planSlots,
  type Composition,
  type Mixture,
  presets,
  type SynthesisOptions,
  type TaskSlot,
} from "../synthesisOptions.ts";
import { heldOutServers, isHeldOut } from "../split.ts";
import { PolicyFault } from "../../../policy/policy.ts";
import { tokensReason } from "../report/report.ts";

/**
 * Attempts for one slot on one server; after that the server has no more tasks of that kind. Ten
 * tasks that take too many tokens count as one attempt.
 */
const attemptsPerServer = 60;

const countAttempt = (attempt: AttemptResult): number =>
  attempt.kind === "rejected" && attempt.rejected.reason === tokensReason ? 0.1 : 1;

/** Where there are more servers than this, they are divided into two shards. */
const maxServersOfShard = 10;

/** Starts the shard with this index; its attempts do not depend on where it runs. */
export type StartShard = (index: number) => AsyncIterable<AttemptResult>;

/**
 * Yields attempts until there are as many tasks as wanted, or until no server of a shard has more.
 * The tasks of the shards alternate. All shards but the first are started by `startShard`; without
 * it, they run here.
 */
export async function* synthesize(
  options: SynthesisOptions,
  startShard: StartShard = index => synthesizeShard(options, index),
): AsyncGenerator<AttemptResult> {
  const lengths = planShards(options).map(it => countTasks(it.composition));
  const shards = lengths.map((length, i) => {
    const attempts = i === 0 ? synthesizeShard(options, 0) : startShard(i);
    return { length, attempts: attempts[Symbol.asyncIterator]() };
  });
  try {
    for (let i = 0; shards.some(it => i < it.length); i++)
      for (const { length, attempts } of shards)
        if (i < length && !(yield* takeTask(attempts))) return;
  } finally {
    for (const { attempts } of shards) await attempts.return?.();
  }
}

/** Yields the attempts up to the next task. Returns whether there was one. */
async function* takeTask(
  attempts: AsyncIterator<AttemptResult>,
): AsyncGenerator<AttemptResult, boolean> {
  for (;;) {
    const { done, value } = await attempts.next();
    if (done) return false;
    yield value;
    if (value.kind === "accepted") return true;
  }
}

/** Yields the attempts of one shard. */
export async function* synthesizeShard(
  options: SynthesisOptions,
  index: number,
): AsyncGenerator<AttemptResult> {
  const shards = planShards(options);
  const { servers, composition } = shards[index]!;
  const context = createAttemptContext({
    ...options,
    servers: selectServers(options),
    homes: servers,
  });
  const slots = planSlots(getMixture(options), composition, servers);
  const waiting: Task[] = [];
  let normalLeft = composition.normal;
  let n = index;
  for (let slot = slots.next(); !slot.done;) {
    const { kind, servers: order } = slot.value;
    const partner = kind === "normal" ? waiting.shift() : undefined;
    if (kind === "normal") normalLeft--;
    if (partner) {
      yield { kind: "accepted", task: partner };
      slot = slots.next(partner.servers[0]!.name);
      continue;
    }
    // every pair needs a slot for its normal task
    const mayBePaired = kind === "abstain" && normalLeft > waiting.length;
    let usedServer: string | undefined;
    for (let made = 0; made < order.length * attemptsPerServer && usedServer === undefined;) {
      options.signal?.throwIfAborted();
      const home = order[Math.floor(made / attemptsPerServer)]!;
      const result = await attemptTask({ n, home, kind, mayBePaired }, context);
      n += shards.length;
      made += countAttempt(result);
      if (result.kind === "accepted") {
        usedServer = result.task.servers[0]!.name;
        if (result.partner) waiting.push(result.partner);
      }
      yield result;
    }
    if (usedServer === undefined) return;
    slot = slots.next(usedServer);
  }
}

/** The servers on which a shard makes tasks, and how many of each kind. */
interface Shard {
  readonly servers: readonly string[];
  readonly composition: Composition;
}

/** The shards of a synthesis. They depend on its options alone, not on the machine. */
function planShards(options: SynthesisOptions): Shard[] {
  const servers = selectServers(options);
  const count = servers.length > maxServersOfShard ? 2 : 1;
  const compositions = divideComposition(planComposition(options), count);
  return compositions.map((composition, shard) => ({
    servers: servers.filter((_, i) => i % count === shard),
    composition,
  }));
}

/** The servers that have tasks of the split. Throws a `UserError` if none of them has any. */
function selectServers({ servers, split, preset = "paper" }: SynthesisOptions): readonly string[] {
  if (split === undefined) return servers;
  if (presets[preset].holdsOutSets && (split === "heldout-edge" || split === "heldout-world"))
    throw new UserError(
      `the preset ${preset} has no tasks of the split ${split}`,
      "choose heldout-chain or heldout-server, or use the preset paper",
    );
  const selected = servers.filter(it => isHeldOut(it) === (split === "heldout-server"));
  if (selected.length > 0) return selected;
  throw new UserError(
    `none of ${servers.join(", ")} has tasks of the split ${split}`,
    split === "heldout-server"
      ? `choose some of ${heldOutServers.join(", ")}`
      : "choose other servers, or omit --split",
  );
}

/** The slots of the file, by the preset's mixture. */
const planSynthesisSlots = (options: SynthesisOptions): ReturnType<typeof planSlots> =>
  planSlots(getMixture(options), planComposition(options), options.servers);

function planComposition(options: SynthesisOptions): Composition {
  const { count = Infinity } = options;
  return Number.isFinite(count) ? computeComposition(getMixture(options), count) : endless;
}

function getMixture({ preset = "paper", split }: SynthesisOptions): Mixture {
  const { mixture } = presets[preset];
  // a task that calls nothing uses no tools or edges
  const isByTools = split === "heldout-chain" || split === "heldout-edge";
  return isByTools ? { ...mixture, abstain: 0, irrelevant: 0 } : mixture;
}

// Synthesizes tasks with a language model: fills several slots of the file at once and yields their
// attempts in the order of the file. Continues after earlier attempts.

interface ConcurrentOptions {
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
    for (let made = 0; made < servers.length * attemptsPerServer;) {
      this.#signal.throwIfAborted();
      const home = servers[Math.floor(made / attemptsPerServer)]!;
      const attempt = await attemptTask({ n: this.#nextNumber++, home, kind }, this.#context).catch(
        (error: unknown) => {
          if (!(error instanceof PolicyFault) || ++this.#faultsInRow >= maxFaults) throw error;
          return undefined;
        },
      );
      made += attempt ? countAttempt(attempt) : 1;
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
