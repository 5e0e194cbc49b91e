/** Creates the content of the reward page from an attempt and its reward. */
import { canonicalJson } from "../../environment/json.ts";
import type { CallLine, GoalLine, RewardView } from "../../protocol/rewardPage.ts";
import type { Goal } from "../../trajectory/task.ts";
import { listCalls, type CallEvent, type Trajectory } from "../../trajectory/trajectory.ts";
import type { AttemptReward } from "./attemptReward.ts";
import type { StoredAttempt } from "./storedAttempt.ts";

/** `address` is that of the attempt's transcript. */
export const createRewardView = (
  address: string,
  { trajectory, task, reward }: StoredAttempt & { readonly reward: AttemptReward },
): RewardView => ({
  address,
  task: trajectory.header.task,
  policy: trajectory.header.policy,
  ended: describeEnd(trajectory),
  request: getFirstRequest(trajectory),
  calls: listCalls(trajectory).map(createCallLine),
  goals: (task?.goals ?? []).map(createGoalLine),
  ...("breakdowns" in reward
    ? {
        breakdowns: reward.breakdowns,
        success: { value: reward.success.achieved, reasons: reward.success.reasons },
      }
    : {
        breakdowns: [],
        success: { value: false, reasons: [reward.unscorable] },
        unscorable: reward.unscorable,
      }),
});

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
