/** Attempts whose records do not say what the servers return. */
import { isJsonObject } from "../../src/environment/json.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";

/** Every text argument replaced by nonsense, and every result kept. */
export const forgeArguments = <T extends Trajectory>(trajectory: T): T => ({
  ...trajectory,
  events: trajectory.events.map(it =>
    it.kind === "call" && isJsonObject(it.arguments)
      ? {
          ...it,
          arguments: Object.fromEntries(
            Object.entries(it.arguments).map(([key, value]) => [
              key,
              typeof value === "string" ? "nonsense" : value,
            ]),
          ),
        }
      : it,
  ),
});
