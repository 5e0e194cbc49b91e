/** Creates corrections of a value within the same sentence: `40, no, 45 euros`. */
import { formatValue, isMoney } from "../text/formatValue.ts";
import { isDate, isDateTime, pickArgumentValue } from "./argumentValues.ts";
import type { ConversationContext } from "./conversationContext.ts";
import type { IntentDraft, IntentRequest } from "./intent.ts";
import { isRequest } from "../text/clauses.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import { findArgumentTemplates } from "../text/templateSchema.ts";

/** How often a persona without a share of its own corrects a value. */
const defaultShare = 0.008;

/** An argument whose text names a wrong value first, or undefined if nothing is corrected. */
export function createSelfCorrection(
  context: ConversationContext,
  { declaration, base }: IntentRequest,
  template: string,
  draft: IntentDraft,
): { readonly key: string; readonly text: string } | undefined {
  const { corrections, templates, now, persona, random, isMinimal } = context;
  const { tool } = declaration;
  if (!corrections || base || isMinimal || !random.boolean(persona.corrects ?? defaultShare))
    return undefined;
  const value = declaration.values.find(
    it =>
      template.includes(`{${it.key}}`) &&
      !findArgumentTemplates(templates, tool.name, it.key)?.words &&
      (typeof draft.arguments[it.key] === "number" || isDate(it.schema) || isDateTime(it.schema)),
  );
  if (!value) return undefined;
  const { key, schema } = value;
  const wrong = pickArgumentValue(context, { tool, key, schema, mentions: draft.mentions });
  if (wrong === undefined || wrong === draft.arguments[key]) return undefined;
  const wrongText = formatValue(wrong, { now, persona, random }, isMoney(key, schema));
  const text = random
    .pick(corrections)
    .replace("{first}", () => markVerbatim(wrongText))
    .replace("{clause}", () => draft.argumentTexts[key]!);
  return endsPhrase(template, key) && isRequest(template) ? { key, text } : undefined;
}

/** Whether the words after a slot can follow a correction. */
const endsPhrase = (template: string, key: string): boolean =>
  new RegExp(`\\{${key}\\}(\\?|,|$| (from|to|into|in|on|for|of|with|at|before|until|as)\\b)`).test(
    template,
  );
