/**
 * A chat model as a policy: converts a conversation to chat messages, with long results shortened,
 * and the model's answer to a message of the assistant.
 */
import { toModelSchema } from "../environment/modelSchema.ts";
import type { Tool } from "../environment/server.ts";
import { getWeekdayName } from "../environment/time.ts";
import { excerptJson, resultTextBudget } from "../trajectory/excerpt.ts";
import type { CallEvent, Event } from "../trajectory/trajectory.ts";
import type { ChatAnswer, ChatMessage, ChatModel, ChatTool } from "./chatModel.ts";
import type { AssistantMessage, Policy, Conversation } from "./policy.ts";

/** Creates the policy of a chat model. Evaluation uses temperature 0, the most likely answer. */
export const createEndpointPolicy = (model: ChatModel, temperature = 0): Policy => ({
  name: `endpoint:${model.name}`,
  next: async (conversation, signal) =>
    createAssistantMessage(
      await model.complete(
        {
          messages: createChatMessages(conversation),
          tools: conversation.tools.map(createChatTool),
          temperature,
        },
        signal,
      ),
    ),
});

/** The system message; `rules` are those of the task's policy. */
export const formatInstructions = (now: string, rules: readonly string[] = []): string =>
  `You are an assistant that acts for the user with the tools on offer. It is ${getWeekdayName(now)}, ${now.slice(0, 10)}, ${now.slice(11)}.\n` +
  "Call a tool whenever one is needed, and look up what you do not know with the tools instead of guessing it: never make up an id. " +
  "Do what the user asks and nothing more. If something you need is missing and no tool can tell it, ask the user. " +
  "If nothing on offer can do it, say so. When you are done, answer the user in one or two sentences, without ids and without naming tools." +
  (rules.length === 0 ? "" : `\n\nThese rules hold:\n${rules.map(it => `- ${it}`).join("\n")}`);

/** What a system message in that format says; undefined for any other text. */
export function parseInstructions(
  text: string,
): { readonly now: string; readonly rules: readonly string[] } | undefined {
  const [, date, time] = /It is \w+, (\d{4}-\d\d-\d\d), (\d\d:\d\d)\./.exec(text) ?? [];
  if (date === undefined) return undefined;
  const now = `${date}T${time}`;
  const start = formatInstructions(now, [""]);
  const rules = text.startsWith(start) ? text.slice(start.length).split("\n- ") : [];
  return formatInstructions(now, rules) === text ? { now, rules } : undefined;
}

const chatTools = new WeakMap<object, ChatTool>();

/** A tool as models read it: the same object each time. */
export function createChatTool(tool: Pick<Tool, "name" | "summary" | "inputSchema">): ChatTool {
  let created = chatTools.get(tool);
  if (!created) {
    const { name, summary, inputSchema } = tool;
    created = { name, description: summary, parameters: toModelSchema(inputSchema) };
    chatTools.set(tool, created);
  }
  return created;
}

/** The conversation so far, beginning with the system message. */
export function createChatMessages({
  now,
  events,
  rules,
  instructions = formatInstructions(now, rules),
}: Pick<Conversation, "now" | "events" | "rules" | "instructions">): ChatMessage[] {
  const messages: ChatMessage[] = [{ role: "system", content: instructions }];
  for (const [i, event] of events.entries()) {
    if (event.kind === "user") messages.push({ role: "user", content: event.text });
    if (event.kind === "call")
      messages.push({ role: "tool", call: formatCallId(i), content: formatResult(event) });
    if (event.kind === "assistant") {
      const calls = findCalls(events, event.message).map(([at, it]) => ({
        id: formatCallId(at),
        name: it.name,
        arguments: it.arguments,
      }));
      messages.push({
        role: "assistant",
        content: event.text,
        ...(calls.length > 0 ? { calls } : {}),
      });
    }
  }
  return messages;
}

export const createAssistantMessage = ({ text, calls, cut }: ChatAnswer): AssistantMessage => ({
  text,
  calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
  ...(cut ? { cut } : {}),
});

const findCalls = (events: readonly Event[], message: number): (readonly [number, CallEvent])[] =>
  events.flatMap((it, at) =>
    it.kind === "call" && it.message === message ? [[at, it] as const] : [],
  );

/** Nine letters and digits, a format that every endpoint accepts as a call's id. */
const formatCallId = (at: number): string => `call${String(at).padStart(5, "0")}`;

/** The result of a call, or why it failed, as a policy reads it, in so many characters. */
export function formatResult(
  { outcome }: Pick<CallEvent, "outcome">,
  budget = resultTextBudget,
): string {
  if (outcome.kind === "ok") return excerptJson(outcome.value, budget).text;
  const { kind, type, message, hint } = outcome;
  const fault = {
    error_type: type ?? kind,
    message: message ?? "",
    ...(hint === undefined ? {} : { hint }),
  };
  return excerptJson(fault, budget).text;
}
