/**
 * `evaluate`: lets policies attempt each task once with greedy decoding, and several times with
 * sampling, and prints the metrics with their intervals and the differences from a baseline.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { computeChange } from "../evaluation/compare.ts";
import { evaluatePolicy, readSeenTasks, readSelectedTasks } from "../app/evaluate.ts";
import { checkTrajectoryName } from "../app/importRollouts.ts";
import type { StudentChoice } from "../app/policies.ts";
import type { Evaluation } from "../evaluation/evaluate.ts";
import type { EvaluationRow } from "../evaluation/row.ts";
import { computeSlices } from "../evaluation/metrics.ts";
import type { ComputedWith } from "../run/backends.ts";
import { UserError } from "../userError.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import { splits, type Task } from "../trajectory/task.ts";
import { formatTaskLine } from "../trajectory/task.ts";
import { formatTrajectory, type Trajectory } from "../trajectory/trajectory.ts";
import type { SeenTasks } from "../trajectory/seenTasks.ts";
import {
  bugExitCode,
  defineCommand,
  flag,
  option,
  type CliContext,
  type OptionValues,
} from "./command.ts";
import {
  comparedMetrics,
  createMatrixDocument,
  formatBackend,
  formatComparison,
  formatDecoding,
  formatDecodingDifference,
  formatMatrix,
  formatMetrics,
  formatSlices,
  toJudged,
} from "./evaluationText.ts";
import {
  commaList,
  countOf,
  existingPath,
  oneOf,
  outputPath,
  positiveNumber,
  endpointOptions,
  jsonFlag,
  processesOption,
  readEndpointOptions,
} from "./options.ts";

const evaluateOptions = {
  tasks: option("--tasks <file>", "tasks file", {
    parser: existingPath("a tasks file"),
    required: "a tasks file",
    example: "small.tasks.jsonl",
  }),
  policy: option(
    "--policy <policy>",
    "run or model folder, endpoint:MODEL, or scripted:NAME; several with commas",
    { parser: commaList, required: "a policy", example: "prove/runs/first" },
  ),
  baseline: option("--baseline <policy>", "policy to compare with, on the same tasks"),
  samples: option("--samples <k>", "also sample this many attempts per task", {
    parser: countOf("a number of attempts"),
  }),
  temperature: option("--temperature <t>", "temperature of the sampled attempts", {
    parser: positiveNumber,
    default: 1,
  }),
  constrain: flag(
    "--constrain",
    "constrained decoding: a student writes only calls that fit the offered tools",
  ),
  split: option("--split <split>", "split of the tasks; heldout is all but train", {
    parser: oneOf<Task["split"] | "heldout">(["heldout", ...splits], "there is no split"),
    default: "heldout",
  }),
  limit: option("--limit <n>", "attempt only the first tasks of each split (default: all)", {
    parser: countOf("a number of tasks"),
  }),
  trainedOn: option(
    "--trained-on <file>",
    "tasks file of the training: tells near tasks from far ones",
    { parser: existingPath("a tasks file") },
  ),
  failed: option(
    "--failed <file>",
    "write the tasks at which the greedy attempt fails to this tasks file, which must not exist",
    { parser: outputPath("prove/tasks/failed.tasks.jsonl") },
  ),
  attempts: option(
    "--attempts <file>",
    "write all attempts to this trajectory file, which must not exist",
    { parser: outputPath("prove/tasks/small.trajectory.jsonl") },
  ),
  byTask: flag("--by-task", "also print the tasks on which the policies disagree"),
  json: jsonFlag,
  processes: processesOption,
  ...endpointOptions,
};

type EvaluateOptions = OptionValues<typeof evaluateOptions>;

export const evaluate = defineCommand({
  name: "evaluate",
  description:
    "Let a policy attempt every held-out task with greedy decoding, and print the metrics with 95% intervals (bootstrap over the sets of tools that tasks need), and apart by split, distance from the training tasks, server, chain length, kind and knob. The policy is a run or model folder, endpoint:MODEL, scripted:teacher or scripted:idle.",
  arguments: [],
  options: evaluateOptions,
  examples: [
    "evaluate --tasks small.tasks.jsonl --policy prove/runs/first",
    "evaluate --tasks small.tasks.jsonl --policy runs/a,runs/b --baseline runs/c --samples 8",
    "evaluate --tasks small.tasks.jsonl --policy runs/a,runs/b --by-task",
    "evaluate --tasks small.tasks.jsonl --policy prove/runs/first --constrain",
    "evaluate --tasks small.tasks.jsonl --policy scripted:teacher --split train --json",
    "evaluate --tasks small.tasks.jsonl --policy endpoint:qwen3-4b --limit 100",
    "evaluate --tasks small.tasks.jsonl --policy small --split train --failed hard.tasks.jsonl",
    "evaluate --tasks small.tasks.jsonl --policy small --attempts small.trajectory.jsonl",
  ],
  async run(context, _positionals, options) {
    const { cwd, print, printNote } = context;
    const { tasks: file, split, baseline, limit = Infinity, json } = options;
    const selected = { file: resolve(cwd, file), split, limit };
    const failedFile = checkNewFile("--failed", options.failed, options, cwd);
    const attemptsFile = checkNewFile("--attempts", options.attempts, options, cwd);
    if (options.attempts !== undefined) checkTrajectoryName(options.attempts);
    const tasks = await readSelectedTasks(selected, printNote);
    const seen =
      options.trainedOn === undefined
        ? undefined
        : await readSeenTasks(resolve(cwd, options.trainedOn), printNote);
    let hasBug = false;
    const onBug = () => void (hasBug = true);
    const measurement = { tasks, seen, options, onBug };
    const measure = (spec: string) => measurePolicy(spec, measurement, context);
    const start = baseline === undefined ? undefined : await measure(baseline);
    const runs: Measured[] = [];
    const writer = attemptsFile === undefined ? undefined : new LineWriter(attemptsFile);
    try {
      const onAttempt = (it: Trajectory) => writer?.append(formatTrajectory(it).trimEnd());
      for (const spec of options.policy)
        runs.push(await measurePolicy(spec, { ...measurement, onAttempt }, context));
    } finally {
      writer?.close();
    }
    const all = [...(start ? [start] : []), ...runs];
    const greedyRuns = runs.map(it => it.greedy.rows);
    const sampledRuns = runs.flatMap(it => (it.sampled ? [it.sampled.rows] : []));
    const comparison = start && {
      baseline: start.spec,
      change: compare(start.greedy.rows, greedyRuns),
      ...(start.sampled ? { sampledChange: compare(start.sampled.rows, sampledRuns) } : {}),
    };
    const policies = all.map(({ spec, greedy, sampled }) => ({
      name: spec,
      attempts: (sampled ?? greedy).rows.map(toJudged),
    }));
    if (json) {
      const documents = all.map(createDocument);
      const shared = { tasks: file, split };
      print(
        JSON.stringify(
          all.length === 1
            ? { ...shared, ...documents[0]! }
            : {
                ...shared,
                policies: documents,
                ...comparison,
                ...(options.byTask ? { byTask: createMatrixDocument(policies) } : {}),
              },
        ),
      );
    } else {
      for (const it of all) for (const line of formatMeasured(it, all.length > 1)) print(line);
      if (options.byTask && all.length > 1)
        for (const line of ["", ...formatMatrix(policies)]) print(line);
      if (start) {
        print("");
        print(`${options.policy.join(", ")} compared with ${start.spec}`);
        for (const line of formatDecodingDifference(all.map(it => it.greedy))) print(`  ${line}`);
        for (const line of formatComparison(start.greedy.rows, greedyRuns)) print(`  ${line}`);
        if (start.sampled) {
          print(`  sampled, mean@${start.sampled.metrics.samples}`);
          for (const line of formatComparison(start.sampled.rows, sampledRuns)) print(`  ${line}`);
        }
      }
    }
    // last: what was measured is printed even if the file cannot be written
    if (failedFile !== undefined) writeFailed(failedFile, tasks, runs[0]!, printNote);
    if (hasBug) return bugExitCode;
    return all.every(it => it.greedy.metrics.attempts > it.greedy.metrics.unscorable) ? 0 : 1;
  },
});

/** The path of a file that is to be written for the only policy, if it is asked for. */
function checkNewFile(
  name: string,
  given: string | undefined,
  { policy }: Pick<EvaluateOptions, "policy">,
  cwd: string,
): string | undefined {
  if (given === undefined) return undefined;
  if (policy.length > 1)
    throw new UserError(
      `${name} is for one policy, and --policy names ${policy.length}`,
      "evaluate one policy at a time",
    );
  const file = resolve(cwd, given);
  if (existsSync(file)) throw new UserError(`${given} exists already`, "write to another file");
  return file;
}

