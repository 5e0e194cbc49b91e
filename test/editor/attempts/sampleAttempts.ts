/** Attempts for tests of transcripts: rollouts of written calls at a task of the banking server. */
import { computeReward, type AttemptReward } from "../../../src/editor/attempts/attemptReward.ts";
import type { AssistantMessage } from "../../../src/policy/policy.ts";
import { rollout } from "../../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../../src/policy/scripted.ts";
import { paperProfile, type Profile } from "../../../src/reward/profiles.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { formatTranscript, type Transcript } from "../../../src/trajectory/transcript.ts";
import {
  calling,
  catalog,
  lookUp,
  moveFifty,
  saying,
  transfer,
} from "../../trajectory/sampleTasks.ts";

export interface SampleAttempt {
  readonly task: Task;
  readonly trajectory: Trajectory;
  readonly transcript: Transcript;
  readonly reward: AttemptReward;
}

/** Transfers too much, which is refused, and then to the wrong account. */
const failedMessages = [
  calling(lookUp),
  calling(transfer("acc_108", 1e5), transfer("acc_115", 50)),
  saying("Moved."),
];

/** An attempt at moving 50 from one account to another. */
export async function loadSampleAttempt(
  messages: readonly AssistantMessage[] = failedMessages,
  profile: Profile = paperProfile,
): Promise<SampleAttempt> {
  const task = await moveFifty();
  const policy = createScriptedPolicy("student", [...messages]);
  const { trajectory } = await rollout(task, policy, catalog);
  return {
    task,
    trajectory,
    transcript: formatTranscript(trajectory, { task }),
    reward: computeReward(catalog, task, trajectory, profile),
  };
}
