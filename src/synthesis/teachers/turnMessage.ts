/**
 * Renders the graph teacher's message at the end of a turn: the replies to the calls that
 * succeeded, and why the last request was refused.
 */
import type { Random } from "../../environment/random.ts";
import type { Conversation } from "../../policy/policy.ts";
import type { Fact } from "../../trajectory/task.ts";
import { getCallFault, getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import { capitalize } from "../text/grammar.ts";
import { formatRefusal, isFullClause } from "../text/refusals.ts";
import type { StyleGuide } from "../text/personas.ts";
import { renderReply, getField } from "../text/replies.ts";
import { chooseAlternatives, fillSlots, markVerbatim } from "../text/templateText.ts";
import { findFirstList } from "../user/scenarios/condition.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import type { FeasibilityChecker } from "../user/intents/feasibility.ts";
import type { Intent } from "../user/intents/intent.ts";
import type { PlannedIntent, UserTurn } from "../user/userPlan.ts";
import { renderArgument, renderField, renderResultReply, type ResultReply } from "./resultReply.ts";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { findEntities } from "../../trajectory/entities.ts";

/** A call that was made for an intent. */
export interface IntentResult {
  readonly intent: PlannedIntent;
  readonly call: CallEvent;
}

/** A turn whose calls have been made. */
export interface TurnOutcome {
  readonly feasibility: FeasibilityChecker;
  readonly style: StyleGuide;
  readonly turn: UserTurn;
  readonly results: readonly IntentResult[];
  readonly conversation: Conversation;
  /** Receives the facts that the message tells of the result of a read. */
  readonly onAnswer: (call: CallEvent, facts: readonly Fact[]) => void;
}

/** Renders the message. `refusal` says why the last request was not fulfilled. */
export function renderTurnMessage(outcome: TurnOutcome, refusal?: string): string {
  const { feasibility, style, turn, results, conversation } = outcome;
  const { context } = feasibility;
  const successes = results.filter(it => it.call.outcome.kind === "ok");
  const isAlone = successes.length === 1 && refusal === undefined;
  const replies: (ResultReply & IntentResult)[] = [];
  for (const { intent, call } of successes) {
    const before = replies.at(-1)?.text ?? "";
    const reply = renderResultReply(intent, call, context, style, { isAlone, before });
    const paths = [...reply.paths, ...(intent.condition ? [intent.condition.field] : [])];
    replies.push({ intent, call, ...reply, text: addOtherwise(intent, call, reply.text, context) });
    const declaration = context.declarations.get(call.name);
    if (!reply.isWrite && declaration)
      outcome.onAnswer(call, listReplyFacts(paths, intent, call, declaration));
  }
  const explained = replies.map(it => ({
    text: explainRecovery(it, explainFallback(it.intent, it.text, outcome), outcome),
    isWrite: it.isWrite,
  }));
  feasibility.setListedInstances(isAlone ? replies[0]!.listedRows : []);
  const before = conversation.events.findLast(it => it.kind === "assistant" && it.text !== "");
  return renderReply(
    {
      replies: explained,
      question: refusal === undefined ? turn.question : undefined,
      refusal,
      isEntity: it => feasibility.canBeCalledIt(it),
      before: before?.kind === "assistant" ? before.text : "",
      isBrief: context.maxReplyLength !== undefined,
    },
    style,
    context.random,
  );
}

/** The reply, and what follows from it if the user's condition does not hold. */
function addOtherwise(
  intent: PlannedIntent,
  call: CallEvent,
  reply: string,
  context: ConversationContext,
): string {
  const { random } = context;
  const rows = findFirstList(getCallValue(call) ?? null);
  const text = random.shuffle(intent.condition?.otherwise ?? []).flatMap(
    it =>
      fillSlots(chooseAlternatives(it, random), slot =>
        // the limit of the condition, although a result may have a field of this name
        slot === "limit"
          ? renderArgument(slot, intent, context)
          : renderField(slot, intent, call, rows, context),
      ) ?? [],
  )[0];
  return text === undefined ? reply : `${reply} ${text}`;
}

/** The reply to the user's second choice, with the reason why the first one was refused. */
function explainFallback(intent: Intent, reply: string, outcome: TurnOutcome): string {
  const { feasibility, style, turn, results, conversation } = outcome;
  const first = turn.intents.find(it => it.fallback === intent);
  const failed = first && results.find(it => it.intent === first && it.call.outcome.kind !== "ok");
  if (!failed) return reply;
  const { random } = feasibility.context;
  const reason = explainFailure(failed.call, conversation, random);
  const template = random.pick(
    style.instead.filter(
      it => it.startsWith("{why}") || (isFullClause(reason) && !reason.includes(":")),
    ),
  );
  return template
    .replace("{why}", () => (template.startsWith("{why}") ? capitalize(reason) : reason))
    .replace("{reply}", () => capitalize(reply.replace(/^Done[,:.] +/, "")));
}

/** The reply after what was put right or found out first. */
function explainRecovery(
  { intent, call }: IntentResult,
  reply: string,
  { feasibility: { context } }: TurnOutcome,
): string {
  if (!intent.recovery) return reply;
  const renderSlot = (slot: string) =>
    renderArgument(slot, intent, context) ?? renderField(slot, intent, call, undefined, context);
  const sentences = intent.recovery.told.flatMap(
    texts =>
      context.random.shuffle(texts).flatMap(it => {
        const text = fillSlots(chooseAlternatives(it, context.random), renderSlot);
        return text === undefined ? [] : [capitalize(text)];
      })[0] ?? [],
  );
  return [...sentences, capitalize(reply.replace(/^Done[,:.] +/, ""))].join(" ");
}

/** Renders the message after a call that failed for good. `intent`: what it was made for. */
export function renderGivingUp(
  outcome: TurnOutcome,
  failed: CallEvent,
  intent: Intent | undefined,
): string {
  const { feasibility, style, conversation } = outcome;
  const { context } = feasibility;
  const { templates, random } = context;
  const reason = explainFailure(failed, conversation, random);
  const type = getCallFault(failed)?.type ?? "";
  const own = (intent && templates.tools[intent.tool.name]?.refused?.[type]) ?? [];
  const renderSlot = (slot: string) =>
    slot === "why"
      ? keepName(reason)
      : intent && renderField(slot, intent, failed, undefined, context);
  const isSuitable = (template: string) =>
    isFullClause(reason) ||
    !/(afraid|Unfortunately,|but|because|since|Sorry,) \{why\}/.test(template);
  const texts = [...random.shuffle(own), ...random.shuffle(style.giveUp)]
    .filter(isSuitable)
    .flatMap(it => fillSlots(chooseAlternatives(it, random), renderSlot) ?? []);
  // a text with one colon reads better than one with two
  const countColons = (text: string) => Math.max(1, text.split(": ").length - 1);
  const refusal = texts.toSorted((a, b) => countColons(a) - countColons(b))[0] ?? `${reason}.`;
  return renderTurnMessage(outcome, capitalize(refusal));
}

const explainFailure = (failed: CallEvent, { now }: Conversation, random: Random): string =>
  formatRefusal(getCallFault(failed)?.message ?? "it was refused", now, random);

/** Keeps the capital letter of a reason that begins with a name. */
const keepName = (reason: string): string =>
  /^[A-Z]/.test(reason) ? markVerbatim(reason) : reason;

// Lists the facts of a result that a reply to the user tells, so that any call may show them.

/**
 * The facts behind the slots and conditions of a reply: a field with the entity it belongs to, or
 * every row of the list that `{items}` or `{count}` stands for.
 */
function listReplyFacts(
  paths: Iterable<string>,
  { arguments: args, mentions }: Pick<Intent, "arguments" | "mentions">,
  call: CallEvent,
  declaration: ToolDeclaration,
): Fact[] {
  const value = getCallValue(call);
  if (!isJsonObject(value)) return [];
  const ids = new Set(findEntities(declaration, value).map(it => it.id));
  const saidTexts = new Set<Json | undefined>([
    ...Object.values(args),
    ...mentions.map(it => it.instance.label),
  ]);
  const facts = new Map<string, Fact>();
  const context = { ids, args, subjects: listSubjects(declaration, args) };
  for (const slot of paths)
    for (const it of listSlotFacts(slot.replace(/\.size$/, ""), value, context))
      facts.set(JSON.stringify(it), it);
  const all = [...facts.values()];
  const news = all.filter(it => !saidTexts.has(it.value) && it.value !== it.entity);
  return news.length > 0 ? news : all;
}

interface FactContext {
  /** The ids in the result. */
  readonly ids: ReadonlySet<string>;
  readonly args: JsonObject;
  /** The entities that the call names. */
  readonly subjects: readonly string[];
}

const listSubjects = ({ inputs }: ToolDeclaration, args: JsonObject): string[] =>
  inputs.flatMap(it => [args[it.key] ?? []].flat()).filter(it => typeof it === "string");

function listSlotFacts(path: string, value: JsonObject, context: FactContext): Fact[] {
  const fieldValue = getField(value, path);
  if (fieldValue !== undefined && (fieldValue === null || typeof fieldValue !== "object")) {
    const keys = path.split(".");
    const entity = findOwner(value, keys.slice(0, -1), context);
    return [
      { ...(entity === undefined ? {} : { entity }), field: keys.at(-1)!, value: fieldValue },
    ];
  }
  return path === "items" || path === "count" ? listRowFacts(value, context) : [];
}

/**
 * The id beside a field or further out: one that the call names, else the first; without any, the
 * entity that the call is about.
 */
function findOwner(
  value: JsonObject,
  path: readonly string[],
  { ids, args, subjects }: FactContext,
): string | undefined {
  const owners = [value];
  for (const key of path) owners.push(owners.at(-1)![key] as JsonObject);
  for (const owner of owners.toReversed()) {
    const own = Object.values(owner).filter(it => typeof it === "string" && ids.has(it));
    const argument = own.find(it => Object.values(args).includes(it));
    if (own.length > 0) return (argument ?? own[0]) as string;
  }
  return subjects.length === 1 ? subjects[0] : undefined;
}

/**
 * One fact per row of the first list, each of the entities that the call names, or the number of
 * rows if they have no ids of their own.
 */
function listRowFacts(value: JsonObject, { ids, subjects }: FactContext): Fact[] {
  const rows = Object.values(value).find(it => Array.isArray(it)) as readonly Json[] | undefined;
  if (!rows) return [];
  const rowIds = rows.length > 0 ? findRowIds(rows, ids) : undefined;
  return rowIds
    ? [...new Set(rowIds)].map(entity => {
        const of = subjects.filter(it => it !== entity);
        return { entity, ...(of.length > 0 ? { of } : {}) };
      })
    : [{ field: "count", value: rows.length }];
}

function findRowIds(rows: readonly Json[], ids: ReadonlySet<string>): string[] | undefined {
  if (rows.every(it => typeof it === "string")) return rows as string[];
  if (!rows.every(isJsonObject)) return undefined;
  for (const key of Object.keys(rows[0]!)) {
    const own = rows.map(it => it[key]);
    const isId = own.every(it => typeof it === "string" && ids.has(it));
    if (isId && new Set(own).size === own.length) return own as string[];
  }
  return undefined;
}
