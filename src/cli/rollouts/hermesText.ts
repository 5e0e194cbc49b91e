/**
 * Conversations as text in the Hermes format of Qwen models, with calls in `<tool_call>` blocks.
 * Special tokens such as `<|im_start|>` may have been removed, as verl does when it writes
 * rollouts.
 */
import { isJsonObject, type Json } from "../../environment/json.ts";
import { parseJsonOrText, type RolloutCall, type RolloutMessage } from "./rollout.ts";

const callBlock = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g;
const resultBlock = /<tool_response>\n?([\s\S]*?)\n?<\/tool_response>/g;
const thinking = /^\s*<think>[\s\S]*?(?:<\/think>|$)/;

/** A message of the assistant. A block that is no call has the name "", as in trajectories. */
export function parseToolCallText(text: string): RolloutMessage {
  const shown = text.replace(thinking, "").replaceAll(/<\|im_end\|>|<\|endoftext\|>/g, "");
  const calls = [...shown.matchAll(callBlock)].map(it => parseCall(it[1]!.trim()));
  return { role: "assistant", text: shown.replaceAll(callBlock, "").trim(), calls };
}

function parseCall(text: string): RolloutCall {
  const json = parseJsonOrText(text);
  const { name, arguments: args } = (isJsonObject(json) ? json : {}) as Record<string, Json>;
  if (typeof name !== "string") return { name: "", arguments: { unparsed: text } };
  return { name, arguments: args ?? {} };
}

/** A conversation, without the message of the system. `role` is that of a text without a heading. */
export function parseHermesText(text: string, role: "user" | "assistant"): RolloutMessage[] {
  const messages: RolloutMessage[] = [];
  for (const part of splitByRole(text, role)) {
    const results = [...part.text.matchAll(resultBlock)].map(it => it[1]!);
    const last = messages.at(-1);
    if (part.role === "user" && results.length > 0 && last?.role === "assistant")
      messages[messages.length - 1] = addResults(last, results);
    else if (part.role === "user") messages.push({ role: "user", text: part.text.trim() });
    else if (part.role === "assistant") messages.push(parseToolCallText(part.text));
  }
  return messages;
}

interface Part {
  readonly role: string;
  readonly text: string;
}

/** The heading of a message with its special tokens. */
const markedHeading = /(?:<\|im_end\|>)?\s*<\|im_start\|>(system|user|assistant|tool)\n/;
/** Without them, it is a line with the role. */
const lineHeading = /(?:^|\n)(system|user|assistant|tool)\n/;
/**
 * In a response, nothing separates a message that the model ended from the next heading. A word
 * that ends in a role at the end of a line is taken for one if a message of the assistant follows.
 */
const responseHeading =
  /(?:^|\n)?(user|tool)\n(?=<tool_response>|[\s\S]*?\nassistant\n)|\n(assistant)\n/;

/** Splits at the headings of the roles. */
function splitByRole(text: string, role: "user" | "assistant"): readonly Part[] {
  const heading = text.includes("<|im_start|>")
    ? markedHeading
    : role === "user"
      ? lineHeading
      : responseHeading;
  const parts: Part[] = [];
  let [at, name] = [0, role as string];
  for (const match of text.matchAll(new RegExp(heading, "g"))) {
    parts.push({ role: name, text: text.slice(at, match.index) });
    at = match.index + match[0].length;
    name = (match[1] ?? match[2])!;
  }
  // a heading at the end asks the model for its message
  parts.push({ role: name, text: text.slice(at) });
  return parts
    .filter(it => it.text.trim() !== "")
    .map(it => (it.role === "tool" ? { ...it, role: "user" } : it));
}

function addResults(message: RolloutMessage, results: readonly string[]): RolloutMessage {
  if (message.role !== "assistant") return message;
  return { ...message, calls: message.calls.map((it, i) => ({ ...it, result: results[i] })) };
}
