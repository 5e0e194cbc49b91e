/** Executes rollouts of our tasks again on our servers, and finds the task that one is of. */
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { canonicalJson } from "../../environment/json.ts";
import { parseJsonOrText, formatResult } from "../../policy/chatMessages.ts";
import { createAttemptHeader, TaskConversation } from "../../policy/taskConversation.ts";
import type { FinishedAttempt } from "../../trajectory/attempt.ts";
import type { Task } from "../../trajectory/task.ts";
import { listOwnCalls } from "../../trajectory/oneTurn.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { type Rollout, type RolloutCall } from "./rollout.ts";

interface ExecutedRollout extends FinishedAttempt {
  /** Where the execution is not what the file says. */
  readonly notes: readonly string[];
}

/** Tasks by their ids, and by what the user says first. */
export class KnownTasks {
  readonly #byId = new Map<string, Task>();
  readonly #byText = new Map<string, Task | "ambiguous">();

  add(task: Task): void {
    this.#byId.set(task.id, task);
    const text = task.turns[0]?.user;
    if (text !== undefined) this.#byText.set(text, this.#byText.has(text) ? "ambiguous" : task);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The task that a rollout names or, if it names none, the only one whose user begins like it. */
  find({ task, prompt, completion }: Rollout): Task | undefined {
    if (task !== undefined) return this.#byId.get(task);
    const first = [...prompt, ...completion].find(it => it.role === "user");
    const found = first && this.#byText.get(first.text);
    return found === "ambiguous" ? undefined : found;
  }
}

/**
 * Executes the messages of a rollout in a new session, as far as the task goes on. Throws a
 * `UserError` if the task cannot be opened.
 */
export function executeRollout(
  { prompt, completion, turn, end }: Rollout,
  task: Task,
  {
    id,
    policy,
    catalog,
  }: { readonly id: string; readonly policy: string; readonly catalog: Catalog },
): ExecutedRollout {
  const header = createAttemptHeader(task, catalog, policy, { id, turn });
  const session = openSessionByName(catalog, header);
  // with a turn, the messages before are the teacher's, which the conversation executes itself
  const messages = (turn === undefined ? [...prompt, ...completion] : completion).filter(
    it => it.role === "assistant",
  );
  const attempt = new TaskConversation(task, header, session, { maxMessages: messages.length });
  let used = 0;
  for (const { text, calls } of messages) {
    if (attempt.end) break;
    attempt.addMessage({
      text,
      calls: calls.map(it => ({ name: it.name, arguments: it.arguments })),
      ...(end?.by === "limit" && used === messages.length - 1 ? { cut: true } : {}),
    });
    used++;
  }
  const trajectory = attempt.createTrajectory();
  const notes = describeDifferences(
    messages.slice(0, used).flatMap(it => it.calls),
    trajectory,
  );
  if (used < messages.length)
    notes.push(`the attempt ends after ${used} of ${messages.length} messages`);
  return { task, trajectory, finalState: session.state, notes };
}

function describeDifferences(calls: readonly RolloutCall[], trajectory: Trajectory): string[] {
  const executed = listOwnCalls(trajectory);
  const differing = calls.filter((it, i) => {
    const now = executed[i] && formatResult(executed[i]);
    return it.result !== undefined && now !== undefined && !isSameResult(it.result, now);
  });
  return differing.length === 0
    ? []
    : [`${differing.length} of ${calls.length} calls return something else now`];
}

const isSameResult = (before: string, now: string): boolean =>
  before === now || canonicalJson(parseJsonOrText(before)) === canonicalJson(parseJsonOrText(now));
