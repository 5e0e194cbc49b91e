/**
 * Synthesizes tasks into a file: one function for the terminal program and the editor. Its options
 * are plain data, so that they can cross a channel.
 */
import { existsSync } from "node:fs";
import { getUsableServer, type Catalog } from "../../../environment/catalog.ts";
import { EndpointFault } from "../../../policy/endpointFormat.ts";
import { PolicyFault } from "../../../policy/policy.ts";
import { readTasks } from "../../../trajectory/file.ts";
import type { Task } from "../../../trajectory/task.ts";
import { UserError } from "../../../userError.ts";
import { listVerdictFiles, readVerdicts } from "../../graph/dependencyGraph.ts";
import { readChosenScenarios } from "../../text/scenarios.ts";
import type { LlmRoles } from "../../teachers/chatModel/roles.ts";
import { synthesizeConcurrently, synthesize, type StartShard } from "./synthesize.ts";
import {
  presets,
  type MenuKind,
  type Preset,
  type SynthesisOptions,
  type TokenLimit,
} from "../synthesisOptions.ts";
import type { Difficulty } from "../report/demands.ts";
import { readRejected, getRejectedFile, type Report } from "../report/report.ts";
import { writeSynthesis, type SynthesisListeners } from "./synthesisFiles.ts";
import type { AttemptResult } from "../task/attemptTask.ts";

/** What to synthesize, and into which file. */
export interface SynthesisRequest {
  /** The tasks file to write, an absolute path. */
  readonly file: string;
  readonly count: number;
  readonly seed: number;
  /** Names of servers; all of them by default. */
  readonly servers?: readonly string[];
  /** The mixture of conversations; `paper` by default. */
  readonly preset?: Preset["name"];
  /** The preset's by default. */
  readonly menu?: MenuKind;
  readonly split?: Task["split"];
  /** Normal tasks of this difficulty only; the preset `student` has none. */
  readonly difficulty?: Difficulty;
  /** The only file of scenarios to use; the shipped ones and those of the workspace where absent. */
  readonly scenarios?: string;
  /** Only tasks whose prompt and teacher's conversation take at most so many tokens. */
  readonly maxTokens?: number;
  /** The folder of the tokenizer that counts them. */
  readonly tokenizer?: string;
  /** Continues a file that was started with the same options. */
  readonly resume?: boolean;
}

/** A chat model as the teacher, and the number of its concurrent conversations. */
export interface ModelTeacher {
  readonly roles: LlmRoles;
  readonly concurrency: number;
}

/** The services that a synthesis uses. */
interface SynthesisDependencies extends SynthesisListeners {
  readonly catalog: Catalog;
  /** The product's `resources` folder. */
  readonly resources: string;
  /** The workspace's `prove` folder, which may have verdicts on edges of its own. */
  readonly prove: string;
  /** Counts the tokens of tasks, where the request limits them. */
  readonly countTokens?: TokenLimit["count"] | undefined;
  /** Creates the teacher once the options are known to be valid; the graph teaches otherwise. */
  readonly createTeacher: () => ModelTeacher | undefined;
  /** Runs shards elsewhere; here where absent. */
  readonly startShard?: StartShard | undefined;
}

export interface SynthesisResult {
  readonly file: string;
  readonly seconds: number;
  readonly report: Report;
}

/**
 * Synthesizes tasks. Throws a `UserError` for options that cannot be used or a model that fails.
 */
export async function runSynthesis(
  request: SynthesisRequest,
  services: SynthesisDependencies,
): Promise<SynthesisResult> {
  const { file, count, seed, preset = "paper", split, maxTokens, difficulty } = request;
  const { signal, startShard } = services;
  if (existsSync(file) && !request.resume)
    throw new UserError(
      `${file} exists already`,
      "add --resume to continue it, or write to another file",
    );
  const synthesis: SynthesisOptions = { ...createSynthesisOptions(request, services), signal };
  const { servers, menu } = synthesis;
  const teacher = services.createTeacher();
  const started = services.readClock();
  const attempts = new AttemptStream({ synthesis, teacher, file, startShard });
  const report = await writeSynthesis(
    file,
    attempts,
    {
      count,
      seed,
      servers: [...servers],
      teacher: teacher?.roles.name ?? "graph",
      preset,
      menu,
      ...(split ? { split } : {}),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(difficulty ? { difficulty } : {}),
    },
    services,
  );
  if (attempts.fault) throw createTeacherError(attempts.fault, report.accepted, file);
  return { file, seconds: Math.round((services.readClock() - started) / 10) / 100, report };
}

