/** Rules about which intents and clauses make sense next to each other. */
import { getEntityKey } from "./entityInstance.ts";
import type { Intent } from "./intent.ts";

/**
 * Whether an intent changes the only instance that the one before has changed, or removes what it
 * has just created.
 */
export function isReversal(before: Intent | undefined, intent: Intent): boolean {
  const [mention, ...others] = intent.mentions;
  if (!before || !mention || others.length > 0) return false;
  if (before.tool.effect === "read" || intent.tool.effect === "read") return false;
  const { instance } = mention;
  if (before.mentions.length === 1)
    return getEntityKey(before.mentions[0]!.instance) === getEntityKey(instance);
  return (
    intent.tool.destructive && before.mentions.every(it => it.instance.entity !== instance.entity)
  );
}

/** Whether an intent takes away what the one before has changed or made part of something. */
export const isWithdrawal = (before: Intent | undefined, intent: Intent): boolean =>
  before?.tool.effect === "write" &&
  intent.tool.destructive &&
  intent.mentions.some(({ instance }) =>
    before.mentions.some(it => getEntityKey(it.instance) === getEntityKey(instance)),
  );

/** Whether an argument changes in a way that can follow a refusal: a number becomes smaller. */
export function isAcceptableChange(intent: Intent, refused: Intent, key: string): boolean {
  const [now, before] = [intent.arguments[key], refused.arguments[key]];
  return typeof now === "number" && typeof before === "number" ? now < before : now !== before;
}

const singularWords =
  /\b(it|its|is|has|was|does|ends|who|whose|that|which|whether|how|what|one|and)\b/;

/** Whether a clause reads well with two names in one slot. */
export const canNameTwo = (template: string, key: string): boolean =>
  !singularWords.test(template) &&
  new RegExp(
    `^[^{]*(\\{\\w+\\}[^{]*)*\\{${key}\\}(,|$| (from|to|into|in|on|with|for|at|by|out|right|at once|too|off|as|until|now)\\b)`,
  ).test(template);

/** Whether the last sentence of a reply reports that nothing was found. */
export const reportsNothing = (reply: string): boolean =>
  /^(No\b|None|Nobody|Nothing|Never|Not yet|There (is|are|was|were) (no|none|nothing)\b|I found (no|none|nothing)\b|I see (no|none)\b)/.test(
    reply.split(/(?<=[.!?]) /).at(-1)!,
  );
