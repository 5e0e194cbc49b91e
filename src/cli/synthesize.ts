/**
 * `synthesize`: makes tasks with their teacher's trajectories and writes them, a line each, as they
 * pass the screen.
 */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { UserError } from "../userError.ts";
import type { PolicyFault } from "../policy/policy.ts";
import { listVerdictFiles, readVerdicts } from "../synthesis/graph/edgeVerdicts.ts";
import type { Report } from "../synthesis/pipeline/report.ts";
import { rejectedFileFor, reportFileFor } from "../synthesis/pipeline/report.ts";
import type { SynthesisOptions } from "../synthesis/pipeline/synthesizer.ts";
import { seedOf } from "./call.ts";
import type { Command, Terminal, Values } from "./command.ts";
import { countIn } from "./number.ts";
import { endpointOptions, endpointUsage } from "./endpoints.ts";
import { writeSynthesis } from "./synthesisFiles.ts";
import { attemptsBy, endedBy, teacherIn, type ModelTeacher } from "./teachers.ts";

const splits = ["train", "heldout-chain", "heldout-server"] as const;

export const synthesize: Command = {
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
    return await synthesizeBy(() => teacherIn(values, terminal), terminal, values);
  },
};

/** Does what the options say, with the teacher that they, or whoever forked this program, named. */
export async function synthesizeBy(
  teacherOf: () => ModelTeacher | undefined,
  terminal: Terminal,
  values: Values,
): Promise<number> {
  const count = countOf(values);
  const synthesis = { ...synthesisOf(terminal, values), count, signal: terminal.signal };
  const { seed, servers, menu, preset, split } = synthesis;
  const file = fileOf(terminal, values);
  const teacher = teacherOf();
  const began = performance.now();
  const options = {
    count,
    seed,
    servers: [...servers],
    teacher: teacher?.cast.name ?? "graph",
    preset,
    menu,
    ...(split ? { split } : {}),
  };
  let fault: PolicyFault | undefined;
  const report = await writeSynthesis(
    file,
    attemptsBy(teacher, synthesis, file, it => (fault = it)),
    options,
    terminal,
  );
  if (fault) throw endedBy(fault, report.accepted, file);
  const seconds = Math.round((performance.now() - began) / 10) / 100;
  if (values["json"]) terminal.print(JSON.stringify({ file, seconds, ...report }));
  else for (const line of readable(file, seconds, report)) terminal.print(line);
  return report.accepted < count ? 1 : 0;
}

function countOf(values: Values): number {
  const count = countIn(values, "count", "number of tasks");
  if (count === undefined)
    throw new UserError(
      "synthesize needs to know how many tasks to make",
      "add --count, such as --count 300",
    );
  return count;
}

function synthesisOf(
  { catalog, resources, prove }: Terminal,
  values: Values,
): SynthesisOptions & Required<Pick<SynthesisOptions, "preset">> {
  const names = (values["servers"] as string | undefined)
    ?.split(",")
    .map(it => it.trim())
    .filter(it => it !== "");
  const servers = (names ?? [...catalog.servers.keys()]).map(it => catalog.getServer(it).name);
  if (servers.length === 0)
    throw new UserError(
      "--servers names no server",
      `choose some of ${[...catalog.servers.keys()].join(", ")}`,
    );
  const split = oneOf(values, "split", splits);
  const menu = oneOf(values, "menu", ["chain", "full"]) ?? "chain";
  const preset = oneOf(values, "preset", ["paper", "student"]) ?? "paper";
  const audit = readVerdicts(listVerdictFiles(resources, prove));
  return {
    catalog,
    resources,
    seed: seedOf(values),
    servers: [...new Set(servers)],
    preset,
    menu,
    edgeVerdicts: audit,
    ...(split ? { split } : {}),
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

function fileOf({ cwd }: Terminal, values: Values): string {
  const out = values["out"] as string | undefined;
  if (!out)
    throw new UserError(
      "synthesize needs a file to write to",
      "add --out, such as --out prove/tasks/first.tasks.jsonl",
    );
  const file = isAbsolute(out) ? out : join(cwd, out);
  if (existsSync(file) && !values["resume"])
    throw new UserError(
      `${out} exists already`,
      "add --resume to go on with it, or write to another file",
    );
  return file;
}

/** What a person wants to know of a report, a line each. */
function readable(
  file: string,
  seconds: number,
  { options, attempts, accepted, by, rejected, diversity }: Report,
): string[] {
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
