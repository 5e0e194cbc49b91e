/**
 * The simulations in tau2-bench's result files. Calls that the simulated user makes on its own
 * device are not the agent's and are left out.
 */
import { z } from "zod";
import type { RolloutMessage } from "./rollout.ts";
import { type CheckRow, numberSchema, type RolloutFormat } from "./rollout.ts";

const requestor = z.enum(["user", "assistant"]).default("assistant");
const callsSchema = z
  .array(
    z.looseObject({
      id: z.string().default(""),
      name: z.string(),
      arguments: z.record(z.string(), z.json()),
      requestor,
    }),
  )
  .nullish();

const toolMessageSchema = z.looseObject({
  role: z.literal("tool"),
  id: z.string(),
  content: z.string().nullish(),
  requestor,
  error: z.boolean().default(false),
});

const messageSchema = z.union([
  z.looseObject({ role: z.literal("system") }),
  z.looseObject({
    role: z.enum(["user", "assistant"]),
    content: z.string().nullish(),
    tool_calls: callsSchema,
  }),
  // the results of several calls at once
  z.looseObject({ role: z.literal("tool"), tool_messages: z.array(toolMessageSchema) }),
  toolMessageSchema,
]);

/** What the user and the agent say, and the agent's calls with their results. */
function parseToolMessages(rows: readonly unknown[], check: CheckRow): readonly RolloutMessage[] {
  const messages: z.infer<typeof messageSchema>[] = rows.map(it => check(messageSchema, it));
  const results = new Map<string, z.infer<typeof toolMessageSchema>>();
  for (const it of messages)
    if (it.role === "tool")
      for (const result of "tool_messages" in it
        ? (it.tool_messages as readonly z.infer<typeof toolMessageSchema>[])
        : [it])
        if (result.requestor === "assistant") results.set(result.id, result);
  return messages.flatMap((it): RolloutMessage[] => {
    if (it.role !== "user" && it.role !== "assistant") return [];
    const text = typeof it.content === "string" ? it.content : "";
    if (it.role === "user") return text === "" ? [] : [{ role: "user", text }];
    const calls = it.tool_calls ?? [];
    return [
      {
        role: "assistant",
        text,
        calls: calls.map(call => {
          const result = results.get(call.id);
          return {
            name: call.name,
            arguments: call.arguments,
            result: result?.content ?? undefined,
            isError: result?.error ?? false,
          };
        }),
      },
    ];
  });
}

const simulationSchema = z.looseObject({
  id: z.string(),
  task_id: z.string(),
  trial: z.int().nullish(),
  termination_reason: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })),
  reward_info: z
    .looseObject({
      reward: numberSchema,
      reward_breakdown: z.record(z.string(), numberSchema).nullish(),
    })
    .nullish(),
});

/** Who ended the conversation, in tau2's words; every other reason is a limit or an error. */
const ownEnds = new Set(["user_stop", "agent_stop"]);
const limits = new Set(["max_steps", "context_window_exceeded"]);

export const tau2: RolloutFormat = {
  name: "tau2",
  noun: "a simulation of tau2-bench",
  writer: "tau2",
  listKey: "simulations",
  parseRow(json, check) {
    const { task_id, trial, termination_reason: reason, ...row } = check(simulationSchema, json);
    const broken = Object.entries(row.reward_info?.reward_breakdown ?? {}).flatMap(([key, it]) =>
      it != null && it < 1 ? [`${key} ${it}`] : [],
    );
    return {
      id: `${task_id}/trial-${trial ?? 0}`,
      prompt: [],
      completion: parseToolMessages(row.messages, check),
      end: ownEnds.has(reason)
        ? { kind: "ended", by: "policy" }
        : limits.has(reason)
          ? { kind: "ended", by: "limit" }
          : { kind: "ended", by: "fault", fault: reason },
      score: row.reward_info?.reward ?? undefined,
      ...(broken.length === 0 ? {} : { why: broken.join(", ") }),
    };
  },
};