/** Writes the tasks whose greedy attempt can be scored and is no success, and says how many. */
function writeFailed(
  file: string,
  tasks: readonly Task[],
  { greedy }: Measured,
  printNote: CliContext["printNote"],
): void {
  const isFailed = (it: EvaluationRow) => !it.success && it.unscorable === undefined;
  const ids = new Set(greedy.rows.filter(isFailed).map(it => it.task));
  const failed = tasks.filter(it => ids.has(it.id));
  if (failed.length === 0) return printNote(`no task failed, so ${file} is not written`);
  const writer = new LineWriter(file);
  try {
    for (const task of failed) writer.append(formatTaskLine(task));
  } finally {
    writer.close();
  }
  printNote(`${failed.length} of ${tasks.length} tasks failed and are in ${file}`);
}

/** The evaluations of a policy: greedy, and sampled if that was asked for. */
interface Measured {
  readonly spec: string;
  readonly greedy: Evaluation;
  readonly sampled?: Evaluation;
  /** What a student computed with. */
  readonly computedWith?: ComputedWith;
}

interface Measurement {
  readonly tasks: readonly Task[];
  readonly seen: SeenTasks | undefined;
  readonly options: EvaluateOptions;
  readonly onBug: () => void;
  /** Receives each attempt when it ends. */
  readonly onAttempt?: (attempt: Trajectory) => void;
}