/** The options of a synthesis. Throws a `UserError` for a request that cannot be met. */
export function createSynthesisOptions(
  request: SynthesisRequest,
  {
    catalog,
    resources,
    prove,
    countTokens,
  }: Pick<SynthesisDependencies, "catalog" | "resources" | "prove" | "countTokens">,
): SynthesisOptions {
  const { seed, count, preset = "paper", menu = presets[preset].menu, split } = request;
  const { maxTokens: max, difficulty } = request;
  if (difficulty !== undefined && preset === "student")
    throw new UserError(
      "the preset student has only tasks that the small student can hold, and no difficulty",
      "use the preset paper, or leave out the difficulty",
    );
  const servers = selectServers(request, catalog);
  return {
    seed,
    servers,
    preset,
    menu,
    count,
    ...(split ? { split } : {}),
    ...(difficulty ? { difficulty } : {}),
    ...(max !== undefined && countTokens ? { tokenLimit: { max, count: countTokens } } : {}),
    catalog,
    resources,
    ...(presets[preset].scenarioShare > 0
      ? {
          scenarios: readChosenScenarios({ resources, catalog, servers }, prove, request.scenarios),
        }
      : {}),
    edgeVerdicts: readVerdicts(listVerdictFiles(resources, prove)),
  };
}

function selectServers({ servers }: SynthesisRequest, catalog: Catalog): readonly string[] {
  const names = (servers ?? [...catalog.servers.keys()]).map(
    it => getUsableServer(catalog, it).name,
  );
  if (names.length > 0) return [...new Set(names)];
  throw new UserError(
    "no server is chosen",
    `choose some of ${[...catalog.servers.keys()].join(", ")}`,
  );
}

interface AttemptSource {
  readonly synthesis: SynthesisOptions;
  readonly teacher: ModelTeacher | undefined;
  readonly file: string;
  readonly startShard: StartShard | undefined;
}

/**
 * The attempts of a teacher, after those that its file has already. Ends when the model fails, so
 * that the tasks synthesized so far are kept.
 */
class AttemptStream implements AsyncIterable<AttemptResult> {
  readonly #source: AttemptSource;
  /** The fault that ended the attempts. */
  fault: PolicyFault | undefined;

  constructor(source: AttemptSource) {
    this.#source = source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AttemptResult> {
    const { synthesis, teacher, file, startShard } = this.#source;
    if (!teacher) return yield* synthesize(synthesis, startShard);
    const { roles, concurrency } = teacher;
    try {
      yield* synthesizeConcurrently(
        { ...synthesis, llmRoles: roles },
        { concurrency, earlierAttempts: await readAttempts(file, roles.name) },
      );
    } catch (error) {
      if (!(error instanceof PolicyFault)) throw error;
      this.fault = error;
    }
  }
}

async function readAttempts(file: string, teacher: string): Promise<readonly AttemptResult[]> {
  const attempts: AttemptResult[] = [];
  if (existsSync(getRejectedFile(file)))
    for await (const rejected of readRejected(getRejectedFile(file)))
      attempts.push({ kind: "rejected", rejected });
  if (!existsSync(file)) return attempts;
  for await (const task of readTasks(file)) {
    if (task.provenance.teacher !== teacher)
      throw new UserError(
        `the teacher of ${file} was ${task.provenance.teacher}, not ${teacher}`,
        "repeat the command that made it, or write to another file",
      );
    attempts.push({ kind: "accepted", task });
  }
  return attempts;
}

/** Why a model ended a synthesis early, and how to continue it. */
function createTeacherError(fault: PolicyFault, accepted: number, file: string): UserError {
  const remedy =
    fault instanceof EndpointFault ? fault.remedy : "choose another model, or try again later";
  return new UserError(
    `${fault.message}; ${accepted} tasks are in ${file}`,
    `${remedy}, then continue with --resume`,
    { cause: fault },
  );
}
