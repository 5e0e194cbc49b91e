/**
 * Converts chat messages and tools to the conversation that a policy reads: the reverse of what
 * `endpointPolicy.ts` does for a chat model.
 */
import { isDeepStrictEqual } from "node:util";
import type { Catalog } from "../environment/catalog.ts";
import type { Json } from "../environment/json.ts";
import { listMenuTools } from "../environment/menu.ts";
import type { Tool } from "../environment/server.ts";
import { isTooDeep } from "../storage/jsonDepth.ts";
import {
  trajectoryFormat,
  type CallEvent,
  type Event,
  type RecordedOutcome,
} from "../trajectory/trajectory.ts";
import type { ChatMessage, ChatTool } from "./chatModel.ts";
import { createChatTool, parseInstructions } from "./endpointPolicy.ts";
import type { Conversation } from "./policy.ts";

export interface Chat {
  /** Each call has a message with its result. */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
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
    events: createEvents(messages),
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
function findTool(offered: ChatTool, catalog: Catalog): Tool {
  const { name, description, parameters } = offered;
  const tool = catalog.tools.get(name);
  if (!tool) return listMenuTools(new Map(), [{ name }], [offered])[0]!;
  return isDeepStrictEqual(createChatTool(tool), { name, description, parameters })
    ? tool
    : { ...tool, summary: description, inputSchema: parameters };
}

function createEvents(messages: readonly ChatMessage[]): readonly Event[] {
  const events: Event[] = [];
  let count = 0;
  for (const [i, it] of messages.entries()) {
    if (it.role === "user") events.push({ kind: "user", text: it.content });
    if (it.role !== "assistant") continue;
    const message = count++;
    events.push({ kind: "assistant", message, text: it.content });
    const results = findResults(messages, i + 1);
    for (const call of it.calls ?? [])
      events.push({
        kind: "call",
        message,
        name: call.name,
        arguments: call.arguments,
        outcome: parseResult(results.get(call.id) ?? ""),
        digest: "",
      } satisfies CallEvent);
  }
  return events;
}

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
  const value = parseOrText(text);
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

function parseOrText(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return isTooDeep(value, "value") ? text : value;
  } catch {
    return text;
  }
}
