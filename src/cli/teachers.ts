/** The teacher of a synthesis, as command-line options or the editor choose it. */
import { UserError } from "../userError.ts";
import type { ChatModel } from "../policy/chatModel.ts";
import type { ModelTeacher } from "../synthesis/pipeline/runSynthesis.ts";
import { createLlmRoles } from "../synthesis/teachers/llmRoles.ts";
import type { CliContext, Values } from "./command.ts";
import {
  readEndpointOptions,
  openEndpointFor,
  sentContent,
  type EndpointChoice,
} from "./endpoints.ts";

/** The teacher that the options choose; undefined for the graph. */
export function createTeacher(
  values: Values,
  terminal: Pick<CliContext, "printNote">,
): ModelTeacher | undefined {
  const name = values["teacher"] as string | undefined;
  const model = values["model"] as string | undefined;
  if (name === undefined || name === "graph") {
    if (model !== undefined)
      throw new UserError(
        `the graph needs no model ${model}`,
        "add --teacher endpoint, or omit --model",
      );
    return undefined;
  }
  if (name !== "endpoint")
    throw new UserError(`there is no teacher ${name}`, "choose graph or endpoint");
  if (!model)
    throw new UserError(
      "--teacher endpoint needs a model",
      "add --model, as the endpoint names it",
    );
  return createEndpointTeacher(readEndpointOptions(model, values), terminal);
}

/** An endpoint's model as a teacher. The address and the key default to those in `env`. */
export function createEndpointTeacher(
  choice: EndpointChoice,
  terminal: Pick<CliContext, "printNote">,
  env?: NodeJS.ProcessEnv,
): ModelTeacher {
  const { endpoint, concurrency } = openEndpointFor(choice, sentContent.synthesis, terminal, env);
  return { roles: createLlmRoles(endpoint, `endpoint:${endpoint.name}`), concurrency };
}

/** One of the editor's models as a teacher, with few requests at a time. */
export const createEditorTeacher = (model: ChatModel): ModelTeacher => ({
  roles: createLlmRoles(model, `editor:${model.name}`),
  concurrency: 2,
});
