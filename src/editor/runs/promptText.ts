/**
 * What a model saw of an attempt, as text: the prompt and the tokens of its messages as the model
 * reads them, or the chat messages that an endpoint gets.
 */
import { describeTool } from "../../environment/toolDescription.ts";
import { createChatMessages } from "../../policy/chatMessages.ts";
import { formatChatMessage, formatChatTool } from "../../policy/endpointFormat.ts";
import type { Conversation } from "../../policy/policy.ts";
import type { ModelReading, ReadingPart, ReadToken } from "../../protocol/work.ts";
import { escapeInvisible, splitVisibleLines } from "../../trajectory/invisibleText.ts";
import { countGivenEvents } from "../../trajectory/oneTurn.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { formatCount } from "../shared/text.ts";

/** What a training did with the sampled tokens of an attempt. */
export interface TokenTraining {
  readonly advantage: number;
  /** The positions, among all sampled tokens of the attempt, whose ratio was clipped. */
  readonly clipped: readonly number[];
}

export interface PromptHead {
  readonly trajectory: Trajectory;
  /** Lines about the attempt, and about what reads it. */
  readonly notes: readonly string[];
}

/** The attempt in the tokens of a model. */
export function formatReading(
  head: PromptHead,
  reading: ModelReading,
  training?: TokenTraining,
): string {
  const { name, kind, context, parts, note } = reading;
  const model = kind === "student" ? "a small student" : "a Hugging Face model";
  const read = parts.reduce((sum, it) => sum + countTokens(it), 0);
  const written = parts
    .filter(it => it.kind === "message")
    .reduce((sum, it) => sum + it.tokens.length, 0);
  let position = 0;
  const sections = parts.flatMap((part, i) => {
    if (part.kind === "given") return formatGiven(part, i === 0, kind);
    const own = part.tokens.map((_, t) => describeTraining(position + t, training));
    position += part.tokens.length;
    return formatMessage(part, own);
  });
  return join([
    ...formatHead(head),
    `as ${name} reads it, ${model} with ${formatCount(context, "token")} of context`,
    `${formatCount(read, "token")} in all, of which ${written} are the policy's`,
    ...describeStep(training),
    ...(note === undefined ? [] : [`note: ${note}`]),
    ...sections,
  ]);
}

const countTokens = (part: ReadingPart): number =>
  part.kind === "given" ? part.tokens : part.tokens.length;

const describeStep = (training: TokenTraining | undefined): readonly string[] =>
  training === undefined
    ? []
    : training.advantage === 0
      ? ["the advantage is 0, so that no token of this attempt had a gradient"]
      : [`advantage ${formatDecimal(training.advantage)}`];

/** What a token did in training, where it is known. */
function describeTraining(position: number, training: TokenTraining | undefined): string {
  if (training === undefined) return "";
  if (training.advantage === 0) return "no gradient";
  return training.clipped.includes(position) ? "clipped" : "trained on";
}

function formatGiven(
  { text, tokens }: Extract<ReadingPart, { kind: "given" }>,
  isPrompt: boolean,
  kind: ModelReading["kind"],
): readonly string[] {
  // a student's prompt has no line breaks
  const shown =
    kind === "student" ? text.replaceAll(/(?!^)<(?:menu|user|res|asst)>/g, "\n$&") : text;
  return [
    "",
    `${isPrompt ? "PROMPT" : "APPENDED"} · ${formatCount(tokens, "token")}, masked: not trained on`,
    ...quote(shown),
  ];
}

const origins = {
  recorded: "as recorded when the tokens were sampled",
  computed: "computed anew by this model",
} as const;