async function measurePolicy(
  spec: string,
  { tasks, seen, options, onBug, onAttempt }: Measurement,
  context: CliContext,
): Promise<Measured> {
  // loads the numerics
  const { greedy, openPolicy } = await import("../app/policies.ts");
  let computedWith: ComputedWith | undefined;
  const attempt = async (choice: StudentChoice, samples: number, label: string) => {
    const opened = await openPolicy(spec, tasks, context, readEndpointOptions(options), choice);
    computedWith = opened.computedWith;
    const policy = { ...opened, ...(seen ? { seen } : {}) };
    const evaluation = await evaluatePolicy(policy, tasks, context, {
      label,
      samples,
      onBug,
      onAttempt,
    });
    opened.dispose();
    return evaluation;
  };
  const { samples, temperature, constrain: isConstrained } = options;
  const measured = {
    spec,
    greedy: await attempt({ ...greedy, isConstrained }, 1, `${spec} `),
    ...(samples === undefined
      ? {}
      : {
          sampled: await attempt(
            { temperature, seed: 1, isConstrained },
            samples,
            `${spec}, sampled `,
          ),
        }),
  };
  return { ...measured, ...(computedWith ? { computedWith } : {}) };
}

const createDocument = ({ greedy, sampled, computedWith }: Measured) => ({
  policy: greedy.policy,
  ...(computedWith ? { computedWith } : {}),
  ...(greedy.decoding ? { decoding: greedy.decoding } : {}),
  ...greedy.metrics,
  slices: computeSlices(greedy.rows),
  ...(sampled ? { sampled: { ...sampled.metrics, slices: computeSlices(sampled.rows) } } : {}),
});

const compare = (before: readonly EvaluationRow[], runs: readonly (readonly EvaluationRow[])[]) =>
  Object.fromEntries(
    comparedMetrics.map(({ name, read }) => [name, computeChange(before, runs, read)]),
  );

const formatMeasured = (
  { spec, greedy, sampled, computedWith }: Measured,
  hasTitle: boolean,
): string[] => [
  ...(hasTitle ? [`${spec}:`] : []),
  ...formatDecoding(greedy),
  ...(computedWith ? [formatBackend(computedWith)] : []),
  ...formatMetrics(greedy.metrics),
  ...(sampled ? ["", ...formatMetrics(sampled.metrics)] : []),
  ...formatSlices(computeSlices(greedy.rows)),
  ...(hasTitle ? [""] : []),
];
