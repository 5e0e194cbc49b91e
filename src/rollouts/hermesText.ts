/** Conversations as text with the Hermes syntax of calls, as Qwen models write them. */
import { readMessageText } from "../policy/callText/callText.ts";
import type { CountOmitted, RolloutCall, RolloutMessage } from "./rollout.ts";

type AssistantMessage = Extract<RolloutMessage, { role: "assistant" }>;

/** A message of the assistant. A block that is no call has the name "", as in trajectories. */
export function parseToolCallText(message: string): AssistantMessage {
  const { text, calls } = readMessageText(message.replaceAll(/<\|im_end\|>|<\|endoftext\|>/g, ""));
  return { role: "assistant", text, calls };
}

/**
 * A conversation, without the message of the system. `role` is that of a text without a heading.
 */
export function parseHermesText(
  text: string,
  role: "user" | "assistant",
  omit: CountOmitted,
): RolloutMessage[] {
  const messages: RolloutMessage[] = [];
  /** Those of the last message, if it is the assistant's, and how many have their result. */
  let calls: RolloutCall[] | undefined;
  let answered = 0;
  for (const part of splitByRole(text, role)) {
    const results = part.role === "user" && calls ? listToolResponses(part.text) : [];
    if (results.length > 0) {
      const kept = results.slice(0, calls!.length - answered);
      for (const result of kept) calls![answered] = { ...calls![answered++]!, result };
      omit("result", results.length - kept.length);
    } else if (part.role === "user") {
      messages.push({ role: "user", text: part.text.trim() });
      calls = undefined;
    } else if (part.role === "assistant") {
      const message = parseToolCallText(part.text);
      calls = [...message.calls];
      answered = 0;
      messages.push({ ...message, calls });
    }
  }
  return messages;
}

/** The texts of the closed `<tool_response>` blocks. */
export function listToolResponses(text: string): readonly string[] {
  const blocks = text.split("</tool_response>").slice(0, -1);
  return blocks.flatMap(it => {
    const start = it.indexOf("<tool_response>");
    if (start < 0) return [];
    return it.slice(start + "<tool_response>".length).replace(/^\n|\n$/g, "");
  });
}

interface Part {
  readonly role: string;
  readonly text: string;
}

/** The heading of a message with its special tokens. */
const markedHeading = /<\|im_start\|>(system|user|assistant|tool)\n/g;
/** Without them, it is a line with the role. */
const lineHeading = /(?:^|\n)(system|user|assistant|tool)\n/g;
/** In a response, nothing separates a message that the model ended from the next heading. */
const responseHeading = /(?:^|\n)?(user|tool)\n|\n(assistant)\n/g;

/** Splits at the headings of the roles. */
function splitByRole(text: string, role: "user" | "assistant"): readonly Part[] {
  const parts: Part[] = [];
  let [at, name] = [0, role as string];
  for (const match of findHeadings(text, role)) {
    parts.push({ role: name, text: removeEnd(text.slice(at, match.index)) });
    at = match.index + match[0].length;
    name = (match[1] ?? match[2])!;
  }
  // a heading at the end asks the model for its message
  parts.push({ role: name, text: removeEnd(text.slice(at)) });
  return parts
    .filter(it => it.text.trim() !== "")
    .map(it => (it.role === "tool" ? { ...it, role: "user" } : it));
}

const removeEnd = (text: string): string => text.trimEnd().replace(/<\|im_end\|>$/, "");

/**
 * The headings of a text, in time that grows with its length: a pattern that looks for what follows
 * a heading would read the rest of the text at each of them.
 */
function findHeadings(text: string, role: "user" | "assistant"): readonly RegExpExecArray[] {
  if (text.includes("<|im_start|>")) return [...text.matchAll(markedHeading)];
  if (role === "user") return [...text.matchAll(lineHeading)];
  // a word that ends in a role at the end of a line is taken for a heading if a message of the
  // assistant follows
  const lastAnswer = text.lastIndexOf("\nassistant\n");
  const headings: RegExpExecArray[] = [];
  responseHeading.lastIndex = 0;
  for (let match = responseHeading.exec(text); match; match = responseHeading.exec(text)) {
    const end = responseHeading.lastIndex;
    if (match[2] !== undefined || lastAnswer >= end || text.startsWith("<tool_response>", end))
      headings.push(match);
    else responseHeading.lastIndex = match.index + 1;
  }
  return headings;
}
