/** Repeats an attempt in a world that has been edited, and compares result and reward. */
import type { Catalog } from "../../environment/catalog.ts";
import { parseFixtureName } from "../../environment/fixture.ts";
import type { Profile } from "../../reward/profiles.ts";
import { rerecord } from "../../trajectory/replay.ts";
import type { RecordedAttempt } from "../../trajectory/attempt.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { computeReward, type AttemptReward } from "../attempts/attemptReward.ts";
import { formatAttempt } from "../attempts/attemptText.ts";
import { formatReward } from "../shared/rewardText.ts";

interface EditedReplay {
  /** How many results differ, and the reward before and after. */
  readonly summary: string;
  /** The transcript of the repeated attempt. */
  readonly text: string;
}

/** Makes the calls of an attempt again on the fixtures as they are saved now, and scores it. */
export function replayOnEdited(
  catalog: Catalog,
  attempt: RecordedAttempt & {
    /** On the fixtures before the edit. */
    readonly reward: AttemptReward;
  },
  profile: Profile,
): EditedReplay {
  const { trajectory, differing } = rerecord(catalog, attempt.trajectory);
  const reward = computeReward(catalog, attempt.task, trajectory, profile);
  const results = differing.length === 1 ? "result differs" : "results differ";
  return {
    summary: `${differing.length || "no"} ${results}, reward ${formatTotal(attempt.reward)} → ${formatTotal(reward)}`,
    text: formatAttempt(trajectory, attempt.task, reward).text,
  };
}

const formatTotal = (reward: AttemptReward) =>
  "unscorable" in reward ? "none" : formatReward(reward.breakdowns[0].total);

/** Whether an attempt starts from a fixture file, or from a variant or world of it. */
export const startsFrom = (
  { header }: Trajectory,
  { server, name }: { readonly server: string; readonly name: string },
): boolean =>
  header.servers.some(it => it.name === server && parseFixtureName(it.fixture).base === name);
