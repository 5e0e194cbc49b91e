/** Describes the entity of an id as the state has it where the id occurs. */
import { countPrefix, describePrefix } from "../../../reward/prefixReward.ts";
import { TrajectoryCursor } from "../../../trajectory/cursor.ts";
import { findEntityPath, getEntity } from "../../../trajectory/worldEntities.ts";
import { UserError } from "../../../userError.ts";
import {
  findIdSource,
  getServer,
  type IdOccurrence,
  type ShownAttempt,
  type TranscriptIds,
} from "./transcriptIds.ts";

export interface IdDescription {
  /** Such as `banking.accounts.acc_101, after call 2 of 3`. */
  readonly title: string;
  /** The entity as JSON. */
  readonly code?: string;
}

/**
 * The entity as a call with the id in its arguments finds it; elsewhere as it is after the event,
 * or at the end.
 */
export function describeEntityAt(ids: TranscriptIds, occurrence: IdOccurrence): IdDescription {
  const { id, event, place } = occurrence;
  const { trajectory } = ids.attempt;
  const position =
    event === undefined ? trajectory.events.length : place === "argument" ? event : event + 1;
  const when = describePrefix(trajectory, countPrefix(trajectory.events, position));
  const isMadeUp = place === "argument" && !findIdSource(ids, occurrence);
  const note = isMadeUp ? "\nNeither the user nor a result has shown this id before." : "";
  const entity = findEntity(ids, occurrence, position);
  if (!entity) return { title: `${id}: not in the state, ${when}${note}` };
  return { title: `${entity.name}, ${when}${note}`, code: limitLines(entity.text) };
}

function findEntity(
  ids: TranscriptIds,
  occurrence: IdOccurrence,
  position: number,
): { readonly name: string; readonly text: string } | undefined {
  const state = getCursor(ids.attempt)?.at(position).state;
  if (!state) return undefined;
  const first = getServer(ids, occurrence);
  const servers = Object.keys(state).toSorted((a, b) => Number(b === first) - Number(a === first));
  for (const server of servers) {
    const { world } = state[server]!;
    const path = findEntityPath(world, occurrence.id, ids.kinds.get(occurrence.id));
    if (path)
      return {
        name: [server, ...path].join("."),
        text: JSON.stringify(getEntity(world, path), null, 2),
      };
  }
  return undefined;
}

const cursors = new WeakMap<ShownAttempt, TrajectoryCursor>();

/** The cursor of an attempt, which keeps the states; undefined if it cannot be replayed. */
function getCursor(attempt: ShownAttempt): TrajectoryCursor | undefined {
  try {
    const cursor =
      cursors.get(attempt) ?? new TrajectoryCursor(attempt.catalog, attempt.trajectory);
    cursors.set(attempt, cursor);
    return cursor;
  } catch (error) {
    // a fixture is missing: the transcript says so where its reward would be
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const maxLines = 40;

function limitLines(text: string): string {
  const lines = text.split("\n");
  return lines.length <= maxLines
    ? text
    : [...lines.slice(0, maxLines), `… ${lines.length - maxLines} more lines`].join("\n");
}