function formatMessage(
  { message, isRecorded, logprobs, tokens }: Extract<ReadingPart, { kind: "message" }>,
  training: readonly string[],
): readonly string[] {
  const sum = tokens.reduce((total, it) => total + (it.logprob ?? 0), 0);
  const origin = isRecorded ? "sampled" : "not sampled by this model: encoded from the text";
  return [
    "",
    `MESSAGE ${message + 1} · ${formatCount(tokens.length, "token")}, ${origin}`,
    logprobs === undefined
      ? "  log-probabilities are neither recorded nor computed"
      : `  log-probabilities ${origins[logprobs]}, in sum ${formatLog(sum)}`,
    ...(tokens.length === 0 ? [] : ["    log-prob       p        id  token"]),
    ...tokens.map((it, i) => formatToken(it, training[i]!)),
  ];
}

function formatToken({ id, text, logprob }: ReadToken, training: string): string {
  const [log, p] =
    logprob === undefined
      ? ["–", "–"]
      : [formatLog(logprob), `${(100 * Math.exp(logprob)).toFixed(1)}%`];
  const shown = escapeInvisible(JSON.stringify(text));
  const line = `${log.padStart(12)} ${p.padStart(7)} ${String(id).padStart(9)}  ${shown}`;
  return training === "" || training === "trained on" ? line : `${line}   ${training}`;
}

/** The attempt as the chat messages that an endpoint gets. `why`: no model reads it as tokens. */
export function formatChat(head: PromptHead, conversation: Conversation, why: string): string {
  const { events, tools } = conversation;
  const messages = createChatMessages(conversation);
  const given = countGivenEvents(conversation);
  const givenMessages = events.slice(0, given).filter(it => it.kind === "assistant").length;
  let message = 0;
  const sections = messages.flatMap(it => {
    const title =
      it.role === "assistant"
        ? `ASSISTANT, MESSAGE ${message + 1}${message++ < givenMessages ? ", the teacher's" : ""}`
        : titles[it.role];
    const { content, tool_calls: calls } = formatChatMessage(it) as {
      readonly content: string;
      readonly tool_calls?: readonly unknown[];
    };
    return [
      "",
      title,
      ...(content === "" ? [] : quote(content)),
      ...(calls ?? []).flatMap(call => quote(JSON.stringify(call))),
      ...(it.role === "system"
        ? ["", `TOOLS · ${tools.length}, as JSON`, ...tools.flatMap(formatTool)]
        : []),
    ];
  });
  return join([...formatHead(head), why, ...describeRecordedTokens(head.trajectory), ...sections]);
}

const titles = { system: "SYSTEM MESSAGE", user: "USER", tool: "RESULT OF A CALL" } as const;

const formatTool = (tool: Conversation["tools"][number]): readonly string[] =>
  quote(JSON.stringify(formatChatTool(describeTool(tool))));

/** What is known of the tokens without a tokenizer. */
function describeRecordedTokens({ events }: Trajectory): readonly string[] {
  const messages = events.flatMap(it => (it.kind === "assistant" && it.tokens ? [it] : []));
  if (messages.length === 0) return [];
  return [
    "recorded tokens of the policy's messages, whose texts need the tokenizer:",
    ...messages.map(({ message, tokens, logprobs }) => {
      const sum = logprobs?.reduce((total, it) => total + it, 0);
      return `  message ${message + 1}: ${formatCount(tokens!.length, "token")}${sum === undefined ? "" : `, log-probabilities in sum ${formatLog(sum)}`}`;
    }),
  ];
}

const formatHead = ({ trajectory: { header }, notes }: PromptHead): readonly string[] => [
  escapeInvisible(`what the model saw in ${header.id} · by ${header.policy}`),
  ...notes.map(escapeInvisible),
];

/** Text from outside, which a margin tells from what this program says about it. */
const quote = (text: string): readonly string[] => splitVisibleLines(text).map(it => `│ ${it}`);

const formatLog = (it: number): string => it.toFixed(3).replace(/^-(?=0\.000$)/, "");

const formatDecimal = (it: number): string => String(Number(it.toFixed(4)));

const join = (lines: readonly string[]): string => `${lines.join("\n")}\n`;
