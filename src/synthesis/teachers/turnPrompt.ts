/**
 * A user's turn as a chat model is asked to write it: who speaks, what day it is, what is wanted
 * with every value that must be said, and the names there are. Holds no id that a person would not
 * say, and no tool's name. Knows no model.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { getWeekdayName } from "../../environment/time.ts";
import type { ChatMessage } from "../../policy/chatModel.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import { removeMarks } from "../text/valueMarks.ts";
import type { Persona } from "../text/personas.ts";
import type { TurnKind, UserTurn } from "../user/userPlan.ts";
import type { EntitySample } from "../user/entityInstance.ts";
import type { Intent } from "../user/intent.ts";
import type { EntityInstance } from "../user/entityInstance.ts";

/** What is known of a turn before it is worded. */
export interface TurnPlan {
  /** How the grammar would say it. */
  readonly plain: string;
  /** Undefined where nothing is to be called. */
  readonly turn: UserTurn | undefined;
  readonly kind: TurnKind;
  readonly persona: Persona;
  readonly now: string;
  readonly isMinimal: boolean;
  /** What there is to talk about. */
  readonly sample: EntitySample | undefined;
  /** The tools on offer. */
  readonly tools: readonly Tool[];
  readonly events: readonly Event[];
}

/** Things named to the model: of one kind, and kinds. */
const around = { things: 8, kinds: 8 };

const rules = `You write one message that a person types to an assistant. You are told in JSON who the person is, what day it is, what the person wants, and which names exist.
- Ask for everything under "wants", in that order, and for nothing else. Where it is empty, say just what "plain" says.
- Whatever stands under "say" must be in the message so that its exact value can be read from it: copy names, texts, paths and codes letter by letter, write amounts in digits, say days and times so that nobody can mistake them. What has no "words" there has to be clear from the message all the same.
- Use only names, numbers, places and days that you are given. Invent none, not even a signature.
- Never write an identifier such as acc_12, the name of a tool, JSON, markdown or a placeholder.
- "plain" is a plain wording of the same message. Say it in the person's own way, as people really write, and keep its meaning: what it leaves out, leave out too.
- Do not answer the message, do not explain it, do not greet twice in one talk.
Answer with JSON: {"text": "the message"}.`;

/** What a chat model is asked for. `complaint`: what was wrong with its message before. */
export function buildTurnPrompt(
  plan: TurnPlan,
  before: { readonly text: string; readonly complaint: string } | undefined,
): ChatMessage[] {
  const asked: ChatMessage[] = [
    { role: "system", content: rules },
    { role: "user", content: JSON.stringify(describeTurn(plan), null, 1) },
  ];
  if (!before) return asked;
  return [
    ...asked,
    { role: "assistant", content: JSON.stringify({ text: before.text }) },
    { role: "user", content: `That message cannot be used: ${before.complaint}. Write it again.` },
  ];
}

function describeTurn({
  plain,
  turn,
  kind,
  persona,
  now,
  isMinimal,
  sample,
  events,
}: TurnPlan): JsonObject {
  const conversation = events.flatMap((it): JsonObject[] =>
    it.kind === "user"
      ? [{ person: it.text }]
      : it.kind === "assistant" && it.text !== ""
        ? [{ assistant: it.text }]
        : [],
  );
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
    ...(isReticent({ turn, isMinimal }) ? {} : { names_that_exist: listKnownNames(sample, turn) }),
  };
}

/**
 * Nothing may be named that the plain wording leaves out: it would tell what has to be asked or
 * found out.
 */
export const isReticent = ({ turn, isMinimal }: Pick<TurnPlan, "turn" | "isMinimal">): boolean =>
  isMinimal || turn?.question !== undefined;

/**
 * A wish in words. `means` is the exact value behind the words; ids that nobody says have words
 * alone.
 */
function describeIntent({
  tool,
  clause,
  argumentTexts,
  arguments: args,
  mentions,
}: Intent): JsonObject {
  const say: Record<string, Json> = {};
  for (const [key, value] of Object.entries(args)) {
    const own = mentions.filter(it => [value].flat().includes(it.instance.id));
    const words = argumentTexts[key] === undefined ? undefined : removeMarks(argumentTexts[key]);
    const means = own.every(it => it.isIdSpoken) ? { means: value } : {};
    if (words !== undefined) say[key] = { ...means, words };
    // what is read off a result goes unsaid: only a choice that the clause makes stands without
    // words
    else if (isChoice(tool, key)) say[key] = means;
  }
  return { does: tool.summary, in_words: removeMarks(clause), say };
}

function isChoice({ inputSchema }: Tool, key: string): boolean {
  const schema = JSON.stringify((inputSchema["properties"] as JsonObject | undefined)?.[key] ?? {});
  return schema.includes('"enum"') || schema.includes('"boolean"');
}

/** Labels by kind: those of the wishes first, so that what fits the chain is there. */
function listKnownNames(sample: EntitySample | undefined, turn: TurnPlan["turn"]): JsonObject {
  const wished = (turn?.intents ?? []).flatMap(it => it.mentions.map(named => named.instance));
  const kinds = [
    ...new Set([...wished.map(it => it.entity), ...(sample?.instances.keys() ?? [])]),
  ].slice(0, around.kinds);
  const labels = (kind: string) =>
    [
      ...new Set(
        [...wished, ...(sample?.instances.get(kind) ?? [])]
          .filter(it => it.entity === kind)
          .flatMap(nameOf),
      ),
    ].slice(0, around.things);
  return Object.fromEntries(
    kinds.map(it => [it, labels(it)] as const).filter(([, all]) => all.length > 0),
  );
}

const nameOf = ({ label }: EntityInstance): string[] => (label === undefined ? [] : [label]);
