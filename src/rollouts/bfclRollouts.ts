/**
 * The result files of `bfcl-eval`: one entry a line, with the calls of each turn and step, and an
 * inference log with what the user said and the calls returned. Models that are prompted for calls
 * write them in Python's syntax.
 */
import { parseJsonOrText } from "../policy/chatMessages.ts";
import { z } from "zod";
import type { Json } from "../environment/json.ts";
import { ConversationBuilder } from "./conversation.ts";
import { parsePythonCalls } from "./pythonCalls.ts";
import type { RolloutFormat } from "./rollout.ts";

const callSchema = z.record(z.string(), z.json());
/** The calls of a step, or text without calls. */
const stepSchema = z.union([z.string(), z.array(callSchema), z.null()]);
type Step = z.infer<typeof stepSchema>;

const rowSchema = z.looseObject({
  id: z.string().optional(),
  // instead of the id in files of 2024
  idx: z.int().optional(),
  // turns of steps, the calls of one message, or its text, which is also that of a failed request
  result: z.union([z.array(z.array(stepSchema)), z.array(callSchema), z.string()]),
  inference_log: z.union([z.array(z.json()), z.string()]).nullish(),
  traceback: z.string().optional(),
});

const turnLogSchema = z
  .looseObject({
    begin_of_turn_query: z.array(z.looseObject({ role: z.string(), content: z.string() })),
  })
  .catchall(z.json());
const stepLogSchema = z.array(z.looseObject({ role: z.string(), content: z.json().optional() }));

export const bfcl: RolloutFormat = {
  name: "bfcl",
  noun: "an entry of a BFCL result file",
  writer: "bfcl-eval",
  parseRow(json, { check, omit }) {
    const row = check(rowSchema, json);
    const { result, inference_log: log, traceback } = row;
    const id = row.id ?? (row.idx === undefined ? undefined : String(row.idx));
    if (traceback !== undefined && typeof result === "string")
      return { id, prompt: [], completion: [], end: { kind: "ended", by: "fault", fault: result } };
    const turns = Array.isArray(log)
      ? log.flatMap(it => turnLogSchema.safeParse(it).data ?? [])
      : [];
    const conversation = new ConversationBuilder(omit);
    if (typeof result === "string" || !isTurnList(result)) addStep(conversation, result);
    else for (const [i, steps] of result.entries()) addTurn(conversation, steps, turns[i]);
    return { id, prompt: [], completion: conversation.messages };
  },
};

const isTurnList = (result: readonly unknown[]): result is readonly (readonly Step[])[] =>
  result.every(it => Array.isArray(it));

type TurnLog = z.infer<typeof turnLogSchema>;

function addTurn(
  conversation: ConversationBuilder,
  steps: readonly Step[],
  log: TurnLog | undefined,
): void {
  for (const it of log?.begin_of_turn_query ?? [])
    if (it.role === "user") conversation.addUser(it.content);
  for (const [i, step] of steps.entries()) {
    addStep(conversation, step);
    for (const it of stepLogSchema.safeParse(log?.[`step_${i}`]).data ?? [])
      if (it.role === "tool") {
        const text = formatResult(it.content);
        conversation.addResult({ text, isError: text.startsWith("Error during execution:") });
      }
  }
}

const formatResult = (content: Json | undefined): string =>
  typeof content === "string" ? content : JSON.stringify(content ?? null);

function addStep(conversation: ConversationBuilder, step: Step): void {
  const text = typeof step === "string" ? step : "";
  const parsed = parsePythonCalls(text);
  const calls = Array.isArray(step) ? step.flatMap(it => Object.entries(it)) : [];
  conversation.addAssistant(parsed ? "" : text, [
    ...(parsed ?? []),
    ...calls.map(([name, args]) => ({
      name,
      arguments: typeof args === "string" ? parseJsonOrText(args) : args,
    })),
  ]);
}
