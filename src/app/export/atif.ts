/**
 * A teacher's trajectory as a document of Harbor's Agent Trajectory Interchange Format. The fields
 * are those that Harbor's own models check (`harbor.models.trajectories`).
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { JsonObject } from "../../environment/json.ts";
import { listMenuTools } from "../../environment/menu.ts";
import { formatChatMessage } from "../../policy/endpointFormat.ts";
import { createChatMessages } from "../../policy/chatMessages.ts";
import { createRules } from "../../policy/policy.ts";
import { formatTool } from "../../service/servedAttempt.ts";
import { listOfferedItems, type Task } from "../../trajectory/task.ts";
import { version } from "../../version.ts";
import { listToolCalls, parseArguments } from "./chats.ts";

const schemaVersion = "ATIF-v1.7";

const sources = { system: "system", user: "user", assistant: "agent" } as const;

/** The document of a task's teacher. */
export function createAtifTrajectory(task: Task, catalog: Catalog): JsonObject {
  const { header, events } = task.trajectory;
  const messages = createChatMessages({ now: task.now, events, ...createRules(task) });
  const steps = createSteps(messages.map(it => parseArguments(formatChatMessage(it))));
  return {
    schema_version: schemaVersion,
    session_id: header.id,
    trajectory_id: header.id,
    agent: {
      name: "prove-rl",
      version,
      tool_definitions: listMenuTools(catalog.tools, listOfferedItems(task), task.tools).map(
        formatTool,
      ),
      extra: { teacher: task.provenance.teacher },
    },
    steps,
    final_metrics: { total_steps: steps.length },
    extra: {
      task_id: task.id,
      split: task.split,
      kind: task.kind,
      servers: task.servers.map(it => it.name),
      seed: task.seed,
    },
  };
}

/** The results of calls belong to the step of the agent that made them. */
function createSteps(messages: readonly JsonObject[]): JsonObject[] {
  const results = new Map(
    messages.filter(it => it["role"] === "tool").map(it => [it["tool_call_id"], it["content"]!]),
  );
  return messages
    .filter(it => it["role"] !== "tool")
    .map((message, i) => {
      const calls = listToolCalls(message);
      return {
        step_id: i + 1,
        source: sources[message["role"] as keyof typeof sources],
        message: message["content"]!,
        ...(calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(it => ({
                tool_call_id: it.id,
                function_name: it.function.name,
                arguments: it.function.arguments,
              })),
              observation: {
                results: calls.map(it => ({
                  source_call_id: it.id,
                  content: results.get(it.id)!,
                })),
              },
            }),
      };
    });
}
