/**
 * Errors in teachers' conversations. An injected error is one wrong call before one of the
 * teacher's, which a student learns to correct; a careless teacher leaves out, makes up or repeats
 * calls, and still says that all is done. The calls are executed in a live session, so that their
 * results are real.
 */
import type { Call } from "../../environment/outcome.ts";
import type { Catalog } from "../../environment/catalog.ts";
import { canonicalJson, type Json } from "../../environment/json.ts";
import { createRandom, type Random } from "../../environment/random.ts";
import type { AssistantMessage } from "../../policy/policy.ts";
import { rollout } from "../../policy/rollout.ts";
import { listMessages, createScriptedPolicy } from "../../policy/scripted.ts";
import type { Task } from "../../trajectory/task.ts";
import { listCalls, type Trajectory, type Event } from "../../trajectory/trajectory.ts";

interface InjectedError {
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
const replaceDigits = (id: string, random: () => number): string =>
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

/** The messages of a turn: its calls, and the text that ends it. */
type Turn = readonly AssistantMessage[];

/** What a careless teacher does to a turn; undefined where the turn gives no occasion for it. */
type Habit = (turn: Turn, task: Task, random: Random) => Turn | undefined;

/** How often a careless turn is drawn for each habit. */
const habits: readonly { readonly apply: Habit; readonly weight: number }[] = [
  { apply: forgetLast, weight: 6 },
  { apply: stopEarly, weight: 2 },
  { apply: guessId, weight: 1 },
  { apply: repeat, weight: 1 },
];

/**
 * Repeats the teacher's conversation. With the probability `share`, a turn shows one of the habits,
 * unless it gives no occasion for it. The result is undefined if no turn shows one, or if the
 * conversation does not reach its end.
 */
export async function createCarelessTrajectory(
  task: Task,
  catalog: Catalog,
  { share, seed }: { readonly share: number; readonly seed: number },
): Promise<Trajectory | undefined> {
  const random = createRandom(seed, "careless", task.id);
  let isCareless = false;
  const turns = splitTurns(task.trajectory.events).map(turn => {
    const changed = random.boolean(share) ? applyHabit(turn, task, random) : undefined;
    isCareless ||= changed !== undefined;
    return changed ?? turn;
  });
  if (!isCareless) return undefined;
  const messages = turns.flat();
  const { trajectory } = await rollout(
    task,
    createScriptedPolicy("scripted:careless", messages),
    catalog,
    { id: `${task.id}/careless`, maxMessages: messages.length },
  );
  const { events } = trajectory;
  const isWhole =
    events.filter(it => it.kind === "user").length === task.turns.length &&
    events.some(it => it.kind === "ended" && it.by === "policy");
  return isWhole ? trajectory : undefined;
}

function splitTurns(events: readonly Event[]): Turn[] {
  const starts = events.flatMap((it, i) => (it.kind === "user" ? [i] : []));
  return starts.map((start, i) => listMessages(events.slice(start, starts[i + 1])));
}

const applyHabit = (turn: Turn, task: Task, random: Random): Turn | undefined =>
  random.pickWeighted(habits, it => it.weight).apply(turn, task, random);

/** Forgets the last message with a call that the user asked for, of several messages with calls. */
function forgetLast(turn: Turn, { goals }: Task): Turn | undefined {
  const wanted = new Set(
    goals.flatMap(it => it.calls.filter(of => of.for !== "feeds").map(identifyCall)),
  );
  const forgotten = turn.findLast(it => it.calls.some(call => wanted.has(identifyCall(call))));
  return forgotten === undefined || listCalling(turn).length < 2
    ? undefined
    : turn.filter(it => it !== forgotten);
}

/** Makes only the first of several messages with calls. */
function stopEarly(turn: Turn): Turn | undefined {
  const [, ...others] = listCalling(turn);
  return others.length === 0 ? undefined : turn.filter(it => !others.includes(it));
}

/** Leaves out a message, and makes up an id in the next one. */
function guessId(turn: Turn, _task: Task, random: Random): Turn | undefined {
  const places = turn.flatMap((it, i) => (i > 0 && it.calls.some(hasId) ? [i] : []));
  if (places.length === 0) return undefined;
  const place = random.pick(places);
  const guessed = { ...turn[place]!, calls: turn[place]!.calls.map(it => changeIds(it, random)) };
  return turn.with(place, guessed).toSpliced(place - 1, 1);
}

/** Makes the calls of a message twice. */
function repeat(turn: Turn, _task: Task, random: Random): Turn | undefined {
  const calling = listCalling(turn);
  if (calling.length === 0) return undefined;
  const again = random.pick(calling);
  return turn.toSpliced(turn.indexOf(again), 0, again);
}

/** The messages of a turn that make calls. */
const listCalling = (turn: Turn): Turn => turn.filter(it => it.calls.length > 0);

const identifyCall = ({ name, arguments: args }: Pick<Call, "name" | "arguments">): string =>
  `${name} ${canonicalJson(args)}`;

const isId = (value: Json): value is string => typeof value === "string" && /_\d+$/.test(value);

const hasId = (call: Call): boolean => Object.values(call.arguments as object).some(isId);

function changeIds({ name, arguments: args }: Call, random: Random): Call {
  const entries = Object.entries(args as Readonly<Record<string, Json>>);
  return {
    name,
    arguments: Object.fromEntries(
      entries.map(([key, it]) => [key, isId(it) ? replaceDigits(it, () => random.next()) : it]),
    ),
  };
}
