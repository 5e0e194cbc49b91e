/**
 * One attempt at a task: ask the policy for a message, add it to the conversation, which runs its
 * calls and lets the user answer, and repeat until the policy finishes or a limit is reached.
 */
import type { CallMemo } from "../environment/session.ts";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { FinishedAttempt } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import { PolicyFault, type AssistantMessage, type Policy, type Conversation } from "./policy.ts";
import {
  createAttemptHeader,
  maxCallsInMessage,
  TaskConversation,
  type ConversationOptions,
} from "./taskConversation.ts";

export interface RolloutOptions extends ConversationOptions {
  /** Rejects the rollout with its reason. */
  readonly signal?: AbortSignal;
  /** The trajectory's id; derived from task and policy if absent. */
  readonly id?: string;
  /**
   * The only turn that the policy does, from 0, after the teacher's own calls of the turns before.
   * If it is absent, the policy does the whole task.
   */
  readonly turn?: number | undefined;
  /** Calls of earlier rollouts of the same task object, which are not executed again. */
  readonly memo?: CallMemo;
}

/**
 * Runs a policy on a task in a new session. A `PolicyFault` or a broken call ends the attempt by
 * `fault`. Throws a `UserError` if the task's menu names a tool that does not exist.
 */
export async function rollout(
  task: Task,
  policy: Policy,
  catalog: Catalog,
  options: RolloutOptions = {},
): Promise<Required<FinishedAttempt>> {
  const header = createAttemptHeader(task, catalog, policy.name, options);
  const session = openSessionByName(catalog, { ...header, memo: options.memo });
  const attempt = new TaskConversation(task, header, session, options);
  const { conversation } = attempt;
  try {
    while (!attempt.end) {
      options.signal?.throwIfAborted();
      const answer = await askPolicy(policy, conversation, options.signal);
      if (answer instanceof PolicyFault) attempt.endByFault(answer.message);
      else {
        const preparing = session.prepare(answer.calls.slice(0, maxCallsInMessage));
        if (preparing) await preparing;
        attempt.addMessage(answer);
      }
    }
  } finally {
    policy.release?.(conversation);
  }
  const trajectory = attempt.createTrajectory();
  return { task, trajectory, finalState: session.state };
}

async function askPolicy(
  policy: Policy,
  conversation: Conversation,
  signal: AbortSignal | undefined,
): Promise<AssistantMessage | PolicyFault> {
  try {
    return await policy.next(conversation, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof PolicyFault) return error;
    throw error;
  }
}
