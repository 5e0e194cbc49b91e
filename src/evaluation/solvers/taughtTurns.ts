/**
 * What the teacher of a task did, turn by turn, for solvers that do the same but for a part of it,
 * such as what they say.
 */
import type { Task } from "../../trajectory/task.ts";
import { startsTurn, type CallEvent } from "../../trajectory/trajectory.ts";
import type { SolverRun, Steps } from "./solverRun.ts";

interface TaughtMessage {
  readonly text: string;
  readonly calls: readonly CallEvent[];
}

export interface TaughtTurn {
  /** The messages before the reply: calls, and questions that the user answered. */
  readonly messages: readonly TaughtMessage[];
  readonly reply: string;
  /** Something was wanted that could not be done. */
  readonly isRefused: boolean;
  /** It ends with a question for a value that only the user knows. */
  readonly isQuestion: boolean;
}

const taughtTurns = new WeakMap<Task, readonly TaughtTurn[]>();

/** The turns of a task as its teacher did them. */
export function listTaughtTurns(task: Task): readonly TaughtTurn[] {
  let turns = taughtTurns.get(task);
  if (!turns) taughtTurns.set(task, (turns = readTaughtTurns(task)));
  return turns;
}

function readTaughtTurns({ turns, trajectory, goals, knobs }: Task): readonly TaughtTurn[] {
  const { events } = trajectory;
  const writes = new Set(
    goals.flatMap(it => it.calls.flatMap(call => (call.for === undefined ? call.name : []))),
  );
  const starts = events.flatMap((it, i) => (startsTurn(it) ? [i] : []));
  return turns.map(({ reply, unmet = [] }, t) => {
    const own = t < starts.length ? events.slice(starts[t], starts[t + 1]) : [];
    const messages = own.flatMap(it =>
      it.kind === "assistant"
        ? [
            {
              text: it.text,
              calls: own.filter(of => of.kind === "call" && of.message === it.message),
            },
          ]
        : [],
    ) as TaughtMessage[];
    return {
      messages: messages.slice(0, -1),
      reply,
      isRefused:
        unmet.some(it => it.asks === undefined) ||
        messages
          .flatMap(it => it.calls)
          .some((it, i, calls) => isGivenUp(it, calls.slice(i + 1), writes)) ||
        (goals.length === 0 && knobs["abstention"] === "cannot"),
      isQuestion: unmet.some(it => it.asks !== undefined),
    };
  });
}

/** Whether a call was refused and nothing was done in its place later in the turn. */
const isGivenUp = (
  call: CallEvent,
  later: readonly CallEvent[],
  writes: ReadonlySet<string>,
): boolean =>
  call.outcome.kind === "refused" &&
  !later.some(it => it.outcome.kind === "ok" && (it.name === call.name || writes.has(it.name)));

interface Changes {
  /** What is said at the end of a turn in place of the teacher's reply. */
  readonly reply?: (turn: TaughtTurn, index: number) => string;
  /** Whether a call is made. */
  readonly isMade?: (call: CallEvent, turn: TaughtTurn) => boolean;
  /** What comes after a message with calls. */
  readonly afterCalls?: (made: readonly CallEvent[]) => Steps;
  /** What comes before the reply of a turn. */
  readonly beforeReply?: (turn: TaughtTurn, index: number) => Steps;
}

/** Does what the teacher did, but for some changes. */
export function* followTeacher(run: SolverRun, changes: Changes): Steps {
  const { reply, isMade = () => true, afterCalls, beforeReply } = changes;
  for (const [t, turn] of listTaughtTurns(run.task).entries()) {
    for (const { text, calls } of turn.messages) {
      const made = calls.filter(it => isMade(it, turn));
      if (calls.length > 0 && made.length === 0) continue;
      const events = yield {
        text,
        calls: made.map(it => ({ name: it.name, arguments: it.arguments })),
      };
      if (afterCalls) yield* afterCalls(events.filter(it => it.kind === "call"));
    }
    if (beforeReply) yield* beforeReply(turn, t);
    yield* run.reply(reply ? reply(turn, t) : turn.reply);
  }
}
