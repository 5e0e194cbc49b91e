/**
 * What people say before they ask for something, and that asks for nothing. Knows no wishes: it is
 * true whatever they want.
 */
import { applyContractions } from "./clauses.ts";
import type { StyleGuide } from "./personas.ts";
import type { ConversationContext } from "../user/conversationContext.ts";

/**
 * How often something is said that asks for nothing: by most people, and more often where the tool
 * has words for it.
 */
const odds = { anybody: 0.03, ownWords: 0.08 };

/** Why a tool is asked for, now and then; else nothing. */
export function pickFiller(
  tool: string,
  { persona, random, templates, isMinimal }: ConversationContext,
  manners: StyleGuide,
): string {
  const own = templates.tools[tool]?.reasons;
  if (isMinimal || !random.boolean((persona.talks ?? odds.anybody) + (own ? odds.ownWords : 0)))
    return "";
  const lists = [own, own, templates.reasons, persona.reasons, manners.reasons].filter(
    it => it !== undefined,
  );
  const reason = random.pick(random.pick(lists));
  return persona.contracts ? applyContractions(reason) : reason;
}
