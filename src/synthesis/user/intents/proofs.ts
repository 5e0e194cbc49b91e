/** Draws what users say when a rule wants to know something before a call. */
import type { Random } from "../../../environment/random.ts";
import type { Json } from "../../../environment/json.ts";
import { containsToken } from "../../../trajectory/valueMatching.ts";
import { appliesTo, type TaskRule } from "../../../trajectory/taskRules.ts";
import { isRequest } from "../../text/grammar.ts";
import { formatReplyValue } from "../../text/formatValue.ts";
import type { ProofTexts } from "../../text/serverPolicies.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { Intent, IntentProof, ValueSource } from "./intent.ts";

/** How often the proof is accepted, and how often a user who cannot prove it says a wrong value. */
const shares = { accepted: 0.35, wrong: 0.6 };

/** Values that are drawn for a wrong one. */
const maxDraws = 8;

/** The rule that wants to know something before an intent's call. */
export const findProofRule = (
  rules: readonly TaskRule[],
  { tool, arguments: args }: Intent,
): TaskRule | undefined =>
  rules.find(it => it.demands === "proof" && appliesTo(it, { name: tool.name, arguments: args }));

/**
 * Whether the user has said more than a request, which may be a reason already, or has told a
 * motive where a rule asks for one.
 */
export const hasSaidReason = (texts: ProofTexts, { clause }: Intent, hasMotive = false): boolean =>
  "accepted" in texts &&
  (!isRequest(clause) || giving.test(clause) || (hasMotive && texts.about.includes("why")));

/** Words that begin a reason after a request. */
const giving = /\b(?:because|since)\b|, (?:I|it|nobody|we|they|that)\b/;

interface ProofRequest {
  readonly rule: TaskRule;
  readonly texts: ProofTexts;
  /** The request is one that the user can make. */
  readonly isSettled: boolean;
}

/** The proof of an intent; undefined if there is nothing to say, or if the user has said it. */
export function drawProof(
  { rule: { id }, texts, isSettled }: ProofRequest,
  intent: Intent,
  context: ConversationContext,
  isShown: (source: ValueSource) => boolean,
): IntentProof | undefined {
  const { random } = context;
  const isAccepted = isSettled || random.boolean(shares.accepted);
  const about = { rule: id, ask: random.pick(texts.ask), about: texts.about, isAccepted };
  if ("accepted" in texts)
    return { ...about, say: random.pick(isAccepted ? texts.accepted : texts.others) };
  const mention = intent.mentions.find(it => it.instance.entity === texts.entity);
  const right = mention?.instance.facts[texts.field];
  const source = mention && { mention, field: texts.field };
  if (!source || right === undefined || !isShown(source)) return undefined;
  const render = (value: Json) => formatReplyValue(value, context, typeof value === "number");
  if (containsToken(intent.clause, render(right))) return undefined;
  const fill = (value: Json) => random.pick(texts.say).replace("{value}", () => render(value));
  if (isAccepted) return { ...about, say: fill(right), source };
  const wrong = random.boolean(shares.wrong) ? drawOther(right, source, context) : undefined;
  return wrong === undefined
    ? { ...about, say: random.pick(texts.others) }
    : { ...about, say: fill(wrong), source };
}

/** The value of the field in another instance. */
function drawOther(
  right: Json,
  { mention, field }: ValueSource,
  { sample, random }: { readonly sample: ConversationContext["sample"]; readonly random: Random },
): Json | undefined {
  const others = sample.instances.get(mention.instance.entity) ?? [];
  for (let i = 0; i < maxDraws && others.length > 0; i++) {
    const value = random.pick(others).facts[field];
    if (value !== undefined && value !== right) return value;
  }
  return undefined;
}
