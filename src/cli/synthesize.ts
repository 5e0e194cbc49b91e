/**
 * `synthesize`: makes tasks with their teacher's trajectories and writes each as one line once it
 * has passed validation.
 */
import { resolve } from "node:path";
import { createConversationCounter } from "../app/taskTokens.ts";
import { createEndpointTeacher } from "../app/teachers.ts";
import {
  type ModelTeacher,
  runSynthesis,
  type SynthesisResult,
} from "../synthesis/pipeline/run/runSynthesis.ts";
import { UserError } from "../userError.ts";
import {
  option,
  type CliContext,
  type OptionValues,
  bugExitCode,
  defineCommand,
  flag,
} from "./command.ts";
import {
  oneOf,
  endpointOptions,
  readEndpointOptions,
  commaList,
  countOf,
  existingPath,
  outputPath,
  jsonFlag,
  seedOption,
} from "./options.ts";
import {
  bugReason,
  difficultyReason,
  getRejectedFile,
  getReportFile,
  formatProgress,
  type Report,
} from "../synthesis/pipeline/report/report.ts";
import { menuKinds } from "../synthesis/pipeline/synthesisOptions.ts";
import { splits } from "../trajectory/task.ts";
import { difficulties } from "../synthesis/pipeline/report/demands.ts";
import { formatCounts, formatMeasures } from "./report.ts";
import { limitHeapGrowth, createShardStarter } from "../app/shardThread.ts";
import { listFixtureFolders } from "../app/resources.ts";

/** Options that choose the teacher. */
const teacherOptions = {
  teacher: option(
    "--teacher <teacher>",
    "who plays user and assistant: the dependency graph, or a model of an endpoint",
    {
      parser: oneOf(["graph", "endpoint"], "there is no teacher"),
      default: "graph",
    },
  ),
  model: option("--model <name>", "the model that teaches, as the endpoint names it"),
  ...endpointOptions,
};

/** The model that the options choose as the teacher; undefined for the graph. */
function createTeacher(
  { teacher, model, ...endpoint }: OptionValues<typeof teacherOptions>,
  context: Pick<CliContext, "printNote">,
): ModelTeacher | undefined {
  if (teacher === "graph") {
    if (model !== undefined)
      throw new UserError(
        `the graph needs no model ${model}`,
        "add --teacher endpoint, or omit --model",
      );
    return undefined;
  }
  if (model === undefined)
    throw new UserError(
      "--teacher endpoint needs a model",
      "add --model, as the endpoint names it",
    );
  return createEndpointTeacher({ ...readEndpointOptions(endpoint), model }, context);
}

