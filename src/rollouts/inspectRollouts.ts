/** The samples of Inspect AI's logs, in its JSON format and in archives (`.eval`). */
import { z } from "zod";
import { contentSchema, formatContent } from "./chatRows.ts";
import { ConversationBuilder } from "./conversation.ts";
import {
  argumentsSchema,
  numberSchema,
  type CountOmitted,
  taskColumns,
  toNumber,
  type RolloutFormat,
  type RolloutMessage,
} from "./rollout.ts";

const messageSchema = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: contentSchema }),
  z.looseObject({ role: z.literal("user"), content: contentSchema }),
  z.looseObject({
    role: z.literal("assistant"),
    content: contentSchema,
    model: z.string().nullish(),
    tool_calls: z
      .array(
        z.looseObject({
          id: z.string(),
          function: z.string(),
          arguments: argumentsSchema,
        }),
      )
      .nullish(),
  }),
  z.looseObject({
    role: z.literal("tool"),
    content: contentSchema,
    tool_call_id: z.string().nullish(),
    error: z.looseObject({ type: z.string(), message: z.string() }).nullish(),
  }),
]);
type Message = z.infer<typeof messageSchema>;

const sampleSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  epoch: z.preprocess(toNumber, z.number()),
  messages: z.array(messageSchema),
  scores: z
    .record(z.string(), z.looseObject({ value: z.json(), explanation: z.string().nullish() }))
    .nullish(),
  attachments: z.record(z.string(), z.string()).nullish(),
  metadata: z.looseObject(taskColumns).nullish(),
  error: z.looseObject({ message: z.string() }).nullish(),
  limit: z.looseObject({ type: z.string() }).nullish(),
});

export const inspect: RolloutFormat = {
  name: "inspect",
  noun: "a sample of an Inspect AI log",
  writer: "inspect_ai",
  listKey: "samples",
  archivedRows: /^samples\/.*\.json$/,
  parseRow(json, { check, omit }) {
    // the heading of a log without samples
    if (json !== null && typeof json === "object" && "eval" in json) return undefined;
    const sample = check(sampleSchema, json);
    const { id, epoch, messages, metadata, error, limit } = sample;
    const [score] = Object.values(sample.scores ?? {});
    return {
      id: metadata?.trajectory_id ?? `${id}/epoch-${epoch}`,
      task: metadata?.task_id ?? undefined,
      turn: metadata?.turn ?? undefined,
      policy: messages.flatMap(it => (it.role === "assistant" ? (it.model ?? []) : [])).at(-1),
      prompt: [],
      completion: createMessages(messages, sample.attachments ?? {}, omit),
      ...(error ? { end: { kind: "ended", by: "fault", fault: error.message } } : {}),
      ...(limit ? { end: { kind: "ended", by: "limit" } } : {}),
      score: parseGrade(score?.value),
      why: score?.explanation ?? undefined,
    };
  },
};

/** Inspect's grades are letters: correct, partially correct, incorrect, no answer. */
const grades: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 };

function parseGrade(value: unknown): number | undefined {
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "string" && Object.hasOwn(grades, value)) return grades[value];
  return numberSchema.safeParse(value).data ?? undefined;
}

function createMessages(
  messages: readonly Message[],
  attachments: Readonly<Record<string, string>>,
  omit: CountOmitted,
): readonly RolloutMessage[] {
  const read = (content: z.infer<typeof contentSchema>): string => {
    const text = formatContent(content, omit);
    const [, hash] = /^attachment:\/\/(\w+)$/.exec(text) ?? [];
    return hash === undefined ? text : (attachments[hash] ?? text);
  };
  const conversation = new ConversationBuilder(omit);
  for (const it of messages)
    if (it.role === "user") conversation.addUser(read(it.content));
    else if (it.role === "assistant")
      conversation.addAssistant(
        read(it.content),
        (it.tool_calls ?? []).map(({ id, function: name, arguments: args }) => {
          return { id, name, arguments: args };
        }),
      );
    else if (it.role === "tool")
      conversation.addResult({
        id: it.tool_call_id,
        text: it.error?.message ?? read(it.content),
        isError: it.error != null,
      });
  return conversation.messages;
}
