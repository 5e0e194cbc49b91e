/** Sentences around the first request that change nothing: fillers and second thoughts. */
import type { Tool } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";
import type { Abstentions } from "./abstentions.ts";
import { endSentence } from "./clauses.ts";
import type { Persona } from "./personas.ts";

/** A sentence before the first request and one after the last; either may be empty. */
export interface Aside {
  readonly before: string;
  readonly after: string;
}

export const noAside: Aside = { before: "", after: "" };

/** Picks a second thought that suits requests with tools of these effects. */
export function pickSecondThought(
  texts: Abstentions["secondThoughts"],
  effects: readonly Tool["effect"][],
  random: Random,
): Aside {
  const suitable = texts.filter(({ on }) => on === "any" || effects.every(it => it === on));
  const { before, after } = random.pick(suitable);
  return random.boolean(0.5)
    ? { before: random.pick(before), after: "" }
    : { before: "", after: random.pick(after) };
}

/** The turn with a further sentence, in the writing of the persona. */
export const addSentence = (text: string, sentence: string, { casual }: Persona): string =>
  sentence === ""
    ? text
    : `${endSentence(text)} ${casual ? sentence.replace(/\.$/, "") : sentence}`;
