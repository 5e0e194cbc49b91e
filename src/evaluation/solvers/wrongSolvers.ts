/**
 * Solvers that do not do what the user asked for. A task that one of them passes, although it left
 * something out or did something else, checks too little.
 */
import type { PlannedCall } from "./plan.ts";
import type { Solver } from "./solver.ts";
import type { SolverRun, Steps } from "./solverRun.ts";
import { fillArguments } from "./plausibleValues.ts";
import { changeOneValue, guessIds } from "./wrongValues.ts";

const createWrongSolver = (name: string, summary: string, solve: Solver["solve"]): Solver => ({
  name,
  kind: "wrong",
  summary,
  solve,
});

export const lazy = createWrongSolver(
  "lazy",
  "makes the first call of each turn only",
  function* (run) {
    for (const { calls, reply } of run.turns) {
      yield* makeIfSeen(run, calls.slice(0, 1));
      yield* run.reply(reply);
    }
  },
);

export const oneCall = createWrongSolver(
  "one-call-and-stop",
  "makes the first call of the task only",
  function* (run) {
    const first = run.turns.flatMap(it => it.calls)[0];
    for (const { calls, reply } of run.turns) {
      yield* makeIfSeen(
        run,
        calls.filter(it => it === first),
      );
      yield* run.reply(reply);
    }
  },
);

export const guesser = createWrongSolver(
  "guesser",
  "makes up ids instead of looking them up",
  function* (run) {
    for (const { calls, reply } of run.turns) {
      for (const it of calls)
        if (!it.isLookUp) {
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
  function* (run) {
    const wanted = listWanted(run);
    const skipped = wanted[run.random.integer(wanted.length)];
    for (const { calls, reply } of run.turns) {
      for (const it of calls) if (it !== skipped) yield* makeIfSeen(run, [it]);
      yield* run.reply(reply);
    }
  },
);

export const oneWrongValue = createWrongSolver(
  "one-wrong-value",
  "gives one argument another plausible value",
  function* (run) {
    const wanted = listWanted(run);
    const from = wanted[run.random.integer(wanted.length)];
    let isDue = false;
    let isDone = false;
    for (const { calls, reply } of run.turns) {
      for (const it of calls) {
        isDue ||= it === from;
        const args = isDue && !isDone && !it.isLookUp ? changeOneValue(run, it) : undefined;
        if (args) {
          isDone = true;
          yield* run.call({ name: it.name, arguments: args });
        } else yield* makeIfSeen(run, [it]);
      }
      yield* run.reply(reply);
    }
  },
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

/** The calls for which the user asked. */
const listWanted = (run: SolverRun): readonly PlannedCall[] =>
  run.turns.flatMap(it => it.calls.filter(call => !call.isLookUp));

/** Makes planned calls in one message, without those whose values nothing has shown. */
function* makeIfSeen(run: SolverRun, calls: readonly PlannedCall[]): Steps {
  yield* run.make(...calls.filter(it => run.listUnseen(it).length === 0));
}