export const synthesize = defineCommand({
  name: "synthesize",
  description:
    "Make tasks on the live servers, each with its teacher's trajectory, which is validated by replay. The same options give the same bytes. Prints a report of what was accepted and rejected; exits with 1 if the servers give fewer tasks than asked for.",
  arguments: [],
  options: {
    out: option("--out <file>", "tasks file to write", {
      parser: outputPath("prove/tasks/first.tasks.jsonl"),
      required: "a file to write to",
      example: "prove/tasks/first.tasks.jsonl",
    }),
    count: option("--count <n>", "number of tasks", {
      parser: countOf("a number of tasks"),
      required: "to know how many tasks to make",
      example: "300",
    }),
    seed: seedOption,
    servers: option("--servers <names>", "servers, with commas between them (default: all)", {
      parser: commaList,
    }),
    preset: option(
      "--preset <preset>",
      "mixture of conversations: the paper's, or what the small student can hold",
      { parser: oneOf(["paper", "student"], "there is no preset"), default: "paper" },
    ),
    menu: option(
      "--menu <menu>",
      "tools on offer: 20 to 40 of several servers, those of the chain and a few more, or all of the servers (default: realistic, or chain for the student)",
      { parser: oneOf(menuKinds, "there is no menu") },
    ),
    split: option("--split <split>", "only tasks of this split", {
      parser: oneOf(splits, "there is no split"),
    }),
    difficulty: option(
      "--difficulty <level>",
      "only normal tasks of this difficulty: easy, medium or hard (default: all, mixed)",
      { parser: oneOf(difficulties, "there is no difficulty") },
    ),
    scenarios: option(
      "--scenarios <file>",
      "use only the scenarios of this file (default: the shipped ones, and those in prove/scenarios)",
    ),
    maxTokens: option(
      "--max-tokens <n>",
      "only tasks whose prompt and teacher's conversation take at most so many tokens",
      { parser: countOf("a number of tokens") },
    ),
    tokenizer: option(
      "--tokenizer <folder>",
      "model folder whose tokenizer and chat template count the tokens",
      { parser: existingPath("a model folder") },
    ),
    resume: flag("--resume", "continue a file that was started with the same options"),
    json: jsonFlag,
    ...teacherOptions,
  },
  examples: [
    "synthesize --out prove/tasks/first.tasks.jsonl --count 300",
    "synthesize --preset student --servers banking,maps --out small.tasks.jsonl --count 2000",
    "synthesize --scenarios mine.json --servers banking --out mine.tasks.jsonl --count 50",
    "synthesize --max-tokens 4096 --tokenizer models/Qwen3 --out short.tasks.jsonl --count 300",
    "synthesize --out taught.tasks.jsonl --count 100 --teacher endpoint --model qwen3-4b",
  ],
  async run(context, _positionals, { out, json, servers, split, scenarios, ...options }) {
    const { count, seed, preset, menu, difficulty, resume, maxTokens } = options;
    if ((maxTokens === undefined) !== (options.tokenizer === undefined))
      throw maxTokens === undefined
        ? new UserError("--tokenizer counts nothing without a limit", "add --max-tokens")
        : new UserError(
            "--max-tokens needs the tokenizer that counts them",
            "add --tokenizer, the folder of the model that the tasks are for",
          );
    const tokenizer = options.tokenizer && resolve(context.cwd, options.tokenizer);
    const request = {
      file: resolve(context.cwd, out),
      count,
      seed,
      preset,
      resume,
      ...(menu ? { menu } : {}),
      ...(servers ? { servers } : {}),
      ...(split ? { split } : {}),
      ...(difficulty ? { difficulty } : {}),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(tokenizer === undefined ? {} : { tokenizer }),
      ...(scenarios === undefined ? {} : { scenarios: resolve(context.cwd, scenarios) }),
    };
    limitHeapGrowth();
    const result = await runSynthesis(request, {
      catalog: context.catalog,
      resources: context.resources,
      prove: context.prove,
      countTokens: await createConversationCounter(request, context.catalog),
      createTeacher: () => createTeacher(options, context),
      startShard: createShardStarter({
        ...context,
        program: context.thread,
        request,
        fixtureFolders: listFixtureFolders(context),
      }),
      onProgress: it => context.showProgress(formatProgress(it)),
      onRemark: context.printNote,
      readClock: () => performance.now(),
      signal: context.signal,
    });
    const { file, seconds, report } = result;
    if (json) context.print(JSON.stringify({ file, seconds, ...report }));
    else for (const line of formatResult(result)) context.print(line);
    if (report.rejected[bugReason]) return bugExitCode;
    return report.accepted < report.options.count ? 1 : 0;
  },
});

/** What to do if a difficulty is why tasks are missing. */
function describeDifficulty({ options: { difficulty }, rejected }: Report): string {
  const count = rejected[difficultyReason];
  return difficulty === undefined || count === undefined
    ? ""
    : `; ${count} were not ${difficulty}: name more servers, or another --difficulty`;
}

/** Formats a result for the user. */
function formatResult({ file, seconds, report }: SynthesisResult): string[] {
  const { options, attempts, accepted, by, rejected, solvers, diversity } = report;
  const knobs = [
    "menu",
    "distractors",
    "company",
    "enumsStripped",
    "obstacle",
    "abstention",
    "lists",
    "failedCalls",
    "difficulty",
    "across",
    "conditions",
    "limits",
    "changesOfMind",
    "computedValues",
    "chosenRows",
  ].filter(it => by[it]);
  const distinct = diversity["distinct"] as readonly number[];
  return [
    `${accepted} tasks in ${file} (${seconds} s)`,
    ...["server", "kind", "split", "info", "turns", "goals"].map(
      it => `  by ${it}: ${formatCounts(by[it])}`,
    ),
    ...knobs.map(it => `  knob ${it}: ${formatCounts(by[it])}`),
    `  rejected: ${formatCounts(rejected) || "none"} (of ${attempts} attempts, in ${getRejectedFile(file)})`,
    ...(solvers && Object.keys(solvers).length > 0
      ? [`  rejected by solvers: ${formatCounts(solvers)}`]
      : []),
    `  what users say: distinct-1/2/3 ${distinct.join(", ")}; ${diversity["repeated"] as number} repeated; self-BLEU ${diversity["selfBleu"] as number}`,
    ...formatMeasures(report),
    `  report: ${getReportFile(file)}`,
    ...(accepted < options.count
      ? [
          `  the servers have no more to give: ${options.count - accepted} tasks are missing${describeDifficulty(report)}`,
        ]
      : []),
  ];
}
