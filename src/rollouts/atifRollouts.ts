/**
 * Documents of Harbor's Agent Trajectory Interchange Format, one in a file or one a line. An agent
 * inside an agent is not read.
 */
import { z } from "zod";
import { contentSchema, formatContent } from "./chatRows.ts";
import { ConversationBuilder } from "./conversation.ts";
import {
  argumentsSchema,
  type CountOmitted,
  type RolloutFormat,
  type RolloutMessage,
  taskColumns,
} from "./rollout.ts";

const stepSchema = z.looseObject({
  source: z.enum(["system", "user", "agent"]),
  message: contentSchema,
  reasoning_content: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        tool_call_id: z.string(),
        function_name: z.string(),
        arguments: argumentsSchema,
      }),
    )
    .nullish(),
  observation: z
    .looseObject({
      results: z.array(
        z.looseObject({
          source_call_id: z.string().nullish(),
          content: contentSchema,
          subagent_trajectory_ref: z.json().optional(),
        }),
      ),
    })
    .nullish(),
});

const documentSchema = z.looseObject({
  schema_version: z.string().startsWith("ATIF-v1."),
  session_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  agent: z.looseObject({
    name: z.string(),
    model_name: z.string().nullish(),
    tool_definitions: z
      .array(z.looseObject({ function: z.looseObject({ name: z.string() }).optional() }))
      .nullish(),
  }),
  steps: z.array(stepSchema).min(1),
  extra: z.looseObject(taskColumns).nullish(),
});

export const atif: RolloutFormat = {
  name: "atif",
  noun: "a document of the Agent Trajectory Interchange Format",
  writer: "Harbor or our export",
  parseRow(json, { check, omit }) {
    const { session_id, trajectory_id, agent, steps, extra } = check(documentSchema, json);
    return {
      id: trajectory_id ?? session_id ?? undefined,
      task: extra?.task_id ?? undefined,
      turn: extra?.turn ?? undefined,
      policy: agent.model_name ?? agent.name,
      menu: agent.tool_definitions?.flatMap(it => it.function?.name ?? []),
      prompt: [],
      completion: steps.flatMap(it => createMessages(it, omit)),
    };
  },
};

/** The results of calls belong to the step of the agent that made them. */
function createMessages(
  { source, message, reasoning_content, tool_calls, observation }: z.infer<typeof stepSchema>,
  omit: CountOmitted,
): readonly RolloutMessage[] {
  const conversation = new ConversationBuilder(omit);
  const results = observation?.results ?? [];
  if (source === "user") conversation.addUser(formatContent(message, omit));
  if (source === "agent") {
    if (reasoning_content) omit("thought");
    conversation.addAssistant(
      formatContent(message, omit),
      (tool_calls ?? []).map(it => ({
        id: it.tool_call_id,
        name: it.function_name,
        arguments: it.arguments,
      })),
    );
  }
  // a result that names no call is that of the call in its place
  for (const it of results) {
    if (it.subagent_trajectory_ref != null) omit("agent");
    if (it.content != null)
      conversation.addResult({ id: it.source_call_id, text: formatContent(it.content, omit) });
  }
  return conversation.messages;
}
