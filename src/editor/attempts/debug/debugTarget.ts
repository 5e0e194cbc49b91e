/**
 * The attempt that a debug session steps through, and the variables of its watches, hovers and
 * breakpoint conditions at a position.
 */
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { State } from "../../../environment/state.ts";
import { type Breakdown, formatCallEvidence } from "../../../reward/breakdown.ts";
import { countPrefix } from "../../../reward/prefixReward.ts";
import type { CursorPosition, TrajectoryCursor } from "../../../trajectory/cursor.ts";
import type { Task } from "../../../trajectory/task.ts";
import { formatCallLine } from "../../../trajectory/trajectory.ts";
import type { Transcript } from "../../../trajectory/transcript.ts";
import { type AttemptReward, getRewardStep, scoreShownPrefix } from "../attemptReward.ts";
import type { Variables } from "./expression.ts";

export interface DebugTarget {
  /** The address of the transcript. */
  readonly source: string;
  readonly title: string;
  readonly cursor: TrajectoryCursor;
  readonly transcript: Transcript;
  readonly task?: Task;
  /** Replaced when the attempt is scored again, such as under another profile. */
  reward: AttemptReward;
}

/** The number of calls before the event of a position. */
export const countCallsBefore = (
  { trajectory }: TrajectoryCursor,
  { index = 0 }: CursorPosition,
): number => trajectory.events.slice(0, index).filter(it => it.kind === "call").length;

/**
 * The state of each server, the position, the reward so far, and for a call its fields and its
 * evidence. The reward is computed when it is read, because a condition may not need it.
 */
export function createVariables(target: DebugTarget, position: CursorPosition): Variables {
  const { reward, cursor } = target;
  let breakdown: Breakdown | undefined;
  const getBreakdown = () => {
    const prefix = countPrefix(cursor.trajectory.events, position.position);
    return (breakdown ??= "breakdowns" in reward ? scoreShownPrefix(reward, prefix)[0] : undefined);
  };
  const states = Object.values(position.state) as unknown as readonly JsonObject[];
  return {
    // as the rows of the only server are listed, without its name
    ...(states.length === 1 ? { ...(states[0]!["world"] as JsonObject), ...states[0] } : {}),
    ...(position.state as unknown as JsonObject),
    ...createCallVariables(position),
    get evidence() {
      return createEvidenceVariable(target, position, getBreakdown());
    },
    get reward() {
      return createRewardVariable(target, position, getBreakdown());
    },
    position: position.position,
  };
}

/** The total, what the last event changed, and the score of each part by its name. */
function createRewardVariable(
  { reward, cursor }: DebugTarget,
  { position }: CursorPosition,
  breakdown: Breakdown | undefined,
): JsonObject | undefined {
  if (!breakdown) return undefined;
  const { parts, extras, total } = breakdown;
  const step = getRewardStep(reward, cursor.trajectory.events, position);
  const scores = Object.entries({ ...parts, ...extras }).map(([name, it]) => [name, it.score]);
  return { total, change: step?.change ?? 0, ...Object.fromEntries(scores) };
}

function createCallVariables({ event }: CursorPosition): Variables {
  if (event?.kind !== "call") return {};
  const { name, arguments: args, outcome, value = null, error = null } = formatCallLine(event);
  return {
    call: { name, arguments: args, outcome, value, error },
    arguments: args,
    outcome,
    value,
  };
}

function createEvidenceVariable(
  { cursor }: DebugTarget,
  position: CursorPosition,
  breakdown: Breakdown | undefined,
): Json | undefined {
  if (position.event?.kind !== "call") return undefined;
  const evidence = breakdown?.calls[countCallsBefore(cursor, position)];
  return evidence && (JSON.parse(JSON.stringify(formatCallEvidence(evidence))) as Json);
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

/** The full names that a name can stand for in a session on these servers. */
export function listFullNames(
  name: string,
  servers: readonly { readonly name: string }[],
): readonly string[] {
  const own = name.trim().replace(".", "_");
  return [own, ...servers.map(it => `${it.name}_${own}`)];
}
