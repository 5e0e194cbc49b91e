/**
 * Builds the prompt with which a chat model words a user turn: the person, the day, the intents
 * with every value that must be said, and the names that exist. It contains no ids that people do
 * not say and no tool names.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { getWeekdayName } from "../../environment/time.ts";
import type { ChatMessage } from "../../policy/chatModel.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import { removeMarks } from "../text/valueMarks.ts";
import type { EntityInstance } from "../user/entityInstance.ts";
import type { Intent } from "../user/intent.ts";
import { isReticent, type TurnPlan } from "./turnPlan.ts";

/** Most kinds of entities in a prompt, and most names of each kind. */
const nameLimits = { kinds: 8, names: 8 };

const rules = `You write one message that a person types to an assistant. You are told in JSON who the person is, what day it is, what the person wants, and which names exist.
- Ask for everything under "wants", in that order, and for nothing else. Where it is empty, say just what "plain" says.
- Whatever stands under "say" must be in the message so that its exact value can be read from it: copy names, texts, paths and codes letter by letter, write amounts in digits, say days and times so that nobody can mistake them. What has no "words" there has to be clear from the message all the same.
- Use only names, numbers, places and days that you are given. Invent none, not even a signature.
- Never write an identifier such as acc_12, the name of a tool, JSON, markdown or a placeholder.
- "plain" is a plain wording of the same message. Say it in the person's own way, as people really write, and keep its meaning: what it leaves out, leave out too.
- Do not answer the message, do not explain it, do not greet twice in one talk.
Answer with JSON: {"text": "the message"}.`;

/** A message that could not be used. */
export interface RejectedText {
  readonly text: string;
  readonly complaint: string;
}

/** Builds the messages of the request. `rejected`: the model's previous attempt. */
export function buildTurnPrompt(plan: TurnPlan, rejected: RejectedText | undefined): ChatMessage[] {
  const messages: ChatMessage[] = [
    { role: "system", content: rules },
    { role: "user", content: JSON.stringify(describeTurn(plan), null, 1) },
  ];
  if (!rejected) return messages;
  const { text, complaint } = rejected;
  return [
    ...messages,
    { role: "assistant", content: JSON.stringify({ text }) },
    { role: "user", content: `That message cannot be used: ${complaint}. Write it again.` },
  ];
}

function describeTurn(plan: TurnPlan): JsonObject {
  const { plain, turn, kind, persona, now, isMinimal } = plan;
  const conversation = describeConversation(plan.events);
  const wants = (turn?.intents ?? []).map(it => ({
    ...describeIntent(it),
    ...(it.fallback ? { if_refused: describeIntent(it.fallback) } : {}),
  }));
  return {
    person: {
      manner: persona.name,
      sounds_like: persona.ask.slice(0, 4).map(it => it.replace("{clause}", "…")),
      ...(persona.casual ? { writes: "without capitals and full stops" } : {}),
    },
    now: `${getWeekdayName(now)}, ${now.replace("T", " ")}`,
    turn: kind === "open" ? "first message" : kind,
    ...(conversation.length > 0 ? { talk_so_far: conversation } : {}),
    detail: isMinimal ? "only the goal, in as few words as a busy person uses" : "enough to act on",
    wants,
    ...(turn?.question === undefined
      ? {}
      : { leave_out: `what the assistant will have to ask for: "${turn.question}"` }),
    plain,
    ...(isReticent(plan) ? {} : { names_that_exist: listNames(plan) }),
  };
}

const describeConversation = (events: readonly Event[]): JsonObject[] =>
  events.flatMap((it): JsonObject[] => {
    if (it.kind === "user") return [{ person: it.text }];
    return it.kind === "assistant" && it.text !== "" ? [{ assistant: it.text }] : [];
  });

/**
 * Describes an intent. `means` is the exact value behind the words; an id that people do not say
 * has words alone.
 */
function describeIntent(intent: Intent): JsonObject {
  const { tool, clause, argumentTexts, mentions } = intent;
  const say: Record<string, Json> = {};
  for (const [key, value] of Object.entries(intent.arguments)) {
    const own = mentions.filter(it => [value].flat().includes(it.instance.id));
    const words = argumentTexts[key] === undefined ? undefined : removeMarks(argumentTexts[key]);
    const means = own.every(it => it.isIdSpoken) ? { means: value } : {};
    if (words !== undefined) say[key] = { ...means, words };
    // a value from a result is not said; only a choice that the clause makes can have no words
    else if (isChoice(tool, key)) say[key] = means;
  }
  return { does: tool.summary, in_words: removeMarks(clause), say };
}

function isChoice({ inputSchema }: Tool, key: string): boolean {
  const schema = JSON.stringify((inputSchema["properties"] as JsonObject | undefined)?.[key] ?? {});
  return schema.includes('"enum"') || schema.includes('"boolean"');
}

/** Lists names by kind, those of the intents first, so that the intents' own are included. */
function listNames({ turn, sample }: TurnPlan): JsonObject {
  const mentioned = (turn?.intents ?? []).flatMap(it =>
    it.mentions.map(({ instance }) => instance),
  );
  const kinds = [
    ...new Set([...mentioned.map(it => it.entity), ...(sample?.instances.keys() ?? [])]),
  ].slice(0, nameLimits.kinds);
  const listNamesOfKind = (kind: string) => {
    const instances = [...mentioned, ...(sample?.instances.get(kind) ?? [])];
    const names = instances.filter(it => it.entity === kind).flatMap(getName);
    return [...new Set(names)].slice(0, nameLimits.names);
  };
  return Object.fromEntries(
    kinds.map(it => [it, listNamesOfKind(it)] as const).filter(([, names]) => names.length > 0),
  );
}

const getName = ({ label }: EntityInstance): string[] => (label === undefined ? [] : [label]);
