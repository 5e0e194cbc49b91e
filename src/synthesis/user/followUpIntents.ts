/** Intents that follow from the one before: a changed one after a refusal, or the same again. */
import { findSlots } from "../text/templateText.ts";
import type { Intent } from "./intent.ts";
import { isAcceptableChange } from "./intentRules.ts";
import { maxAttempts, type IntentSearch } from "./intentSearch.ts";

/** The refused intent with one value changed so that the session accepts it. */
export function changeRefusedIntent(refused: Intent, search: IntentSearch): Intent | undefined {
  const { templates, declarations, random } = search.context;
  const declaration = declarations.get(refused.tool.name)!;
  const changes = Object.entries(templates.tools[refused.tool.name]!.instead ?? {});
  for (const [key, choices] of random.shuffle(changes)) {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const template = random.pick(choices);
      const intent = search.findAccepted({ declaration, base: refused, template }, it =>
        isAcceptableChange(it, refused, key),
      );
      if (intent) return sayWhatStays(intent, refused, search);
    }
  }
  return undefined;
}

/** An intent again, with other values for the slots of the template. */
export function repeatIntent(last: Intent | undefined, search: IntentSearch): Intent | undefined {
  const { templates, declarations, random } = search.context;
  const choices = last && templates.tools[last.tool.name]?.again;
  if (!choices) return undefined;
  const declaration = declarations.get(last.tool.name)!;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const template = random.pick(choices);
    const intent = search.findAccepted({
      declaration,
      base: last,
      template,
      isRepeated: true,
    });
    if (intent) return sayWhatStays(intent, last, search);
  }
  return undefined;
}

/** The intent with words for the optional arguments that it takes over without a word of them. */
function sayWhatStays(intent: Intent, base: Intent, { plan, context }: IntentSearch): Intent {
  const { clause, template, tool } = intent;
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  const slots = findSlots(template);
  const staysUnsaid = Object.keys(intent.arguments).some(
    it =>
      !required.includes(it) &&
      !slots.includes(it) &&
      JSON.stringify(intent.arguments[it]) === JSON.stringify(base.arguments[it]),
  );
  if (!staysUnsaid || /\b(same|again)\b/.test(template)) return intent;
  const words = context.random.pick(plan.styleGuide.unchanged);
  return { ...intent, clause: clause.replace(/([.?!]?)$/, (mark: string) => `, ${words}${mark}`) };
}

/** A tool, other than the last one, that takes what the conversation is about. */
export function pickNextTool(last: Intent | undefined, search: IntentSearch): string | undefined {
  const { random, focus, declarations } = search.context;
  if (!last) return undefined;
  const entities = new Set(focus.map(it => it.entity));
  const choices = [...declarations.values()].filter(
    ({ tool, inputs }) =>
      tool !== last.tool && inputs.some(it => it.isRequired && entities.has(it.entity)),
  );
  return choices.length === 0
    ? undefined
    : random.pickWeighted(choices, it => search.plan.getToolWeight(it.tool.name)).tool.name;
}
