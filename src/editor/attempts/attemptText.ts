/** The transcript of an attempt with its reward, as the editor shows it. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { State } from "../../environment/state.ts";
import { describeCall } from "../../reward/breakdownText.ts";
import type { Task } from "../../trajectory/task.ts";
import { formatTranscript, type Transcript } from "../../trajectory/transcript.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { formatInline, formatPatchPath } from "../shared/jsonValues.ts";
import { truncateText } from "../shared/text.ts";
import { formatRewardLines, type AttemptReward } from "./attemptReward.ts";

/**
 * Formats an attempt with a note on the reward at each call, and at the end the totals and what the
 * attempt changed in the state.
 */
export function formatAttempt(
  trajectory: Trajectory,
  task: Task | undefined,
  reward: AttemptReward,
): Transcript {
  const breakdown = "breakdowns" in reward ? reward.breakdowns[0] : undefined;
  return formatTranscript(trajectory, {
    ...(task ? { task } : {}),
    ...(breakdown ? { describeCall: call => describeCall(breakdown, call) } : {}),
    closing: [
      ...formatRewardLines(reward),
      ...("attempt" in reward ? formatStateChanges(reward.attempt.states) : []),
    ],
  });
}

/** Changes that are listed; an attempt makes few. */
const maxChanges = 30;

/** How the state at the end differs from that at the start, a line for each value. */
function formatStateChanges({ start, final }: { start: State; final: State }): readonly string[] {
  const changes = Object.entries(final).flatMap(([server, { world }]) =>
    listChanges(start[server]?.world, world, `/${server}/world`),
  );
  if (changes.length === 0) return ["state at the end: as at the start"];
  const rest = changes.length - maxChanges;
  return [
    "state at the end, where it differs from the start",
    ...changes.slice(0, maxChanges).map(it => `    Δ ${it}`),
    ...(rest > 0 ? [`    … ${rest} more changes`] : []),
  ];
}

/** States share what is equal, so that only what was written is compared. */
function listChanges(before: Json | undefined, after: Json | undefined, path: string): string[] {
  if (before === after) return [];
  if (isJsonObject(before) && isJsonObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap(key =>
      listChanges(getOwn(before, key), getOwn(after, key), `${path}/${key}`),
    );
  const from = before === undefined ? "(added)" : `${formatShort(before)} →`;
  const to = after === undefined ? "(removed)" : formatShort(after);
  return [`${formatPatchPath(path)}: ${from} ${to}`];
}

const getOwn = (value: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined;

const formatShort = (value: Json): string => truncateText(formatInline(value), 100);
