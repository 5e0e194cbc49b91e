/** Creates the teacher of a synthesis, as the command's options or the editor choose it. */
import { UserError } from "../userError.ts";
import type { ChatModel } from "../policy/chatModel.ts";
import type { ModelTeacher } from "../synthesis/pipeline/run/runSynthesis.ts";
import { createLlmRoles } from "../synthesis/teachers/chatModel/roles.ts";
import type { CliContext, OptionValues } from "./command.ts";
import { option } from "./command.ts";
import {
  createEndpointChoice,
  endpointOptions,
  openEndpointFor,
  sentContent,
  type EndpointChoice,
} from "./endpoints.ts";
import { oneOf } from "./parsers.ts";

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
  return createEndpointTeacher(createEndpointChoice(model, endpoint), context);
}

/** An endpoint's model as a teacher. The address and the key default to those in `env`. */
export function createEndpointTeacher(
  choice: EndpointChoice,
  context: Pick<CliContext, "printNote">,
  env?: NodeJS.ProcessEnv,
): ModelTeacher {
  const { endpoint, concurrency } = openEndpointFor(choice, sentContent.synthesis, context, env);
  return { roles: createLlmRoles(endpoint, `endpoint:${endpoint.name}`), concurrency };
}

/** One of the editor's models as a teacher, with few requests at a time. */
export const createEditorTeacher = (model: ChatModel): ModelTeacher => ({
  roles: createLlmRoles(model, `editor:${model.name}`),
  concurrency: 2,
});
