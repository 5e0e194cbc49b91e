/** The models that may teach in a synthesis: those of an endpoint and those of the editor. */
import type { ChatModel } from "../policy/chatModel.ts";
import type { ModelTeacher } from "../synthesis/pipeline/run/runSynthesis.ts";
import { createLlmRoles } from "../synthesis/teachers/chatModel/roles.ts";
import type { AppContext } from "./context.ts";
import { openEndpointFor, sentContent, type EndpointChoice } from "./endpoints.ts";

/** An endpoint's model as a teacher. The address and the key default to those in `env`. */
export function createEndpointTeacher(
  choice: EndpointChoice,
  context: Pick<AppContext, "printNote">,
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
