/** Records the calls of teachers in newly synthesized tasks, for benchmarks to repeat. */
import { setImmediate } from "node:timers/promises";
import type { SessionPins } from "../environment/catalog.ts";
import { synthesize } from "../synthesis/pipeline/run/synthesize.ts";
import type { CliContext } from "./command.ts";

/** The calls of one trajectory, and what its session was opened on. */
export interface RecordedCalls {
  readonly pins: SessionPins;
  readonly calls: readonly (readonly [name: string, args: unknown])[];
}

type RecordingOptions = Pick<
  Parameters<typeof synthesize>[0],
  "servers" | "menu" | "preset" | "variantsPerFixture"
>;

/** Records this many trajectories that have calls. */
export async function recordCalls(
  { catalog, resources, signal, showProgress }: CliContext,
  count: number,
  options: RecordingOptions,
): Promise<readonly RecordedCalls[]> {
  const recorded: RecordedCalls[] = [];
  for await (const it of synthesize({ catalog, resources, seed: 1, ...options })) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    showProgress(`recording calls: ${recorded.length} of ${count} trajectories`);
    if (it.kind === "rejected") continue;
    const { servers, seed, menu, trajectory } = it.task;
    const calls = trajectory.events.flatMap(event =>
      event.kind === "call" ? [[event.name, event.arguments] as const] : [],
    );
    if (calls.length > 0)
      recorded.push({ pins: { servers, seed, menu: menu.map(item => item.name) }, calls });
    if (recorded.length === count) break;
  }
  return recorded;
}
