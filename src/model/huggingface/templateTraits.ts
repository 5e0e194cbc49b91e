/**
 * Finds out how a chat template behaves, by rendering small chats with it: whether it shows tools,
 * how it writes calls, and which token ends a message of the assistant.
 */
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../userError.ts";
import type { ChatTemplate } from "./chatTemplate.ts";
import type { ControlToken, HuggingFaceTokenizer } from "./tokenizer.ts";
import { detectCallSyntax, parseToolCalls, type CallSyntax } from "./toolCalls.ts";

export interface TemplateTraits {
  readonly syntax: CallSyntax;
  /** Whether the template writes several calls in one message: some refuse more than one. */
  readonly takesSeveralCalls: boolean;
  /** The token that ends a message of the assistant. */
  readonly end: ControlToken;
  /** What a rendered chat has after its message of the assistant that has the placeholder. */
  cutAfterPlaceholder(rendered: string): string;
  /** The message of the assistant that ends a rendered chat after the user's placeholder. */
  cutMessage(rendered: string, now: string): string;
}

/** A text that no chat contains. */
const placeholderText = "PROVE-PLACEHOLDER-93157";

/** Messages that stand for the earlier part of a chat while its next part is rendered. */
export const placeholder = {
  user: { role: "user", content: "question" },
  reply: { role: "assistant", content: placeholderText },
  call: {
    role: "assistant",
    content: "",
    tool_calls: [
      { type: "function", function: { name: "placeholder", arguments: { text: placeholderText } } },
    ],
  },
  tool: {
    type: "function",
    function: {
      name: "placeholder",
      description: `Description of ${placeholderText}`,
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  },
} as const;

/** A call whose syntax is recognized. Some syntaxes cannot write null, so that it has none. */
const sampleCall = {
  name: "placeholder",
  arguments: { text: 'a "b"\nc', count: 3, flag: true, list: ["é", 1.5] },
};

const nullCall = { ...sampleCall, arguments: { ...sampleCall.arguments, nothing: null } };

const remedy =
  "choose PROVE's default template with prove-rl model FOLDER --template default, or choose a model that is made for tools";

/** Throws a `UserError` if the template cannot be used for conversations with tools. */
export function inspectTemplate(
  folder: string,
  template: ChatTemplate,
  tokenizer: HuggingFaceTokenizer,
): TemplateTraits {
  const name = `the chat template of ${folder}`;
  const render = (messages: readonly object[], addGenerationPrompt: boolean, now = sampleNow) =>
    template.render({
      messages: messages as never,
      tools: [placeholder.tool],
      addGenerationPrompt,
      now,
    });
  const opening = render([{ role: "system", content: "system" }, placeholder.user], true);
  if (!opening.includes("placeholder") || !opening.includes(placeholder.tool.function.description))
    throw new UserError(`${name} does not show tools to the model`, remedy);

  const end = findEnd(folder, render([placeholder.user, placeholder.reply], false), tokenizer);
  const cutMessage = (rendered: string, now: string): string => {
    const before = render([placeholder.user], true, now);
    const stop = rendered.lastIndexOf(end.text);
    if (!rendered.startsWith(before) || stop < before.length)
      throw new UserError(
        `${name} begins a message of the assistant in another way when it is asked to generate one than in a finished chat, so that the model cannot be trained on it`,
        "choose PROVE's default template with prove-rl model FOLDER --template default, or change the template",
      );
    return rendered.slice(before.length, stop + end.text.length);
  };
  const renderCalls = (...calls: readonly object[]): string => {
    const toolCalls = calls.map(it => ({ type: "function", function: it }));
    const message = { role: "assistant", content: "", tool_calls: toolCalls };
    const cut = cutMessage(render([placeholder.user, message], false), sampleNow);
    return cut.slice(0, -end.text.length);
  };
  const syntax = detectCallSyntax(renderCalls(sampleCall));
  const isReadAgain = (call: object): boolean =>
    syntax !== undefined &&
    isDeepStrictEqual(parseToolCalls(syntax, renderCalls(call)).calls, [call]);
  if (!syntax || !isReadAgain(sampleCall) || !isReadAgain(nullCall))
    throw new UserError(`${name} writes calls in a syntax that is not supported`, remedy);
  return {
    syntax,
    takesSeveralCalls: takesSeveralCalls(
      () => parseToolCalls(syntax, renderCalls(sampleCall, sampleCall)).calls,
    ),
    end,
    cutMessage,
    cutAfterPlaceholder(rendered) {
      const at = rendered.lastIndexOf(placeholderText);
      const stop = rendered.indexOf(end.text, at);
      if (at < 0 || stop < 0)
        throw new UserError(`${name} leaves out a message of the assistant`, remedy);
      return rendered.slice(stop + end.text.length);
    },
  };
}

function takesSeveralCalls(readTwo: () => unknown): boolean {
  try {
    return isDeepStrictEqual(readTwo(), [sampleCall, sampleCall]);
  } catch (error) {
    if (error instanceof UserError) return false; // the template raises an exception
    throw error;
  }
}

const sampleNow = "2026-03-02T09:00";

/** The first special token after a message of the assistant. */
function findEnd(
  folder: string,
  rendered: string,
  { controlTokens }: HuggingFaceTokenizer,
): ControlToken {
  const after = rendered.slice(rendered.lastIndexOf(placeholderText) + placeholderText.length);
  const found = controlTokens
    .filter(it => it.isSpecial && after.includes(it.text))
    .toSorted((a, b) => after.indexOf(a.text) - after.indexOf(b.text))[0];
  if (found) return found;
  throw new UserError(
    `the chat template of ${folder} ends a message of the assistant with no special token of the tokenizer, so that the model would never stop`,
    `take template and tokenizer from the same model, or ${remedy}`,
  );
}
