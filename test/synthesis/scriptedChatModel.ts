/**
 * A scripted chat model for both roles of a conversation. As the user it repeats the plain wording
 * of the turn; as the assistant it looks up the ids that it lacks and makes the requested calls. It
 * uses only what its requests contain.
 */
import type { Json, JsonObject } from "../../src/environment/json.ts";
import { callsFor, says, type ChatBody, type Reply } from "../policy/chatServer.ts";

interface Want {
  readonly does: string;
  readonly say: Readonly<Record<string, { readonly means?: Json; readonly words?: string }>>;
  readonly if_refused?: Want;
}

/** The part of a turn prompt that the model uses. */
interface TurnPrompt {
  readonly plain: string;
  readonly wants: readonly Want[];
  readonly leave_out?: string;
}

type Message = ChatBody["messages"][number];

interface CompletedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly result: JsonObject;
}

/** Parses the prompt for a user turn; undefined if the request is for the assistant. */
export function parseTurnPrompt({ messages, tools }: ChatBody): TurnPrompt | undefined {
  if (tools !== undefined) return undefined;
  const text = messages.find(it => it.role === "user")!.content;
  // the schema follows the JSON if the endpoint does not support structured output
  return JSON.parse(text.split("\n\nAnswer with")[0]!) as TurnPrompt;
}

export function createScriptedModel(): (body: ChatBody) => Reply {
  const promptsByText = new Map<string, TurnPrompt>();
  return body => {
    const prompt = parseTurnPrompt(body);
    if (prompt) {
      promptsByText.set(prompt.plain.trim(), prompt);
      return says(JSON.stringify({ text: prompt.plain }));
    }
    const turnStart = body.messages.findLastIndex(
      it => it.role === "user" && !it.content.startsWith("("),
    );
    const turnPrompt = promptsByText.get(body.messages[turnStart]!.content);
    return turnPrompt
      ? answerAsAssistant(
          body,
          turnPrompt,
          listCompletedCalls(body.messages.slice(turnStart)),
          listCompletedCalls(body.messages),
        )
      : says("I am not sure what you would like me to do.");
  };
}

function answerAsAssistant(
  { tools = [] }: ChatBody,
  { wants, leave_out }: TurnPrompt,
  callsInTurn: readonly CompletedCall[],
  allCalls: readonly CompletedCall[],
): Reply {
  const hasFailed = (it: CompletedCall) => "error_type" in it.result;
  for (const want of wants) {
    for (const step of want.if_refused ? [want, want.if_refused] : [want]) {
      const tool = tools.find(it => it.function.description === step.does)?.function;
      if (!tool) return says("I am afraid there is nothing here with which I could do that.");
      const args = chooseArguments(step, allCalls);
      if (typeof args === "string") {
        const lookUp = chooseLookUp(
          args,
          tools.map(it => it.function),
          allCalls,
        );
        return lookUp
          ? callsFor([lookUp.name, JSON.stringify(lookUp.args)])
          : says("I could not find what you mean.");
      }
      const earlier = callsInTurn.find(
        it => it.name === tool.name && JSON.stringify(it.args) === JSON.stringify(args),
      );
      if (!earlier) return callsFor([tool.name, JSON.stringify(args)]);
      if (!hasFailed(earlier)) break;
      if (step === (want.if_refused ?? want))
        return says("I am sorry, that could not be done as things stand.");
    }
  }
  return says(
    leave_out === undefined
      ? "That is done."
      : "Happy to help, but I need to know one more thing: which one do you mean?",
  );
}

/** All arguments of a want, or the key of the first one whose id is not known yet. */
function chooseArguments({ say }: Want, calls: readonly CompletedCall[]): JsonObject | string {
  const args: Record<string, Json> = {};
  for (const [key, { means, words = "" }] of Object.entries(say)) {
    const isNamed = (it: Json) =>
      typeof it === "string" && it.length > 2 && words.toLowerCase().includes(it.toLowerCase());
    const row = listRows(calls).find(
      it => getId(it, key) !== undefined && Object.values(it).some(isNamed),
    );
    const value = means ?? (row && getId(row, key));
    if (value === undefined) return key;
    args[key] = value;
  }
  return args;
}

/** The id for an argument in a row: `card_id` for `card_id`, and for `from_card_id` too. */
const getId = (row: JsonObject, key: string): Json | undefined =>
  Object.entries(row).find(
    ([field, value]) => typeof value === "string" && (field === key || key.endsWith(`_${field}`)),
  )?.[1];

/**
 * A read with known arguments that has not been called; one named after the entity is preferred.
 */
function chooseLookUp(
  key: string,
  tools: readonly NonNullable<ChatBody["tools"]>[number]["function"][],
  calls: readonly CompletedCall[],
): { name: string; args: JsonObject } | undefined {
  const noun = key
    .replace(/_ids?$/, "")
    .split("_")
    .at(-1)!;
  const reads = tools
    .filter(it => /_(list|get|find|search|show)_/.test(it.name))
    .toSorted((a, b) => Number(b.name.includes(noun)) - Number(a.name.includes(noun)));
  for (const { name, parameters } of reads) {
    const required = (parameters["required"] ?? []) as readonly string[];
    const choices =
      required.length === 0
        ? [{}]
        : required.length > 1
          ? []
          : listRows(calls).flatMap(row => {
              const id = getId(row, required[0]!);
              return id === undefined ? [] : [{ [required[0]!]: id }];
            });
    const isCalled = (args: JsonObject) =>
      calls.some(it => it.name === name && JSON.stringify(it.args) === JSON.stringify(args));
    const args = choices.find(it => !isCalled(it));
    if (args) return { name, args };
  }
  return undefined;
}

const listRows = (calls: readonly CompletedCall[]): JsonObject[] =>
  calls.flatMap(it => listObjects(it.result));

/** The objects in a value, at every depth. */
function listObjects(value: Json): JsonObject[] {
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(listObjects);
  return [value as JsonObject, ...Object.values(value as JsonObject).flatMap(listObjects)];
}

/** The calls of a conversation with their results. */
function listCompletedCalls(messages: readonly Message[]): CompletedCall[] {
  const results = new Map(
    messages.flatMap(it =>
      it.role === "tool" ? [[it.tool_call_id!, JSON.parse(it.content) as JsonObject]] : [],
    ),
  );
  return messages.flatMap(it =>
    ((it.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[]).map(
      ({ id, function: { name, arguments: args } }) => ({
        name,
        args: JSON.parse(args) as JsonObject,
        result: results.get(id) ?? {},
      }),
    ),
  );
}
