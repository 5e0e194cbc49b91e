/**
 * What the simulated user of a rollout answers when the assistant asks before it has done what the
 * turn asks for. Answers follow rules, so that a rollout stays deterministic. Without an answer,
 * the user goes on with the next turn, as after any other message.
 */
import type { Json } from "../environment/json.ts";
import {
  findDueTurn,
  listProofs,
  type Goal,
  type GoalCall,
  type Task,
} from "../trajectory/task.ts";
import { splitSentences } from "../trajectory/sentences.ts";
import { asksToRefrain, isAgreement } from "../trajectory/taskRules.ts";
import { startsTurn, type Event } from "../trajectory/trajectory.ts";
import type { Conversation } from "./policy.ts";

/** The fewest and the most answers that the user is ready to give in one turn. */
const answerLimits = { min: 2, max: 6 };

/**
 * The most answers of the user in a turn: one for each call that is due at its end, so that an
 * assistant may ask before each of them.
 */
export function countAnswersInTurn(task: Task, turn: number): number {
  const calls = task.goals.flatMap(it =>
    it.turn <= turn && turn <= findDueTurn(task, it.turn) ? it.calls : [],
  );
  const proofs = listProofs(task, turn).length;
  return Math.min(answerLimits.max, Math.max(answerLimits.min, calls.length) + proofs);
}

const confirmation = "Yes, please.";
const correction = "No, please do it the way I said.";
const ignorance = "I don't know more than that. Please use what you have.";

/**
 * The user's answer to a message of the assistant in a turn of a task; undefined if the message
 * does not ask, if nothing is left to do in this turn, or if the next turn is the answer.
 */
export function findUserAnswer(
  task: Task,
  turn: number,
  text: string,
  conversation: Pick<Conversation, "events" | "tools">,
): string | undefined {
  const question = findQuestion(text);
  const proofs = listUnsaidProofs(task, turn, conversation);
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const named = proofs.find(({ about }) => about.some(it => words.has(it)));
  const isAnsweredNext =
    turn + 1 < task.turns.length && findQuestion(task.turns[turn]!.reply) !== undefined;
  // an open question may be the one that the next turn answers
  const proof = named ?? (isAnsweredNext && question?.kind === "open" ? undefined : proofs[0]);
  if (proof) {
    const answer = proveFor(proof, text, { question, isNamed: named !== undefined });
    if (answer !== undefined) return answer;
  }
  if (!question || offer.test(question.text)) return undefined;
  const due = task.goals.filter((it, g) => it.turn === turn && isDue(task, g, conversation));
  const isRefraining = () =>
    asksToRefrain(question.text.slice(question.text.search(permission)), task.turns[turn]!.user);
  if (due.length === 0) {
    if (question.kind === "open" || !mayAgree(task, turn, conversation)) return undefined;
    return isRefraining() ? correction : confirmation;
  }
  if (question.kind === "confirmation")
    return isRefraining() || mentionsOtherNumbers(question.text, { task, turn, due }, conversation)
      ? correction
      : confirmation;
  return isAnsweredNext ? undefined : ignorance;
}

/**
 * Whether the teacher was given a confirmation in this turn, and the attempt was not. The turn may
 * have no goal, because the call was refused.
 */
function mayAgree(
  { policy, trajectory }: Task,
  turn: number,
  { events }: Pick<Conversation, "events">,
): boolean {
  if (!policy) return false;
  const start = events.findLastIndex(startsTurn);
  if (events.slice(start).some(it => it.kind === "user" && it.answers)) return false;
  let current = -1;
  return trajectory.events.some(it => {
    if (startsTurn(it)) current++;
    return it.kind === "user" && it.answers === true && current === turn && isAgreement(it.text);
  });
}

type Proof = NonNullable<Task["turns"][number]["proofs"]>[number];

/** What rules want to know before calls that are due, and the user has not said yet. */
function listUnsaidProofs(
  task: Task,
  turn: number,
  { events }: Pick<Conversation, "events">,
): readonly Proof[] {
  const own = events.slice(events.findLastIndex(startsTurn));
  const isSaid = ({ say }: Proof, where: readonly Event[]) =>
    where.some(it => it.kind === "user" && it.text.includes(say));
  const ownProofs = task.turns[turn]!.proofs ?? [];
  return [
    ...ownProofs.filter(it => !isSaid(it, own)),
    // what is asked for only after the question of an earlier turn
    ...listProofs(task, turn).filter(it => !ownProofs.includes(it) && !isSaid(it, events)),
  ];
}

/** Requests without a question mark. */
const demand =
  /\bplease (tell|give|provide|state|name|say|share|confirm|let)\b|\b(tell|give) me\b|\blet me know\b/i;
