/**
 * Documents of Harbor's Agent Trajectory Interchange Format, one in a file or one a line. An agent
 * inside an agent is not read.
 */
import { z } from "zod";
import { formatContent } from "./chatRollouts.ts";
import type { RolloutMessage } from "./rollout.ts";
import { taskColumns, type RolloutFormat } from "./rollout.ts";

const contentSchema = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().nullish() })),
]);

const stepSchema = z.looseObject({
  source: z.enum(["system", "user", "agent"]),
  message: contentSchema,
  tool_calls: z
    .array(
      z.looseObject({
        tool_call_id: z.string(),
        function_name: z.string(),
        arguments: z.record(z.string(), z.json()),
      }),
    )
    .nullish(),
  observation: z
    .looseObject({
      results: z.array(
        z.looseObject({ source_call_id: z.string().nullish(), content: contentSchema.nullish() }),
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
  parseRow(json, check) {
    const { session_id, trajectory_id, agent, steps, extra } = check(documentSchema, json);
    return {
      id: trajectory_id ?? session_id ?? undefined,
      task: extra?.task_id ?? undefined,
      turn: extra?.turn ?? undefined,
      policy: agent.model_name ?? agent.name,
      menu: agent.tool_definitions?.flatMap(it => it.function?.name ?? []),
      prompt: [],
      completion: steps.flatMap(createMessages),
    };
  },
};

function createMessages({
  source,
  message,
  tool_calls: calls,
  observation,
}: z.infer<typeof stepSchema>): readonly RolloutMessage[] {
  const text = formatParts(message);
  if (source === "system") return [];
  if (source === "user") return [{ role: "user", text }];
  const results = observation?.results ?? [];
  return [
    {
      role: "assistant",
      text,
      calls: (calls ?? []).map((it, i) => {
        // a result that names no call is that of the call in its place
        const named = results.find(result => result.source_call_id === it.tool_call_id);
        const found = named ?? (results[i]?.source_call_id == null ? results[i] : undefined);
        return {
          name: it.function_name,
          arguments: it.arguments,
          result: found?.content == null ? undefined : formatParts(found.content),
        };
      }),
    },
  ];
}

const formatParts = (content: z.infer<typeof contentSchema>): string =>
  typeof content === "string"
    ? content
    : formatContent(content.map(it => ({ type: it.type, text: it.text ?? "" })));
