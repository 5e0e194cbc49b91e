/** The options of `synthesize` that choose its teacher. */
import { createEndpointTeacher } from "../app/teachers.ts";
import type { ModelTeacher } from "../synthesis/pipeline/run/runSynthesis.ts";
import { UserError } from "../userError.ts";
import { option, type CliContext, type OptionValues } from "./command.ts";
import { oneOf } from "./parsers.ts";
import { endpointOptions, readEndpointOptions } from "./sharedOptions.ts";

/** Options that choose the teacher. */
export const teacherOptions = {
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
export function createTeacher(
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
