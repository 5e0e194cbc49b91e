/**
 * Conversations as chat messages, with long results shortened, and chat messages as conversations;
 * and a chat model as a policy, which reads and writes them.
 */
import { listMenuTools } from "../environment/menu.ts";
import { describeTool, type ToolDescription } from "../environment/toolDescription.ts";
import type { Tool } from "../environment/server.ts";
import { getWeekdayName } from "../environment/time.ts";
import { excerptJson, resultTextBudget } from "../trajectory/excerpt.ts";
import {
  createEvents,
  type CallEvent,
  type Event,
  trajectoryFormat,
  type RecordedMessage,
  type RecordedOutcome,
} from "../trajectory/trajectory.ts";
import type { ChatAnswer, ChatMessage, ChatModel } from "./chatModel.ts";
import type { AssistantMessage, Policy, Conversation } from "./policy.ts";
import { isDeepStrictEqual } from "node:util";
import type { Catalog } from "../environment/catalog.ts";
import type { Json } from "../environment/json.ts";
import { parseExactJson } from "../storage/exactJson.ts";
import { isTooDeep } from "../storage/jsonDepth.ts";

/** Creates the policy of a chat model. Evaluation uses temperature 0, the most likely answer. */
export const createEndpointPolicy = (model: ChatModel, temperature = 0): Policy => ({
  name: `endpoint:${model.name}`,
  next: async (conversation, signal) =>
    createAssistantMessage(
      await model.complete(
        {
          messages: createChatMessages(conversation),
          tools: conversation.tools.map(describeTool),
          temperature,
        },
        signal,
      ),
    ),
});

/** The system message; `rules` are those of the task's policy, or a page that says them. */
export const formatInstructions = (now: string, rules: readonly string[] = []): string =>
  `You are an assistant that acts for the user with the tools on offer. It is ${getWeekdayName(now)}, ${now.slice(0, 10)}, ${now.slice(11)}.\n` +
  "Call a tool whenever one is needed, and look up what you do not know with the tools instead of guessing it: never make up an id. " +
  "Do what the user asks and nothing more. If something you need is missing and no tool can tell it, ask the user. " +
  "If nothing on offer can do it, say so. When you are done, answer the user in one or two sentences, without ids and without naming tools." +
  formatRules(rules);

const formatRules = (rules: readonly string[]): string => {
  if (rules.length === 0) return "";
  return rules.length === 1 && rules[0]!.startsWith(pageStart)
    ? `\n\n${rules[0]!}`
    : `\n\nThese rules hold:\n${rules.map(it => `- ${it}`).join("\n")}`;
};

/** A page of rules begins with a heading. */
const pageStart = "# ";

/** What a system message in that format says; undefined for any other text. */
function parseInstructions(
  text: string,
): { readonly now: string; readonly rules: readonly string[] } | undefined {
  const [, date, time] = /It is \w+, (\d{4}-\d\d-\d\d), (\d\d:\d\d)\./.exec(text) ?? [];
  if (date === undefined) return undefined;
  const now = `${date}T${time}`;
  const start = formatInstructions(now, [""]);
  const page = text.slice(formatInstructions(now).length + 2);
  const rules = text.startsWith(start)
    ? text.slice(start.length).split("\n- ")
    : page.startsWith(pageStart)
      ? [page]
      : [];
  return formatInstructions(now, rules) === text ? { now, rules } : undefined;
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

interface Chat {
  /** Each call has a message with its result. */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDescription[];
}

/**
 * Creates the conversation with the id. `now` counts if no system message tells the time. A system
 * message in the format of `formatInstructions` gives time and rules; any other is a rule itself.
 */
export function createConversation(
  { messages, tools }: Chat,
  { catalog, now, id }: { readonly catalog: Catalog; readonly now: string; readonly id: string },
): Conversation {
  const system = messages.flatMap(it => (it.role === "system" ? [it.content] : [])).join("\n\n");
  const known = parseInstructions(system);
  return {
    header: {
      kind: "header",
      format: trajectoryFormat,
      id,
      task: "",
      servers: [],
      catalog: "",
      seed: 0,
      menu: tools.map(it => it.name),
      policy: "",
    },
    tools: tools.map(it => findTool(it, catalog)),
    now: known?.now ?? findTime(system) ?? now,
    events: createEvents(listRecorded(messages)),
    ...(known
      ? { rules: known.rules }
      : system === ""
        ? {}
        : { rules: [system], instructions: system }),
  };
}

const findTime = (text: string): string | undefined => {
  const [, date, time] = /\b(\d{4}-\d\d-\d\d)(?:T|,? )(\d\d:\d\d)\b/.exec(text) ?? [];
  return date === undefined ? undefined : `${date}T${time}`;
};

/**
 * The tool of the catalog with that name, which also describes its result, as the client describes
 * it; or else a tool that has only what the client says.
 */
function findTool(offered: ToolDescription, catalog: Catalog): Tool {
  const { name, description, parameters } = offered;
  const tool = catalog.tools.get(name);
  if (!tool) return listMenuTools(new Map(), [{ name }], [offered])[0]!;
  return isDeepStrictEqual(describeTool(tool), { name, description, parameters })
    ? tool
    : { ...tool, summary: description, inputSchema: parameters };
}

/** The messages of users and the assistant, each call with its outcome. */
const listRecorded = (messages: readonly ChatMessage[]): RecordedMessage[] =>
  messages.flatMap((it, i): RecordedMessage[] => {
    if (it.role === "user") return [{ role: "user", text: it.content }];
    if (it.role !== "assistant") return [];
    const results = findResults(messages, i + 1);
    const calls = (it.calls ?? []).map(({ id, name, arguments: args }) => ({
      name,
      arguments: args,
      outcome: parseResult(results.get(id) ?? ""),
    }));
    return [{ role: "assistant", text: it.content, calls }];
  });

/** The results from an index on, by the ids of their calls, which later messages may use again. */
export function findResults(
  messages: readonly ChatMessage[],
  start: number,
): ReadonlyMap<string, string> {
  const results = new Map<string, string>();
  for (let i = start; messages[i]?.role === "tool"; i++) {
    const { call, content } = messages[i] as Extract<ChatMessage, { role: "tool" }>;
    results.set(call, content);
  }
  return results;
}

const faultKinds: Readonly<Record<string, "unknown-tool" | "bad-arguments" | "broken">> = {
  unknown_tool: "unknown-tool",
  "bad-arguments": "bad-arguments",
  internal: "broken",
};

/** The outcome of a call whose result was sent as this text. */
function parseResult(text: string): RecordedOutcome {
  const value = parseJsonOrText(text);
  if (value === null || typeof value !== "object" || !("error_type" in value))
    return { kind: "ok", value };
  const { error_type: type, message, hint } = value as Readonly<Record<string, Json>>;
  if (typeof type !== "string") return { kind: "ok", value };
  return {
    kind: faultKinds[type] ?? "refused",
    type,
    ...(typeof message === "string" && message !== "" ? { message } : {}),
    ...(typeof hint === "string" ? { hint } : {}),
  };
}

/** The value of a JSON text; text that is not JSON, or is nested too deeply, as it is. */
export function parseJsonOrText(text: string): Json {
  try {
    const value = parseExactJson(text) as Json;
    return isTooDeep(value, "value") ? text : value;
  } catch {
    return text;
  }
}
