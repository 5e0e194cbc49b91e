/**
 * The simulations in tau2-bench's result files, or in its folders with a file for each. Calls that
 * the simulated user makes on its own device are not the agent's and are left out.
 */
import { z } from "zod";
import { isRecord } from "./chatRows.ts";
import { ConversationBuilder } from "./conversation.ts";
import {
  argumentsSchema,
  numberSchema,
  type RolloutFormat,
  type RolloutMessage,
  type RowReader,
} from "./rollout.ts";

const requestor = z.enum(["user", "assistant"]).default("assistant");
const callsSchema = z
  .array(
    z.looseObject({
      id: z.string().nullish(),
      name: z.string(),
      arguments: argumentsSchema,
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

/** The results of several calls at once. */
const resultsSchema = z.looseObject({
  role: z.literal("tool"),
  tool_messages: z.array(toolMessageSchema),
});

const messageSchema = z.union([
  z.looseObject({ role: z.literal("system") }),
  z.looseObject({
    role: z.enum(["user", "assistant"]),
    content: z.string().nullish(),
    tool_calls: callsSchema,
  }),
  resultsSchema,
  toolMessageSchema,
]);

type ToolMessage = z.infer<typeof toolMessageSchema>;

const listResults = (
  message: z.infer<typeof resultsSchema> | ToolMessage,
): readonly ToolMessage[] =>
  Array.isArray(message["tool_messages"])
    ? (message["tool_messages"] as readonly ToolMessage[])
    : [message as ToolMessage];

/** What the user and the agent say, and the agent's calls with their results. */
function parseMessages(
  rows: readonly z.infer<typeof messageSchema>[],
  { omit }: Pick<RowReader, "omit">,
): readonly RolloutMessage[] {
  const conversation = new ConversationBuilder(omit);
  for (const it of rows)
    if (it.role === "assistant") conversation.addAssistant(it.content ?? "", it.tool_calls ?? []);
    else if (it.role === "user") {
      omit("userCall", it.tool_calls?.length ?? 0);
      if (it.content) conversation.addUser(it.content);
    } else if (it.role === "tool")
      for (const result of listResults(it))
        if (result.requestor === "assistant")
          conversation.addResult({
            id: result.id,
            text: result.content ?? "",
            isError: result.error,
          });
  return conversation.messages;
}

const simulationSchema = z.looseObject({
  task_id: z.coerce.string(),
  trial: z.int().nullish(),
  termination_reason: z.string(),
  messages: z.array(messageSchema),
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
  rowFolder: "simulations",
  parseRow(json, reader) {
    if (isRecord(json) && json["messages"] == null && Array.isArray(json["ticks"]))
      return reader.skip("is a simulation by voice, which has no messages,");
    const {
      task_id,
      trial,
      termination_reason: reason,
      ...row
    } = reader.check(simulationSchema, json);
    const broken = Object.entries(row.reward_info?.reward_breakdown ?? {}).flatMap(([key, it]) =>
      it != null && it < 1 ? [`${key} ${it}`] : [],
    );
    return {
      id: `${task_id}/trial-${trial ?? 0}`,
      prompt: [],
      completion: parseMessages(row.messages, reader),
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
