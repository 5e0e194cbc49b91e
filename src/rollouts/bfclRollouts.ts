/**
 * The result files of `bfcl-eval`: one entry a line, with the calls of each turn and step, and an
 * inference log with what the user said and the calls returned.
 */
import { parseJsonOrText } from "../policy/chatMessages.ts";
import { z } from "zod";
import type { Json } from "../environment/json.ts";
import type { RolloutCall, RolloutMessage } from "./rollout.ts";
import type { RolloutFormat } from "./rollout.ts";

const callSchema = z.record(z.string(), z.json());
/** The calls of a step, or text without calls. */
const stepSchema = z.union([z.string(), z.array(callSchema), z.null()]);
type Step = z.infer<typeof stepSchema>;

const rowSchema = z.looseObject({
  id: z.string(),
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
  parseRow(json, check) {
    const { id, result, inference_log: log, traceback } = check(rowSchema, json);
    const turns = Array.isArray(log)
      ? log.flatMap(it => turnLogSchema.safeParse(it).data ?? [])
      : [];
    const fault =
      traceback !== undefined && typeof result === "string"
        ? ({ end: { kind: "ended", by: "fault", fault: result } } as const)
        : {};
    const completion =
      typeof result === "string" || !isTurnList(result)
        ? [createMessage(result, [])]
        : result.flatMap((steps, i) => createTurn(steps, turns[i]));
    return { id, prompt: [], completion: "end" in fault ? [] : completion, ...fault };
  },
};

const isTurnList = (result: readonly unknown[]): result is readonly (readonly Step[])[] =>
  result.every(it => Array.isArray(it));

type TurnLog = z.infer<typeof turnLogSchema>;

function createTurn(steps: readonly Step[], log: TurnLog | undefined): readonly RolloutMessage[] {
  const said = (log?.begin_of_turn_query ?? [])
    .filter(it => it.role === "user")
    .map(it => ({ role: "user" as const, text: it.content }));
  return [
    ...said,
    ...steps.map((step, i) => {
      const logged = stepLogSchema.safeParse(log?.[`step_${i}`]).data ?? [];
      return createMessage(
        step,
        logged.filter(it => it.role === "tool").map(it => formatResult(it.content)),
      );
    }),
  ];
}

const formatResult = (content: Json | undefined): string =>
  typeof content === "string" ? content : JSON.stringify(content ?? null);

function createMessage(step: Step, results: readonly string[]): RolloutMessage {
  if (step === null || typeof step === "string")
    return { role: "assistant", text: step ?? "", calls: [] };
  const calls = step.flatMap(it => Object.entries(it));
  return {
    role: "assistant",
    text: "",
    calls: calls.map(([name, args], i): RolloutCall => {
      const result = results[i];
      return {
        name,
        arguments: typeof args === "string" ? parseJsonOrText(args) : args,
        result,
        isError: result?.startsWith("Error during execution:") ?? false,
      };
    }),
  };
}
