/**
 * Injects errors into teachers' conversations: before one of the teacher's calls, the same call is
 * executed with a wrong argument in a live session, so that a student learns to read the real error
 * and correct the call. The wrong call itself is not learned.
 */
import type { Catalog } from "../environment/catalog.ts";
import type { Json } from "../environment/json.ts";
import type { AssistantMessage, Call } from "../policy/policy.ts";
import { rollout } from "../policy/rollout.ts";
import { listMessages, createScriptedPolicy } from "../policy/scripted.ts";
import type { Task } from "../trajectory/task.ts";
import { listCalls, type Trajectory } from "../trajectory/trajectory.ts";

export interface InjectedError {
  readonly trajectory: Trajectory;
  /** The message with the wrong call. */
  readonly message: number;
}

/**
 * Repeats the teacher's conversation with one wrong call. The result is undefined if the call
 * succeeded or changed the outcome of a later one. `random` returns numbers in [0, 1).
 */
export async function injectError(
  task: Task,
  catalog: Catalog,
  random: () => number,
): Promise<InjectedError | undefined> {
  const teacherMessages = listMessages(task.trajectory.events);
  const candidates = teacherMessages.flatMap((it, i) => (it.calls.length === 1 ? [i] : []));
  const message = candidates[Math.floor(random() * candidates.length)];
  if (message === undefined) return undefined;
  const wrongCall = corruptCall(teacherMessages[message]!.calls[0]!, catalog, random);
  if (!wrongCall) return undefined;
  const messages: AssistantMessage[] = teacherMessages.toSpliced(message, 0, {
    text: "",
    calls: [wrongCall],
  });
  const { trajectory } = await rollout(
    task,
    createScriptedPolicy("scripted:slip", messages),
    catalog,
    {
      id: `${task.id}/slip`,
      maxMessages: messages.length,
    },
  );
  const teacherCalls = listCalls(task.trajectory);
  const otherCalls = listCalls(trajectory).filter(it => it.message !== message);
  const isUsable =
    listCalls(trajectory).some(it => it.message === message && it.outcome.kind !== "ok") &&
    trajectory.events.at(-1)?.kind === "ended" &&
    otherCalls.length === teacherCalls.length &&
    otherCalls.every((it, i) => it.outcome.kind === teacherCalls[i]!.outcome.kind);
  return isUsable ? { trajectory, message } : undefined;
}

/** The id with another number. `random` returns numbers in [0, 1). */
export const replaceDigits = (id: string, random: () => number): string =>
  id.replace(/\d+$/, () => String(100 + Math.floor(random() * 900)));

/** The call with an id that probably does not exist, or without a required argument. */
function corruptCall(call: Call, catalog: Catalog, random: () => number): Call | undefined {
  const schema = catalog.tools.get(call.name)?.inputSchema;
  const args = call.arguments as Readonly<Record<string, Json>>;
  const required = ((schema?.["required"] ?? []) as readonly string[]).filter(it => it in args);
  const ids = Object.keys(args).filter(
    it => typeof args[it] === "string" && /_\d+$/.test(args[it]),
  );
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  if (ids.length > 0 && random() < 0.7) {
    const key = pick(ids);
    return {
      name: call.name,
      arguments: { ...args, [key]: replaceDigits(args[key] as string, random) },
    };
  }
  if (required.length === 0) return undefined;
  const key = pick(required);
  const { [key]: _, ...rest } = args;
  return { name: call.name, arguments: rest };
}
