/** Creates the variables of watches, hovers and breakpoint conditions at a position. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { State } from "../../environment/state.ts";
import { formatCallEvidence } from "../../reward/breakdown.ts";
import type { CursorPosition } from "../../trajectory/cursor.ts";
import { formatCallLine } from "../../trajectory/trajectoryLine.ts";
import { countCallsBefore, type DebugTarget } from "./debugTarget.ts";
import type { Variables } from "./expression.ts";

/** The state of each server, the position, and for a call its fields and its evidence. */
export function createVariables(target: DebugTarget, position: CursorPosition): Variables {
  return {
    ...(position.state as unknown as JsonObject),
    ...createCallVariables(target, position),
    position: position.position,
  };
}

function createCallVariables({ reward, cursor }: DebugTarget, position: CursorPosition): Variables {
  const { event } = position;
  if (event?.kind !== "call") return {};
  const { name, arguments: args, outcome, value = null, error = null } = formatCallLine(event);
  const evidence =
    "breakdowns" in reward
      ? reward.breakdowns[0]?.calls[countCallsBefore(cursor, position)]
      : undefined;
  return {
    call: { name, arguments: args, outcome, value, error },
    arguments: args,
    outcome,
    value,
    ...(evidence
      ? { evidence: JSON.parse(JSON.stringify(formatCallEvidence(evidence))) as Json }
      : {}),
  };
}

/** Finds an entity by its id in any server, such as the id under the pointer in the transcript. */
export function findEntity(
  state: State,
  id: string,
): { readonly path: string; readonly value: Json } | undefined {
  for (const [server, { world }] of Object.entries(state))
    for (const [name, collection] of Object.entries(world))
      if (collection !== null && typeof collection === "object" && Object.hasOwn(collection, id))
        return { path: `${server}.world.${name}.${id}`, value: (collection as JsonObject)[id]! };
  return undefined;
}
