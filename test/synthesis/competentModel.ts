/**
 * A scripted model that plays both parts well enough: it says a user's turn as plainly as it is
 * told, and as the assistant looks up what it lacks and calls what was asked for. All it knows is
 * in the requests it gets.
 */
import type { Json, JsonObject } from "../../src/environment/json.ts";
import { callsFor, says, type ChatBody, type Reply } from "../policy/chatServer.ts";

interface Want {
  readonly does: string;
  readonly say: Readonly<Record<string, { readonly means?: Json; readonly words?: string }>>;
  readonly if_refused?: Want;
}

interface Asked {
  readonly plain: string;
  readonly wants: readonly Want[];
  readonly leave_out?: string;
}

type Message = ChatBody["messages"][number];
interface Made {
  readonly name: string;
  readonly args: JsonObject;
  readonly result: JsonObject;
}

/** What it is asked to write for the user, or undefined where it is asked as the assistant. */
export function askedIn({ messages, tools }: ChatBody): Asked | undefined {
  if (tools !== undefined) return undefined;
  const text = messages.find(it => it.role === "user")!.content;
  // behind it stands the schema, where it is asked for in words
  return JSON.parse(text.split("\n\nAnswer with")[0]!) as Asked;
}

export function competentModel(): (body: ChatBody) => Reply {
  const known = new Map<string, Asked>();
  return body => {
    const asked = askedIn(body);
    if (asked) {
      known.set(asked.plain.trim(), asked);
      return says(JSON.stringify({ text: asked.plain }));
    }
    const at = body.messages.findLastIndex(it => it.role === "user" && !it.content.startsWith("("));
    const wanted = known.get(body.messages[at]!.content);
    return wanted
      ? assist(body, wanted, madeIn(body.messages.slice(at)), madeIn(body.messages))
      : says("I am not sure what you would like me to do.");
  };
}

function assist(
  { tools = [] }: ChatBody,
  { wants, leave_out }: Asked,
  made: readonly Made[],
  all: readonly Made[],
): Reply {
  const failed = (it: Made) => "error_type" in it.result;
  for (const want of wants) {
    for (const step of want.if_refused ? [want, want.if_refused] : [want]) {
      const tool = tools.find(it => it.function.description === step.does)?.function;
      if (!tool) return says("I am afraid there is nothing here with which I could do that.");
      const args = argumentsFor(step, all);
      if (typeof args === "string") {
        const lookUp = lookUpFor(
          args,
          tools.map(it => it.function),
          all,
        );
        return lookUp
          ? callsFor([lookUp.name, JSON.stringify(lookUp.args)])
          : says("I could not find what you mean.");
      }
      const before = made.find(
        it => it.name === tool.name && JSON.stringify(it.args) === JSON.stringify(args),
      );
      if (!before) return callsFor([tool.name, JSON.stringify(args)]);
      if (!failed(before)) break;
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

/** All arguments of a want, or the words of a thing whose id is not known yet. */
function argumentsFor({ say }: Want, all: readonly Made[]): JsonObject | string {
  const args: Record<string, Json> = {};
  for (const [key, { means, words = "" }] of Object.entries(say)) {
    const value =
      means ??
      rowsIn(all).find(
        row =>
          idOf(row, key) !== undefined &&
          Object.values(row).some(
            it => typeof it === "string" && it.length > 2 && plainly(words).includes(plainly(it)),
          ),
      ) ??
      undefined;
    if (value === undefined) return key;
    args[key] = means ?? idOf(value as JsonObject, key)!;
  }
  return args;
}

const plainly = (text: string) => text.toLowerCase();

/** `card_id` for `card_id`, and for `from_card_id` too. */
const idOf = (row: JsonObject, key: string): Json | undefined =>
  Object.entries(row).find(
    ([field, value]) => typeof value === "string" && (field === key || key.endsWith(`_${field}`)),
  )?.[1];

/** A read that has not been made, whose arguments are known: one that speaks of the thing first. */
function lookUpFor(
  key: string,
  tools: readonly NonNullable<ChatBody["tools"]>[number]["function"][],
  all: readonly Made[],
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
          : rowsIn(all).flatMap(row =>
              idOf(row, required[0]!) === undefined
                ? []
                : [{ [required[0]!]: idOf(row, required[0]!)! }],
            );
    const args = choices.find(
      it =>
        !all.some(
          other => other.name === name && JSON.stringify(other.args) === JSON.stringify(it),
        ),
    );
    if (args) return { name, args };
  }
  return undefined;
}

const rowsIn = (all: readonly Made[]): JsonObject[] => all.flatMap(it => objectsIn(it.result));

function objectsIn(value: Json): JsonObject[] {
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(objectsIn);
  return [value as JsonObject, ...Object.values(value as JsonObject).flatMap(objectsIn)];
}

/** The calls of a talk with what they gave. */
function madeIn(messages: readonly Message[]): Made[] {
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
