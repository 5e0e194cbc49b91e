/**
 * Policies that try to earn reward without doing the task, and what they earn. With an oracle they
 * make the teacher's first call; otherwise they begin with a read that needs no arguments.
 */
import type { Call } from "../../src/environment/outcome.ts";
import type { Catalog } from "../../src/environment/catalog.ts";
import type { Tool } from "../../src/environment/server.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createTeacherPolicy } from "../../src/policy/scripted.ts";
import type { Profile } from "../../src/reward/profiles.ts";
import { createScorer } from "../../src/reward/scorer.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { computeMean } from "../../src/evaluation/interval.ts";
import { fillArguments } from "../../src/evaluation/solvers/wrongSolvers.ts";
import { createSolverPolicy, type Solver } from "../../src/evaluation/solvers/solver.ts";
import type { SolverRun, Steps } from "../../src/evaluation/solvers/solverRun.ts";

interface Cheat {
  readonly name: string;
  /** The calls after the first one. */
  readonly listCalls: (run: SolverRun, first: Call) => readonly Call[];
}

const fill = (run: SolverRun, tools: readonly Tool[]): readonly Call[] =>
  tools.map(it => ({ name: it.name, arguments: fillArguments(run, it) }));

const isEasyRead = ({ effect, inputSchema }: Tool) =>
  effect === "read" && ((inputSchema["required"] ?? []) as readonly unknown[]).length === 0;

const listTools = (run: SolverRun) => [...run.tools.values()];

/** How often `repeat` makes its call again, and how many reads `pad` adds. */
const repetitions = 3;
const padding = 2;
const guesses = 3;

const cheats = Object.freeze<Cheat[]>([
  { name: "one-call", listCalls: () => [] },
  { name: "repeat", listCalls: (_, first) => Array.from({ length: repetitions }, () => first) },
  {
    name: "read-everything",
    listCalls: run =>
      fill(
        run,
        listTools(run).filter(it => it.effect === "read"),
      ),
  },
  { name: "call-everything", listCalls: run => fill(run, listTools(run)) },
  {
    name: "pad",
    listCalls: run => fill(run, listTools(run).filter(isEasyRead).slice(0, padding)),
  },
  {
    name: "guess",
    listCalls: run =>
      fill(
        run,
        Array.from({ length: guesses }, () => run.random.pick(listTools(run))),
      ),
  },
]);

/** Makes no call at all; an oracle is of no use to it. */
export const idle: Solver = {
  name: "idle",
  kind: "wrong",
  summary: "answers without calls",
  isIdle: ({ goals }) => goals.length === 0,
  *solve(run) {
    for (const { reply } of run.turns) yield* run.reply(reply);
  },
};

/** Makes the teacher's calls but looks nothing up: it has learned the ids of a fixture by heart. */
export const memorizer: Solver = {
  name: "memorizer",
  kind: "wrong",
  summary: "makes only the calls that are no look-ups, with the right ids",
  *solve(run): Steps {
    run.differs = false;
    for (const { calls, reply } of run.turns) {
      for (const it of calls) {
        if (it.isRead) continue;
        run.differs ||= run.listUnseen(it).length > 0;
        yield* run.call(run.toCall(it));
      }
      yield* run.reply(reply);
    }
  },
};

function createCheatSolver({ name, listCalls }: Cheat, hasOracle: boolean): Solver {
  return {
    name: hasOracle ? `${name}, with an oracle` : name,
    kind: "wrong",
    summary: "tries to earn reward without doing the task",
    *solve(run): Steps {
      const planned = hasOracle ? run.turns.flatMap(it => it.calls)[0] : undefined;
      const first = planned ? run.toCall(planned) : findFirstCall(run);
      let isDue = first !== undefined;
      for (const [turn, { reply }] of run.turns.entries()) {
        if (isDue && first && turn >= (planned?.turn ?? 0)) {
          isDue = false;
          yield* run.call(first);
          for (const it of listCalls(run, first)) yield* run.call(it);
        }
        yield* run.reply(reply);
      }
    },
  };
}

function findFirstCall(run: SolverRun): Call | undefined {
  const tools = listTools(run);
  return fill(run, [...tools.filter(isEasyRead), ...tools].slice(0, 1))[0];
}

/** The share of the teacher's mean total that a cheat earns, by profile. */
interface CheatResult {
  readonly cheat: string;
  readonly hasOracle: boolean;
  readonly shares: Readonly<Record<string, number>>;
}

/**
 * Lets every cheat attempt the tasks that have goals, and compares with the teacher. `onTask` is
 * called with the number of tasks that are done.
 */
export async function measureCheats(
  tasks: readonly Task[],
  catalog: Catalog,
  profiles: readonly Profile[],
  { signal, onTask }: { readonly signal?: AbortSignal; readonly onTask?: (done: number) => void },
): Promise<readonly CheatResult[]> {
  const scoreAttempt = createScorer(catalog);
  const players = [
    { cheat: "idle", hasOracle: false, create: (task: Task) => createSolverPolicy(idle, task) },
    ...[false, true].flatMap(hasOracle =>
      cheats.map(cheat => ({
        cheat: cheat.name,
        hasOracle,
        create: (task: Task) => createSolverPolicy(createCheatSolver(cheat, hasOracle), task),
      })),
    ),
  ];
  const score = async (task: Task, policy: Policy) => {
    const made = await rollout(task, policy, catalog, signal ? { signal } : {});
    const scored = scoreAttempt(made, ...profiles);
    return profiles.map((_, i) => ("unscorable" in scored ? 0 : scored.breakdowns[i]!.total));
  };
  const teacher: (readonly number[])[] = [];
  const earned = players.map((): (readonly number[])[] => []);
  for (const task of tasks) {
    if (task.goals.length === 0) continue;
    teacher.push(await score(task, createTeacherPolicy(task)));
    for (const [i, it] of players.entries()) earned[i]!.push(await score(task, it.create(task)));
    onTask?.(teacher.length);
  }
  const meanOf = (rows: readonly (readonly number[])[], profile: number) =>
    computeMean(rows.map(it => it[profile]!));
  return players.map(({ cheat, hasOracle }, i) => ({
    cheat,
    hasOracle,
    shares: Object.fromEntries(
      profiles.map((it, p) => [it.name, meanOf(earned[i]!, p) / meanOf(teacher, p)]),
    ),
  }));
}
