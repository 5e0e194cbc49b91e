/**
 * Solvers that do not do what the user asked for. A task that one of them passes, although it left
 * something out or did something else, checks too little.
 */
import type { PlannedCall } from "./plan.ts";
import type { Solver } from "./solver.ts";
import { toShownResult } from "./shown.ts";
import type { SolverRun, Steps } from "./solverRun.ts";
import { fillArguments } from "./plausibleValues.ts";
import { startsTurn, type CallEvent } from "../../trajectory/trajectory.ts";
import { changeOneValue, guessIds } from "./wrongValues.ts";

const createWrongSolver = (
  name: string,
  summary: string,
  solve: Solver["solve"],
  isIdle?: Solver["isIdle"],
): Solver => ({ name, kind: "wrong", summary, solve, ...(isIdle ? { isIdle } : {}) });

export const lazy = createWrongSolver("lazy", "makes the first call of each turn only", run =>
  makeOnly(run, new Set(run.turns.flatMap(it => it.calls.slice(0, 1)))),
);

export const oneCall = createWrongSolver(
  "one-call-and-stop",
  "makes the first call of the task only",
  run => makeOnly(run, new Set(run.turns.flatMap(it => it.calls).slice(0, 1))),
);

export const guesser = createWrongSolver(
  "guesser",
  "makes up ids instead of looking them up",
  function* (run) {
    for (const { calls, reply } of run.turns) {
      for (const it of calls)
        if (!it.isLookUp || !suppliesIds(run, it)) {
          // text of a result that was never seen cannot be made up
          const ids = run.listIds(it);
          if (run.listUnseen(it).some(value => !ids.includes(String(value)))) continue;
          const { name, arguments: args } = run.toCall(it);
          yield* run.call({ name, arguments: guessIds(run, name, args) });
        }
      yield* run.reply(reply);
    }
  },
);

export const skipper = createWrongSolver(
  "skipper",
  "leaves out one thing that the user asked for",
  run => {
    const calls = run.turns.flatMap(it => it.calls);
    const skipped = run.choose(listWanted(run));
    return makeOnly(run, new Set(calls.filter(it => it !== skipped)));
  },
);

export const oneWrongValue = createWrongSolver(
  "one-wrong-value",
  "gives one argument another plausible value",
  function* (run) {
    const wanted = listWanted(run);
    const from = run.choose(wanted);
    let isDue = false;
    let isDone = false;
    for (const { calls, reply } of run.turns) {
      for (const it of calls) {
        isDue ||= it === from;
        const args = isDue && !isDone && wanted.includes(it) ? changeOneValue(run, it) : undefined;
        if (args) {
          isDone = true;
          yield* run.call({ name: it.name, arguments: args });
        } else yield* makeIfSeen(run, it);
      }
      yield* run.reply(reply);
    }
  },
);

export const conditionIgnorer = createWrongSolver(
  "ignores-conditions",
  "does also what the user wants only under a condition that does not hold",
  function* (run) {
    for (const [i, { calls, reply }] of run.turns.entries()) {
      for (const it of calls) yield* makeIfSeen(run, it);
      const { conditional = [] } = run.task.turns[i]!;
      if (conditional.length > 0) yield* run.call(...conditional);
      yield* run.reply(reply);
    }
  },
  task => !task.turns.some(it => it.conditional),
);

export const everythingOnce = createWrongSolver(
  "everything-once",
  "calls every offered tool once",
  function* (run) {
    yield* run.call(
      ...[...run.tools.values()].map(it => ({
        name: it.name,
        arguments: fillArguments(run, it),
      })),
    );
    for (const { reply } of run.turns) yield* run.reply(reply);
  },
);

export const ruleBreaker = createWrongSolver(
  "rule-breaker",
  "asks for no confirmation and does what is forbidden",
  function* (run) {
    const { turns } = run.task;
    for (const [t, { calls, reply }] of run.turns.entries()) {
      for (const it of calls) {
        if (run.listUnseen(it).length === 0) yield* run.makeAtOnce(it);
      }
      const forbidden = turns[t]!.unmet?.filter(it => it.rule !== undefined) ?? [];
      const ruled = [...forbidden, ...listRefusedAfterQuestion(run, t)];
      if (ruled.length > 0) yield* run.callAtOnce(...ruled);
      yield* run.reply(reply);
    }
  },
  task => !task.policy,
);

/** The calls of a turn that the teacher had confirmed and the server then refused: no goals. */
function listRefusedAfterQuestion(run: SolverRun, turn: number): CallEvent[] {
  let at = -1;
  return run.task.trajectory.events.filter(it => {
    if (startsTurn(it)) at++;
    return (
      at === turn && it.kind === "call" && it.outcome.kind !== "ok" && run.needsConfirmation(it)
    );
  }) as CallEvent[];
}

/** Makes some of the planned calls, or all of them if nothing that the user asked for is missed. */
function* makeOnly(run: SolverRun, made: ReadonlySet<PlannedCall>): Steps {
  const isWrong = run.turns.some(({ calls }) =>
    calls.some(it => !made.has(it) && isMissed(run, it, made)),
  );
  for (const { calls, reply } of run.turns) {
    for (const it of calls) if (!isWrong || made.has(it)) yield* makeIfSeen(run, it);
    yield* run.reply(reply);
  }
}

/** The calls that the user would miss. */
function listWanted(run: SolverRun): readonly PlannedCall[] {
  const calls = run.turns.flatMap(it => it.calls);
  return calls.filter(call => isMissed(run, call, new Set(calls.filter(it => it !== call))));
}

/** Whether the user asked for a call and the calls made by then do not show the answer. */
const isMissed = (run: SolverRun, call: PlannedCall, made: ReadonlySet<PlannedCall>): boolean =>
  !call.isLookUp &&
  !(
    call.isRead &&
    run.isShownBy(call, [...made].filter(it => it.turn <= call.turn).flatMap(toShownResult))
  );

/** Whether a look-up shows an id that a later call takes. */
const suppliesIds = (run: SolverRun, { goal, flows }: PlannedCall): boolean =>
  run.turns
    .flatMap(it => it.calls)
    .some(it => it.goal > goal && run.listIds(it).some(id => flows.has(id)));

/** Makes a planned call, unless it takes values that nothing has shown. */
function* makeIfSeen(run: SolverRun, call: PlannedCall): Steps {
  if (run.listUnseen(call).length === 0) yield* run.make(call);
}