/** What the assistant needs, unless it says so to explain a refusal. */
const need = /\b(I|we)( will|'ll)? (first )?need (to know|the|your|you to)\b/i;
const refusal = /\b(can't|cannot|can not|unable|sorry|afraid|not possible|leave (that|it))\b/i;

/**
 * The answer to a message that asks for a proof; to a question for permission alone, a yes. Users
 * answer any open question with what they know.
 */
function proveFor(
  { say }: Proof,
  text: string,
  { question, isNamed }: { readonly question: Question | undefined; readonly isNamed: boolean },
): string | undefined {
  if (question?.kind === "confirmation") return isNamed ? `${confirmation} ${say}` : confirmation;
  if (question) return offer.test(question.text) && !isNamed ? undefined : say;
  const asks = demand.test(text) || (need.test(text) && !refusal.test(text));
  return isNamed && asks ? say : undefined;
}

interface Question {
  readonly kind: "confirmation" | "open";
  readonly text: string;
}

const permission =
  /\b(shall|should|may|can|could) (i|we)\b|\b(do|would) you (want|like)\b|\b(is|are) (that|this|it|these|those) (ok|okay|right|correct|fine|all right)\b|\b(is|are) (that|this|it|these|those) what you (want|mean)\b|\bare you sure\b|\bgo ahead\b|\bproceed\b|\bconfirm\b/i;
const openWord = /\b(which|what|who|whom|whose|when|where|why|how)\b/i;
/** The beginnings of questions with a permission word that cannot be answered with yes. */
const openRequest = /\bconfirm (which|what|who|whom|whose|when|where|why|how)\b/i;
const choice = /\b(do|would) you (want|like)\b(?! (me|us|to)\b)/i;
const alternative = /\bor\b(?! not\b)/i;
const request = /\bplease (confirm|let me know|tell me)\b|\bconfirm (that|whether|if)\b/i;
/** An offer of more help is not a question about what the user asked for. */
const offer =
  /\b(anything|something|what) else\b|\bany(thing)? (other|further|more)\b|\bhow (can|may) i (help|assist)\b/i;

/** The question or request for confirmation that a message ends with. */
function findQuestion(text: string): Question | undefined {
  const sentences = splitSentences(text.trim(), { at: "signs" });
  const last = sentences.at(-1)!;
  const asked =
    /\?["”’')\]*_]*$/.test(last) || request.test(last)
      ? last
      : sentences.findLast(it => it.includes("?") && permission.test(it));
  if (asked === undefined) return undefined;
  const permissionAt = asked.search(permission);
  const openAt = asked.search(openWord);
  const isConfirmation =
    permissionAt >= 0 && (openAt < 0 || permissionAt < openAt) && !offersChoice(asked);
  return { kind: isConfirmation ? "confirmation" : "open", text: asked };
}

/**
 * Whether a question cannot be answered with yes, as "Would you like a or b?". The two parts of a
 * choice are matched one after the other, because one pattern for both takes quadratic time.
 */
function offersChoice(question: string): boolean {
  if (openRequest.test(question)) return true;
  return question.split(/[\n\r]/).some(line => {
    const start = line.search(choice);
    return start >= 0 && alternative.test(line.slice(start));
  });
}

/**
 * Whether a goal is something that the user asked for and that has not happened: a write that has
 * run less often than the goals so far make it, or a read whose tool has not run and whose result
 * is not merely an argument of the same turn.
 */
function isDue(
  { goals }: Task,
  g: number,
  { events, tools }: Pick<Conversation, "events" | "tools">,
): boolean {
  const goal = goals[g]!;
  const countCalls = (name: string) =>
    events.filter(it => it.kind === "call" && it.name === name && it.outcome.kind === "ok").length;
  return goal.calls.some(({ name }) => {
    if (tools.find(it => it.name === name)?.effect === "read")
      return !feedsOwnTurn(goals, g) && countCalls(name) === 0;
    const wanted = goals.slice(0, g + 1).flatMap(it => it.calls.filter(of => of.name === name));
    return countCalls(name) < wanted.length;
  });
}

const feedsOwnTurn = (goals: readonly Goal[], g: number): boolean =>
  goals.some(
    it =>
      it.turn === goals[g]!.turn &&
      it.after.some(edge => edge.goal === g && edge.kind === "explicit"),
  );

/**
 * Whether a question has a number that neither the conversation nor what is due contains. The hour
 * of a known time can also be written as one of twelve, and what is due can be added up. If the
 * question has a number that had to be computed for what is due, its others may be how.
 */
function mentionsOtherNumbers(
  text: string,
  {
    task: { turns, policy },
    turn,
    due,
  }: { readonly task: Task; readonly turn: number; readonly due: readonly Goal[] },
  { events }: Pick<Conversation, "events">,
): boolean {
  const numbers = listNumbers(text);
  if (numbers.length === 0) return false;
  const known = new Set<number>();
  const learn = (value: Json) => {
    const json = JSON.stringify(value);
    for (const it of listNumbers(json)) known.add(it);
    for (const [, hour] of json.matchAll(/(?<!\d)(\d{1,2}):\d{2}/g))
      known.add(Number(hour) % 12 || 12);
  };
  for (const it of turns.slice(0, turn + 1)) learn(it.user);
  for (const { text, because } of policy?.rules ?? []) learn(`${text} ${because}`);
  for (const it of events) {
    if (it.kind === "user") learn(it.text);
    if (it.kind === "call" && it.outcome.kind === "ok") learn(it.outcome.value);
  }
  const dueCalls = due.flatMap(it => it.calls);
  const amounts = new Set(dueCalls.flatMap(it => listNumbers(JSON.stringify(it.arguments))));
  if (numbers.some(it => amounts.has(it) && !known.has(it))) return false;
  for (const it of listTotals(dueCalls)) known.add(it);
  for (const call of dueCalls) learn(call.arguments);
  return numbers.some(it => !known.has(it));
}

/** The sum of each argument of the calls that is a number, rounded to cents. */
function listTotals(calls: readonly GoalCall[]): readonly number[] {
  const totals = new Map<string, number>();
  for (const [key, value] of calls.flatMap(it => Object.entries(it.arguments)))
    if (typeof value === "number") totals.set(key, (totals.get(key) ?? 0) + value);
  return [...totals.values()].map(it => Math.round(it * 100) / 100);
}

const listNumbers = (text: string): number[] =>
  (text.replaceAll(/(?<=\d),(?=\d{3}\b)/g, "").match(/\d+(\.\d+)?/g) ?? []).map(Number);
