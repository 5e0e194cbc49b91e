/**
 * What the teacher of a task did, turn by turn, for solvers that do the same but for a part of it,
 * such as what they say.
 */
import { canonicalJson } from "../../environment/json.ts";
import type { Task } from "../../trajectory/task.ts";
import { startsTurn, type CallEvent } from "../../trajectory/trajectory.ts";
import type { SolverRun, Steps } from "./solverRun.ts";

interface TaughtMessage {
  readonly text: string;
  readonly calls: readonly CallEvent[];
}

/** A call that was refused, with the reads before it that no goal needs. */
interface GivenUp {
  readonly calls: readonly CallEvent[];
  /** How many goal calls of the turn came before. */
  readonly after: number;
}

export interface TaughtTurn {
  /** The messages before the reply: calls, and questions that the user answered. */
  readonly messages: readonly TaughtMessage[];
  readonly reply: string;
  /** What was tried in vain: calls that were refused, and nothing was done in their place. */
  readonly givenUp: readonly GivenUp[];
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
  const wanted = goals.flatMap(it => it.calls);
  const writes = new Set(wanted.flatMap(it => (it.for === undefined ? it.name : [])));
  const goalCalls = new Set(wanted.map(formatCall));
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
    const calls = messages.flatMap(it => it.calls);
    const givenUp = calls.flatMap((it, i) =>
      isGivenUp(it, calls.slice(i + 1), writes)
        ? {
            calls: [
              ...calls
                .slice(0, i)
                .filter(of => of.outcome.kind === "ok" && !goalCalls.has(formatCall(of))),
              it,
            ],
            after: calls.slice(0, i).filter(of => goalCalls.has(formatCall(of))).length,
          }
        : [],
    );
    return {
      messages: messages.slice(0, -1),
      reply,
      givenUp,
      isRefused:
        unmet.some(it => it.asks === undefined) ||
        givenUp.length > 0 ||
        (goals.length === 0 && knobs["abstention"] === "cannot"),
      isQuestion: unmet.some(it => it.asks !== undefined),
    };
  });
}

const formatCall = ({ name, arguments: args }: Pick<CallEvent, "name" | "arguments">): string =>
  `${name} ${canonicalJson(args)}`;

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
