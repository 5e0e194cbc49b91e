/** `audit`: lets solvers play the tasks of a file, which shows what the tasks accept. */
import { resolve } from "node:path";
import { auditTasks } from "../app/audit.ts";
import { formatTaskCount } from "../app/taskChanges.ts";
import type { AuditSummary, SolverSummary } from "../evaluation/audit.ts";
import { solvers } from "../evaluation/solvers/solvers.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand, option } from "./command.ts";
import { countOf, existingPath, jsonFlag, oneOf, seedOption } from "./options.ts";

const solverNames = solvers.map(it => it.name);

export const audit = defineCommand({
  name: "audit",
  description:
    "Let scripted solvers play every task of a file, and print how each of them fares. Right solvers do what the user asked for in other ways than the teacher and should succeed; wrong ones do not do it and should fail; a baseline shows how hard the tasks are. Exits with 1 if a task could not be played or its own teacher fails.",
  arguments: [
    argument("<file>", "tasks file to read", {
      parser: existingPath("a tasks file"),
      required: "a tasks file",
    }),
  ],
  options: {
    solver: option("--solver <name>", "play this solver only (default: all)", {
      parser: oneOf(solverNames, "there is no solver"),
    }),
    limit: option("--limit <n>", "audit only the first tasks of the file (default: all)", {
      parser: countOf("a number of tasks"),
    }),
    count: option("--count <n>", "audit a random sample of this many tasks (default: all)", {
      parser: countOf("a number of tasks"),
    }),
    seed: seedOption,
    json: jsonFlag,
  },
  examples: [
    "audit my.tasks.jsonl",
    "audit my.tasks.jsonl --count 500 --seed 7 --json",
    "audit my.tasks.jsonl --solver lister --limit 100",
  ],
  async run(context, [file], { solver, limit, count, seed, json }) {
    const { cwd, print, printNote } = context;
    const { summary, changes } = await auditTasks(
      resolve(cwd, file),
      solvers.filter(it => solver === undefined || it.name === solver),
      { limit, count, seed },
      context,
    );
    if (summary.tasks === 0)
      throw new UserError(`${file} holds no tasks`, "give a file that prove-rl synthesize wrote");
    if (json) print(JSON.stringify({ file, ...summary, changed: changes.count }));
    else for (const it of formatSummary(summary)) print(it);
    for (const it of changes.format("they are judged by what it is now")) printNote(it);
    return summary.audited === summary.tasks ? 0 : 1;
  },
});

const formatShare = (share: number) => `${(100 * share).toFixed(1)}%`;

function formatSummary(summary: AuditSummary): string[] {
  const { tasks, audited, unmet, gone, teacher } = summary;
  return [
    `${audited} of ${tasks} tasks audited`,
    ...formatGroup(unmet, "whose own teacher fails: a goal that no call meets"),
    ...formatGroup(gone, "that cannot be opened"),
    "",
    formatRow(["solver", "tasks", "success", "paper", "", "plus", "", "< 95%", "more", "calls"]),
    formatRow([
      "teacher",
      String(audited),
      "",
      (teacher.reward["paper"] ?? 0).toFixed(3),
      "",
      (teacher.reward["prove-plus"] ?? 0).toFixed(3),
      "",
      "",
      "",
      teacher.calls.toFixed(2),
    ]),
    ...groups.flatMap(([kind, title]) => {
      const group = summary.solvers.filter(it => it.kind === kind);
      return group.length === 0 ? [] : ["", title, ...group.map(formatSolver)];
    }),
    ...summary.solvers.flatMap(formatExamples),
  ];
}

const groups = [
  ["right", "right ones, which should succeed and earn what the teacher does"],
  ["wasteful", "wasteful ones, which should succeed and never earn more than the teacher"],
  ["wrong", "wrong ones, which should fail"],
  ["baseline", "baselines, which do not know the task and show how hard tasks are"],
] as const;

const formatSolver = ({ solver, tasks, success, reward, calls }: SolverSummary) => {
  if (tasks === 0) return formatRow([solver, "0"]);
  const plus = reward["prove-plus"]!;
  return formatRow([
    solver,
    String(tasks),
    formatShare(success),
    ...["paper", "prove-plus"].flatMap(it => [
      reward[it]!.mean.toFixed(3),
      formatShare(reward[it]!.ofTeacher),
    ]),
    formatShare(plus.losing),
    formatShare(plus.gaining),
    calls.toFixed(2),
  ]);
};

const widths = [19, 6, 9, 8, 8, 8, 8, 8, 8, 7];

/** The first column is aligned left, numbers right. */
const formatRow = (cells: readonly string[]): string =>
  cells
    .map((it, i) => (i < 1 ? it.padEnd(widths[i]!) : it.padStart(widths[i]!)))
    .join("")
    .trimEnd();

function formatGroup({ tasks, examples }: AuditSummary["gone"], what: string): string[] {
  if (tasks === 0) return [];
  return [
    `${formatTaskCount(tasks)} ${what}`,
    ...examples.map(it => `  ${escapeInvisible(it.task)}: ${escapeInvisible(it.why)}`),
  ];
}

function formatExamples({ solver, kind, examples, summary }: SolverSummary): string[] {
  if (examples.length === 0 || kind === "baseline") return [];
  return [
    "",
    `${solver}, which ${summary}, ${faults[kind]}:`,
    ...examples.flatMap(({ task, calls, why }) => [
      `  ${escapeInvisible(task)}: ${escapeInvisible(why)}`,
      `    ${escapeInvisible(truncate(calls.join("; ") || "no call"))}`,
    ]),
  ];
}

const faults = {
  right: "fails or earns too little",
  wasteful: "fails or earns more than the teacher",
  wrong: "succeeds",
} as const;

const truncate = (text: string) => (text.length > 400 ? `${text.slice(0, 399)}…` : text);
