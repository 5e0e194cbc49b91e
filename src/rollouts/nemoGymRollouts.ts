/**
 * The rollouts that NeMo Gym collects: what was asked of the Responses API, what it answered, and
 * the reward. The output has the calls and their results as items of their own.
 */
import { z } from "zod";
import { parseJsonOrText } from "../policy/chatMessages.ts";
import { contentSchema, formatContent } from "./chatRows.ts";
import { ConversationBuilder, type NamedCall } from "./conversation.ts";
import {
  type CountOmitted,
  numberSchema,
  type RolloutFormat,
  type RolloutMessage,
  taskColumns,
} from "./rollout.ts";

const itemSchema = z.looseObject({
  type: z.string().nullish(),
  role: z.string().nullish(),
  content: contentSchema,
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.json().optional(),
  output: z.union([z.string(), contentSchema]).optional(),
});
type Item = z.infer<typeof itemSchema>;

const rowSchema = z.looseObject({
  responses_create_params: z.looseObject({
    input: z.union([z.string(), z.array(itemSchema)]),
    tools: z.array(z.looseObject({ name: z.string().nullish() })).nullish(),
  }),
  response: z
    .looseObject({
      output: z.array(itemSchema),
      model: z.string().nullish(),
      error: z.json().optional(),
      incomplete_details: z.json().optional(),
    })
    .nullish(),
  reward: numberSchema,
  _ng_task_index: z.int().nullish(),
  _ng_rollout_index: z.int().nullish(),
  ...taskColumns,
});

export const nemoGym: RolloutFormat = {
  name: "nemo-gym",
  noun: "a rollout of NeMo Gym",
  writer: "NeMo Gym",
  parseRow(json, { check, omit }) {
    const row = check(rowSchema, json);
    const { input, tools } = row.responses_create_params;
    const { output = [], model, error, incomplete_details } = row.response ?? {};
    const [task, rollout] = [row._ng_task_index, row._ng_rollout_index];
    const numbered = task == null ? undefined : `${task}/rollout-${rollout ?? 0}`;
    const said: readonly Item[] =
      typeof input === "string" ? [{ role: "user", content: input }] : input;
    return {
      id: row.trajectory_id ?? row.task_id ?? numbered,
      task: row.task_id ?? undefined,
      turn: row.turn ?? undefined,
      policy: model ?? undefined,
      menu: tools?.flatMap(it => it.name ?? []),
      prompt: parseItems(said, omit),
      completion: parseItems(output, omit),
      ...(error == null
        ? incomplete_details == null
          ? {}
          : { end: { kind: "ended", by: "limit" } }
        : { end: { kind: "ended", by: "fault", fault: JSON.stringify(error) } }),
      score: row.reward ?? undefined,
    };
  },
};

const isInstruction = (role: string | null | undefined): boolean =>
  role === "system" || role === "developer";

function parseCall({ call_id, name, arguments: args }: Item): NamedCall {
  const value = typeof args === "string" ? parseJsonOrText(args) : args;
  return { id: call_id, name: name ?? "", arguments: value ?? {} };
}

/** Items of the assistant that follow each other are one message. */
function parseItems(items: readonly Item[], omit: CountOmitted): readonly RolloutMessage[] {
  const conversation = new ConversationBuilder(omit);
  let [texts, calls]: [string[], NamedCall[]] = [[], []];
  const finishMessage = (): void => {
    if (texts.length + calls.length > 0) conversation.addAssistant(texts.join("\n"), calls);
    [texts, calls] = [[], []];
  };
  for (const it of items) {
    const type = it.type ?? (it.role == null ? "" : "message");
    if (type === "function_call") calls.push(parseCall(it));
    else if (type === "reasoning") omit("thought");
    else if (type === "message" && it.role === "assistant")
      texts.push(formatContent(it.content, omit));
    else {
      finishMessage();
      if (type === "function_call_output")
        conversation.addResult({ id: it.call_id, text: formatContent(it.output, omit) });
      else if (type === "message" && it.role === "user")
        conversation.addUser(formatContent(it.content, omit));
      else if (type !== "message" || !isInstruction(it.role)) omit("item");
    }
  }
  finishMessage();
  return conversation.messages;
}
