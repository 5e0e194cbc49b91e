/** Creates the content of the reward page from an attempt and its reward. */
import { canonicalJson } from "../../../environment/json.ts";
import type { CallLine, GoalLine, RewardView } from "../../../protocol/rewardPage.ts";
import { countPrefix, describePrefix } from "../../../reward/prefixReward.ts";
import { profiles } from "../../../reward/profiles.ts";
import { describeReplaced } from "../../../trajectory/attempt.ts";
import type { Goal } from "../../../trajectory/task.ts";
import { listCalls, type CallEvent, type Trajectory } from "../../../trajectory/trajectory.ts";
import {
  getPrefixTotals,
  listPrefixChanges,
  scoreShownPrefix,
  type AttemptReward,
  type ShownReward,
} from "../attemptReward.ts";
import type { StoredAttempt } from "../storedAttempt.ts";

/**
 * `address` is that of the attempt's transcript. `position`: the number of events before which the
 * debugger stands, while the attempt is stepped through.
 */
export const createRewardView = (
  address: string,
  { trajectory, task, reward }: StoredAttempt & { readonly reward: AttemptReward },
  profile: string,
  position?: number,
): RewardView => ({
  address,
  task: trajectory.header.task,
  policy: trajectory.header.policy,
  ended: describeEnd(trajectory),
  request: getFirstRequest(trajectory),
  calls: listCalls("attempt" in reward ? reward.attempt.trajectory : trajectory).map(
    createCallLine,
  ),
  goals: (task?.goals ?? []).map(createGoalLine),
  profiles: profiles.map(({ name, summary }) => ({ name, summary })),
  profile,
  ...("breakdowns" in reward
    ? createRewardPart(trajectory, reward, position)
    : { breakdowns: [], totals: [], changes: [], unscorable: reward.unscorable }),
});

function createRewardPart(
  trajectory: Trajectory,
  reward: ShownReward,
  position: number | undefined,
): Pick<RewardView, "breakdowns" | "totals" | "changes" | "note" | "prefix" | "success"> {
  const totals = getPrefixTotals(reward);
  const changes = listPrefixChanges(reward);
  const { achieved, reasons } = reward.success;
  const success = { value: achieved, reasons };
  const note = describeReplaced(reward.attempt);
  const common = { totals, changes, ...(note === undefined ? {} : { note }) };
  if (position === undefined) return { ...common, breakdowns: reward.breakdowns, success };
  const index = countPrefix(trajectory.events, position);
  return {
    ...common,
    breakdowns: scoreShownPrefix(reward, index),
    prefix: { index, text: describePrefix(trajectory, index) },
    ...(index === totals.length - 1 ? { success } : {}),
  };
}

function describeEnd({ events }: Trajectory): string {
  const end = events.at(-1);
  if (end?.kind !== "ended") return "not ended";
  return { policy: "ended by the policy", limit: "ended by a limit", fault: "ended by a fault" }[
    end.by
  ];
}

const getFirstRequest = ({ header, events }: Trajectory) =>
  events.find(it => it.kind === "user")?.text ?? header.task;

const createCallLine = ({ name, arguments: args, outcome }: CallEvent): CallLine => ({
  name,
  arguments: canonicalJson(args),
  outcome: outcome.kind,
});

const createGoalLine = ({ calls, after }: Goal): GoalLine => ({
  calls: calls.map(it => ({ name: it.name, arguments: canonicalJson(it.arguments) })),
  after: after.map(it => it.goal),
});
