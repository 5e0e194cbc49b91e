/**
 * `synthesize`: makes tasks with their teacher's trajectories and writes them, a line each, as they
 * pass the screen.
 */
import { resolve } from "node:path";
import { rejectedFileFor, reportFileFor } from "../synthesis/pipeline/report.ts";
import {
  runSynthesis,
  type SynthesisRequest,
  type SynthesisResult,
} from "../synthesis/pipeline/runSynthesis.ts";
import { formatProgress } from "../synthesis/pipeline/synthesisProgress.ts";
import { UserError } from "../userError.ts";
import { readSeed } from "./call.ts";
import type { CliCommand, CliContext, Values } from "./command.ts";
import { endpointOptions, endpointUsage } from "./endpoints.ts";
import { countIn } from "./number.ts";
import { createTeacher } from "./teachers.ts";

const splits = ["train", "heldout-chain", "heldout-server"] as const;

export const synthesize: CliCommand = {
  usage: `synthesize --out F.tasks.jsonl --count N [--seed S] [--servers a,b] [--preset paper|student] [--menu chain|full] [--split train|heldout-chain|heldout-server] [--resume] [--json] [--teacher graph|endpoint] [--model M] ${endpointUsage}`,
  summary:
    "Make tasks on the live servers, each with its teacher's trajectory, screened and replayed; the same options give the same bytes. The preset paper has its mixture of talks, student what the small student can hold.",
  options: {
    out: { type: "string" },
    count: { type: "string" },
    seed: { type: "string" },
    servers: { type: "string" },
    preset: { type: "string" },
    teacher: { type: "string" },
    model: { type: "string" },
    ...endpointOptions,
    menu: { type: "string" },
    split: { type: "string" },
    resume: { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(terminal, positionals, values) {
    if (positionals.length > 0)
      throw new UserError(
        `synthesize takes no ${positionals[0]}`,
        `usage: prove-rl ${synthesize.usage}`,
      );
    const result = await runSynthesis(readRequest(terminal, values), {
      catalog: terminal.catalog,
      resources: terminal.resources,
      prove: terminal.prove,
      createTeacher: () => createTeacher(values, terminal),
      onProgress: it => terminal.showProgress(formatProgress(it)),
      onRemark: terminal.printNote,
      readClock: () => performance.now(),
      signal: terminal.signal,
    });
    const { file, seconds, report } = result;
    if (values["json"]) terminal.print(JSON.stringify({ file, seconds, ...report }));
    else for (const line of formatResult(result)) terminal.print(line);
    return report.accepted < report.options.count ? 1 : 0;
  },
};

function readRequest({ cwd }: CliContext, values: Values): SynthesisRequest {
  const count = countIn(values, "count", "number of tasks");
  if (count === undefined)
    throw new UserError(
      "synthesize needs to know how many tasks to make",
      "add --count, such as --count 300",
    );
  const out = values["out"] as string | undefined;
  if (!out)
    throw new UserError(
      "synthesize needs a file to write to",
      "add --out, such as --out prove/tasks/first.tasks.jsonl",
    );
  const servers = (values["servers"] as string | undefined)
    ?.split(",")
    .map(it => it.trim())
    .filter(it => it !== "");
  const split = oneOf(values, "split", splits);
  return {
    file: resolve(cwd, out),
    count,
    seed: readSeed(values),
    ...(servers ? { servers } : {}),
    preset: oneOf(values, "preset", ["paper", "student"]) ?? "paper",
    menu: oneOf(values, "menu", ["chain", "full"]) ?? "chain",
    ...(split ? { split } : {}),
    resume: values["resume"] === true,
  };
}

function oneOf<const T extends string>(
  values: Values,
  option: string,
  choices: readonly T[],
): T | undefined {
  const given = values[option] as string | undefined;
  if (given === undefined || choices.includes(given as T)) return given as T | undefined;
  throw new UserError(`there is no ${option} ${given}`, `choose ${choices.join(" or ")}`);
}

/** A result for the user, as lines. */
function formatResult({ file, seconds, report }: SynthesisResult): string[] {
  const { options, attempts, accepted, by, rejected, diversity } = report;
  const counts = (of: Readonly<Record<string, number>> | undefined) =>
    Object.entries(of ?? {})
      .map(([name, n]) => `${name} ${n}`)
      .join(", ");
  const knobs = [
    "menu",
    "distractors",
    "company",
    "enumsStripped",
    "obstacle",
    "abstention",
    "lists",
    "failedCalls",
    "across",
  ].filter(it => by[it]);
  const [one, two, three] = diversity["distinct"] as [number, number, number];
  return [
    `${accepted} tasks in ${file} (${seconds} s)`,
    ...["server", "kind", "split", "info", "turns", "goals"].map(
      it => `  by ${it}: ${counts(by[it])}`,
    ),
    ...knobs.map(it => `  knob ${it}: ${counts(by[it])}`),
    `  rejected: ${counts(rejected) || "none"} (of ${attempts} attempts, in ${rejectedFileFor(file)})`,
    `  what users say: distinct-1/2/3 ${one}, ${two}, ${three}; ${diversity["repeated"] as number} repeated; self-BLEU ${diversity["selfBleu"] as number}`,
    `  report: ${reportFileFor(file)}`,
    ...(accepted < options.count
      ? [`  the servers have no more to give: ${options.count - accepted} tasks are missing`]
      : []),
  ];
}
