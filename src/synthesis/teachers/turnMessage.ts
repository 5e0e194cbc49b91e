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
import { renderReply } from "../text/replies.ts";
import { chooseAlternatives, fillSlots, markVerbatim } from "../text/templateText.ts";
import { findFirstList } from "../user/scenarios/condition.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import type { FeasibilityChecker } from "../user/intents/feasibility.ts";
import type { Intent } from "../user/intents/intent.ts";
import type { PlannedIntent, UserTurn } from "../user/userPlan.ts";
import { listReplyFacts } from "./replyFacts.ts";
import { renderArgument, renderField, renderResultReply, type ResultReply } from "./resultReply.ts";

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
    const last = replies.at(-1);
    const before = last?.text ?? "";
    // what was done with several things is said in one sentence
    const isSame = context.maxReplyLength === undefined && isOneOfSeveral(intent, successes);
    const sameAs = isSame ? last?.template : undefined;
    const reply = renderResultReply(intent, call, context, style, { isAlone, before, sameAs });
    replies.push({ intent, call, ...reply, text: addOtherwise(intent, call, reply.text, context) });
    const declaration = context.declarations.get(call.name);
    if (!reply.isWrite && declaration)
      outcome.onAnswer(call, listReplyFacts(reply, { intent, call, declaration, turn, context }));
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

/** How many calls of one tool in a turn have replies alike. */
const minAlike = 2;

/** Whether the same was done with several things in the turn. */
const isOneOfSeveral = ({ tool }: Intent, successes: readonly IntentResult[]): boolean =>
  tool.effect === "write" && successes.filter(it => it.intent.tool === tool).length >= minAlike;

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
  const { random } = feasibility.context;
  const reason = failed ? explainFailure(failed.call, conversation, random) : intent.insteadOf;
  if (reason === undefined) return reply;
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
