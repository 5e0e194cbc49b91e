/** Marks requests that cannot be fulfilled with the reply that the assistant gives to them. */
import {
  renderMissingCapability,
  type MissingCapability,
  type MissingCapabilityTemplates,
  type RefusalPosition,
} from "../text/missingCapability.ts";
import type { Random } from "../../environment/random.ts";
import type { Intent } from "./intent.ts";
import type { IntentSearch } from "./intentSearch.ts";
import type { PlannedIntent, UserTurn } from "./userPlan.ts";

/** The intent with the assistant's reply that it is not possible. */
export function blockIntent(
  intent: Intent,
  missing: MissingCapability,
  position: RefusalPosition,
  { plan, context }: IntentSearch,
): PlannedIntent {
  const { templates } = plan.missingTools!;
  const { random } = context;
  return {
    ...intent,
    blockedReply: renderMissingCapability(missing, intent, { templates, position, random }),
    ...(missing.kind === "rule" ? { rule: missing.rule.id } : {}),
  };
}

/** The reply to a turn in which the tools of all requests are missing. */
export function renderTurnRefusal(
  { intents, withoutValue }: UserTurn,
  templates: MissingCapabilityTemplates,
  random: Random,
): string {
  const last = intents.at(-1)!;
  if (intents.length === 1 && !last.fallback && !withoutValue)
    return renderMissingCapability({ kind: "tool" }, last, {
      templates,
      position: "alone",
      random,
    });
  const asksOnly = intents.every(it => it.tool.effect === "read");
  const { question, deed } = intents.length > 1 ? templates.several : templates;
  return random.pick(asksOnly ? question : deed);
}
