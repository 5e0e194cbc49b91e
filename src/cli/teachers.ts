/**
 * Who teaches a synthesis, as a person or the editor names it: the graph, or a chat model with all
 * that a talk needs; and the attempts that come of it. Knows neither files nor how a talk goes.
 */
import { existsSync } from "node:fs";
import { UserError } from "../userError.ts";
import type { ChatModel } from "../policy/chatModel.ts";
import { PolicyFault } from "../policy/policy.ts";
import { createLlmRoles, type LlmRoles } from "../synthesis/teachers/chatModelTeacher.ts";
import { readRejected, rejectedFileFor } from "../synthesis/pipeline/report.ts";
import { synthesizeConcurrently } from "../synthesis/pipeline/concurrentSynthesis.ts";
import type { SynthesisOptions } from "../synthesis/pipeline/synthesizer.ts";
import { synthesize, type AttemptResult } from "../synthesis/pipeline/synthesize.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Terminal, Values } from "./command.ts";
import { endpointChoice, mistakeOf, openChosen, sent, type EndpointChoice } from "./endpoints.ts";

/** A chat model that teaches, and how many talks it is in at once. */
export interface ModelTeacher {
  readonly cast: LlmRoles;
  readonly concurrency: number;
}

/** The teacher that a person named; undefined is the graph. */
export function teacherIn(
  values: Values,
  terminal: Pick<Terminal, "say">,
): ModelTeacher | undefined {
  const name = values["teacher"] as string | undefined;
  const model = values["model"] as string | undefined;
  if (name === undefined || name === "graph") {
    if (model !== undefined)
      throw new UserError(
        `the graph needs no model ${model}`,
        "add --teacher endpoint, or leave --model away",
      );
    return undefined;
  }
  if (name !== "endpoint")
    throw new UserError(`there is no teacher ${name}`, "choose graph or endpoint");
  if (!model)
    throw new UserError(
      "--teacher endpoint needs to know which model teaches",
      "add --model, as the endpoint names it",
    );
  return endpointTeacher(endpointChoice(model, values), terminal);
}

/** An endpoint's model as a teacher; address and key come from `env` where they are not given. */
export function endpointTeacher(
  choice: EndpointChoice,
  terminal: Pick<Terminal, "say">,
  env?: NodeJS.ProcessEnv,
): ModelTeacher {
  const { endpoint, concurrency } = openChosen(choice, sent.synthesis, terminal, env);
  return { cast: createLlmRoles(endpoint, `endpoint:${endpoint.name}`), concurrency };
}

/** One of the editor's models as a teacher: it is not asked for much at once. */
export const editorTeacher = (model: ChatModel): ModelTeacher => ({
  cast: createLlmRoles(model, `editor:${model.name}`),
  concurrency: 2,
});

/**
 * Attempts as the teacher makes them; those in the file come first, which must be its own. Ends at
 * a fault of the model's, which `failed` is told.
 */
export async function* attemptsBy(
  teacher: ModelTeacher | undefined,
  synthesis: SynthesisOptions,
  file: string,
  failed: (fault: PolicyFault) => void,
): AsyncGenerator<AttemptResult> {
  if (!teacher) return yield* synthesize(synthesis);
  try {
    yield* synthesizeConcurrently(
      { ...synthesis, cast: teacher.cast },
      {
        concurrency: teacher.concurrency,
        earlierAttempts: await attemptsIn(file, teacher.cast.name),
      },
    );
  } catch (error) {
    if (!(error instanceof PolicyFault)) throw error;
    failed(error);
  }
}

/** Why a synthesis ended before its time, and how it goes on. */
export function endedBy(fault: PolicyFault, accepted: number, file: string): UserError {
  const known = mistakeOf(fault);
  const [what, remedy] =
    known instanceof UserError
      ? [known.what, known.remedy]
      : [fault.message, "choose another model, or try again later"];
  return new UserError(
    `${what}; ${accepted} tasks are in ${file}`,
    `${remedy}, and go on with --resume`,
    { cause: fault },
  );
}

async function attemptsIn(file: string, teacher: string): Promise<readonly AttemptResult[]> {
  const all: AttemptResult[] = [];
  if (existsSync(rejectedFileFor(file)))
    for await (const rejected of readRejected(rejectedFileFor(file)))
      all.push({ kind: "rejected", rejected });
  if (!existsSync(file)) return all;
  for await (const task of readTasks(file)) {
    if (task.provenance.teacher !== teacher)
      throw new UserError(
        `${file} was taught by ${task.provenance.teacher}, not by ${teacher}`,
        "repeat the command that made it, or write to another file",
      );
    all.push({ kind: "accepted", task });
  }
  return all;
}
