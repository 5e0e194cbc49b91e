/** Picks fillers: sentences before the first request that ask for nothing. */
import type { Random } from "../../environment/random.ts";
import { applyContractions } from "./clauses.ts";
import type { Persona, StyleGuide } from "./personas.ts";
import type { ServerTemplates } from "./templateSchema.ts";

/** The probability of a filler, and how much a tool with fillers of its own adds to it. */
const fillerOdds = { base: 0.03, ownTemplates: 0.08 };

/** What a filler depends on. */
export interface FillerContext {
  readonly templates: ServerTemplates;
  readonly persona: Persona;
  readonly random: Random;
  /** Minimal requests have no filler. */
  readonly isMinimal: boolean;
}

/** Picks a filler for a request with a tool; mostly the empty string. */
export function pickFiller(
  tool: string,
  { persona, random, templates, isMinimal }: FillerContext,
  style: StyleGuide,
): string {
  const own = templates.tools[tool]?.reasons;
  const odds = (persona.talks ?? fillerOdds.base) + (own ? fillerOdds.ownTemplates : 0);
  if (isMinimal || !random.boolean(odds)) return "";
  const lists = [own, own, templates.reasons, persona.reasons, style.reasons].filter(
    it => it !== undefined,
  );
  const filler = random.pick(random.pick(lists));
  return persona.contracts ? applyContractions(filler) : filler;
}
