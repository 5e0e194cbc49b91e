/**
 * The synthesis pipeline: slots of the file, attempts for each slot, accepted tasks and rejected
 * attempts. The same seed gives the same bytes.
 */
import { UserError } from "../../userError.ts";
import type { Task } from "../../trajectory/task.ts";
import { attemptTask, createAttemptContext, type AttemptResult } from "./attemptTask.ts";
import { computeComposition, planSlots } from "./composition.ts";
import { presets } from "./presets.ts";
import { heldOutServers, isHeldOut } from "./split.ts";
import type { SynthesisOptions } from "./synthesisOptions.ts";

/** Attempts for one slot on one server; after that the server has no more tasks of that kind. */
export const attemptsPerServer = 60;

/** Yields attempts until there are as many tasks as wanted, or until no server has more. */
export async function* synthesize(options: SynthesisOptions): AsyncGenerator<AttemptResult> {
  const servers = selectServers(options);
  const ownOptions = { ...options, servers };
  const context = createAttemptContext(ownOptions);
  const slots = planSynthesisSlots(ownOptions);
  const waiting: Task[] = [];
  let normalLeft = countNormalTasks(ownOptions);
  let n = 0;
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
    for (let i = 0; i < order.length * attemptsPerServer && usedServer === undefined; i++) {
      options.signal?.throwIfAborted();
      const home = order[Math.floor(i / attemptsPerServer)]!;
      const result = await attemptTask({ n: n++, home, kind, mayBePaired }, context);
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

/** How many normal tasks the synthesis makes; infinite without a count. */
const countNormalTasks = ({ preset = "paper", count = Infinity }: SynthesisOptions): number =>
  Number.isFinite(count) ? computeComposition(presets[preset].mixture, count).normal : Infinity;

/** The servers that have tasks of the split. Throws a `UserError` if none of them has any. */
export function selectServers({
  servers,
  split,
  preset = "paper",
}: SynthesisOptions): readonly string[] {
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
export function planSynthesisSlots({
  preset = "paper",
  count = Infinity,
  split,
  servers,
}: SynthesisOptions): ReturnType<typeof planSlots> {
  const { mixture } = presets[preset];
  // a task that calls nothing uses no tools or edges
  const isByTools = split === "heldout-chain" || split === "heldout-edge";
  const ownMixture = isByTools ? { ...mixture, abstain: 0, irrelevant: 0 } : mixture;
  return planSlots(ownMixture, count, servers);
}
