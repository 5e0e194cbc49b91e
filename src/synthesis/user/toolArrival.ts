/**
 * The turn in which the user brings a tool that was missing before, so that the assistant can do
 * what it could not.
 */
import { canonicalJson } from "../../environment/json.ts";
import { isRequest } from "../text/clauses.ts";
import type { ToolArrivalTexts } from "../text/missingCapability.ts";
import { composeUserText } from "./turnBuilder.ts";
import type { Intent } from "./intent.ts";
import { maxAttempts, type IntentSearch } from "./intentSearch.ts";
import type { PlannedIntent, UserTurn } from "./userPlan.ts";

/** How often the user says the whole request again. */
const repeatsRequest = 0.4;

/**
 * The turn that brings the tool of an intent and asks for it again, or undefined if the session no
 * longer accepts the intent. Takes the tool from `hiddenTools`, on which the search depends.
 */
export function createToolArrival(
  blocked: PlannedIntent,
  hiddenTools: Set<string>,
  texts: ToolArrivalTexts,
  search: IntentSearch,
): UserTurn | undefined {
  const { name, effect } = blocked.tool;
  if (!hiddenTools.delete(name)) return undefined;
  const repeated = repeatBlocked(blocked, search);
  if (!repeated) {
    hiddenTools.add(name);
    return undefined;
  }
  const { random } = search.context;
  const mayRepeat = isRequest(repeated.clause) && random.boolean(repeatsRequest);
  const clause = mayRepeat ? repeated.clause : random.pick(texts.asks[effect]);
  // "try that again" asks for what was asked for before, and is answered like that
  const { replies: _, ...unanswered } = repeated;
  const intent = mayRepeat
    ? repeated
    : { ...unanswered, ...(blocked.replies ? { replies: blocked.replies } : {}) };
  const filler = random.pick(texts.says);
  const text = composeUserText([clause], "bare", search, { foundNothing: false, filler });
  return { text, intents: [intent], addedTools: [name] };
}

/** The same request in words of its own, if the session accepts it now. */
function repeatBlocked({ tool, ...base }: Intent, search: IntentSearch): Intent | undefined {
  const { declarations, templates, random } = search.context;
  const declaration = declarations.get(tool.name)!;
  const wanted = canonicalJson(base.arguments);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const template = random.pick(templates.tools[tool.name]!.forms);
    const request = { declaration, template, base: { ...base, tool }, isSettled: true };
    const intent = search.findAccepted(request, it => canonicalJson(it.arguments) === wanted);
    if (intent) return intent;
  }
  return undefined;
}
