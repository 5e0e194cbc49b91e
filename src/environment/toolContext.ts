/**
 * What a call receives besides its arguments: the session's time, ids and random numbers. All of
 * them follow from the session's seed and from how often its generator has been drawn from.
 */
import { randomAt } from "./random.ts";
import type { ToolContext } from "./server.ts";
import type { ServerState } from "./state.ts";
import { addMinutes } from "./time.ts";

/** The context of a read, which may draw neither ids nor random numbers. */
export const createReadContext = (clock: string): ToolContext => ({
  now: clock,
  newId: throwInRead,
  random: throwInRead,
});

const throwInRead = (): never => {
  throw new Error("a read tool must not draw ids or random numbers");
};

/** The context of a write, which counts its draws. */
export function createWriteContext(
  { clock, draws }: ServerState,
  key: number,
): ToolContext & { draws: number } {
  const context = {
    now: clock,
    draws,
    random: () => randomAt(key, context.draws++),
    // an affine walk over four-digit numbers: no id is drawn twice, and none is below 1000, where
    // the ids of fixtures are
    newId: (prefix: string) => {
      const n = context.draws++;
      return `${prefix}_${n < 9000 ? 1000 + ((n * 7919 + (key % 9000)) % 9000) : 10_000 + n}`;
    },
  };
  return context;
}

/** One minute later. Within the hour this is done on the text, which is faster. */
export function advanceClock(clock: string): string {
  const minute = Number(clock.slice(14)) + 1;
  return minute < 60
    ? `${clock.slice(0, 14)}${minute < 10 ? "0" : ""}${minute}`
    : addMinutes(clock, 1);
}
