/**
 * Conversations that err once and put it right: a teacher's call is first made wrong in a live
 * session, its real error is read, then the right call follows. The wrong call itself is not to be
 * learned. Knows no tokens.
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
  /** The message that errs. */
  readonly message: number;
}

/**
 * The teacher's conversation with one slip, or undefined where the wrong call did no wrong or
 * spoiled what follows. `chance` gives numbers in [0, 1).
 */
export async function injectError(
  task: Task,
  catalog: Catalog,
  random: () => number,
): Promise<InjectedError | undefined> {
  const right = listMessages(task.trajectory.events);
  const places = right.flatMap((it, i) => (it.calls.length === 1 ? [i] : []));
  const at = places[Math.floor(random() * places.length)];
  if (at === undefined) return undefined;
  const wrong = corruptCall(right[at]!.calls[0]!, catalog, random);
  if (!wrong) return undefined;
  const messages: AssistantMessage[] = right.toSpliced(at, 0, { text: "", calls: [wrong] });
  const { trajectory } = await rollout(
    task,
    createScriptedPolicy("scripted:slip", messages),
    catalog,
    {
      id: `${task.id}/slip`,
      maxMessages: messages.length,
    },
  );
  const before = listCalls(task.trajectory);
  const after = listCalls(trajectory).filter(it => it.message !== at);
  const isSound =
    listCalls(trajectory).some(it => it.message === at && it.outcome.kind !== "ok") &&
    trajectory.events.at(-1)?.kind === "ended" &&
    after.length === before.length &&
    after.every((it, i) => it.outcome.kind === before[i]!.outcome.kind);
  return isSound ? { trajectory, message: at } : undefined;
}

/**
 * A call with one thing wrong that its tool must notice: an id that is none, a key left out, a
 * number as a word, or another tool's key.
 */
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
    const digits = () => String(100 + Math.floor(random() * 900));
    return {
      name: call.name,
      arguments: { ...args, [key]: (args[key] as string).replace(/\d+$/, digits) },
    };
  }
  if (required.length === 0) return undefined;
  const key = pick(required);
  const { [key]: _, ...rest } = args;
  return { name: call.name, arguments: rest };
}
