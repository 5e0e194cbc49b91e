/**
 * Creates the turn that contrasts with the first turn of a normal task: the same words where the
 * tool for them is missing, or nearly the same words without a value.
 */
import type { Random } from "../../environment/random.ts";
import type { State } from "../../environment/state.ts";
import type { Abstentions } from "../text/abstentions.ts";
import { chooseAlternatives } from "../text/templateText.ts";
import { removeAllMarks } from "../text/valueMarks.ts";
import type { AbstentionTurn } from "./abstentionTurn.ts";
import { renderTurnRefusal } from "./blockedIntent.ts";
import type { UserTurn } from "./userPlan.ts";

export interface ContrastContext {
  readonly random: Random;
  /** The state in which the conversation begins. */
  readonly state: State;
}

/** The turn in which the tools of all requests of the first turn are missing. */
export function createRefusedTurn(
  turn: UserTurn,
  { missingCapability: templates }: Abstentions,
  { random, state }: ContrastContext,
): AbstentionTurn {
  const { text, intents } = turn;
  const reply = renderTurnRefusal(turn, templates, random);
  const unmetRequests = intents.map(intent => ({ turn: 0, intent, state }));
  return { sort: "cannot", user: text, reply: removeAllMarks(reply), unmetRequests };
}

/** The turn without the value that the first turn adds, or undefined if it adds none. */
export function createTurnWithoutValue(
  { intents, withoutValue }: UserTurn,
  { asking }: Abstentions,
  { random, state }: ContrastContext,
): AbstentionTurn | undefined {
  if (!withoutValue) return undefined;
  const { intent, key } = withoutValue;
  const question = removeAllMarks(chooseAlternatives(withoutValue.question, random));
  return {
    sort: "question",
    user: withoutValue.text,
    reply: random.pick(asking).replace("{question}", () => question),
    tool: intents[0]!.tool.name,
    unmetRequests: [{ turn: 0, intent, asks: key, state }],
  };
}

/** Full names of the tools that a turn asks for. */
export const listRequestedTools = ({ intents, conditional = [] }: UserTurn): string[] => [
  ...intents.flatMap(it => [
    it.tool.name,
    ...(it.fallback ? [it.fallback.tool.name] : []),
    ...(it.prerequisite ? [it.prerequisite.intent.tool.name] : []),
  ]),
  ...conditional.map(it => it.name),
];
