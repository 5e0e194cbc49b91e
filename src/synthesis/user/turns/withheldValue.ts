/** Withholds a value, so that the assistant has to ask for it, and answers the question. */
import { getEntityKey } from "../entities/entitySample.ts";
import { describeProblem, findsSomething, type FeasibilityResult } from "../intents/feasibility.ts";
import type { Intent, IntentRequest } from "../intents/intent.ts";
import { maxAttempts, type IntentSearch } from "../intents/intentSearch.ts";
import { dropRepeatedNoun } from "../../text/composeTurn.ts";
import { getFixedArguments, getTemplateText, type ClauseTemplate } from "../../text/templates.ts";
import { fillSlots, findSlots } from "../../text/templateText.ts";

export interface WithheldValue {
  /** The intent with the value chosen and the clause without it. */
  readonly intent: Intent;
  /** The argument that is left out. */
  readonly key: string;
  readonly question: string;
}

/** What else is known of a request with a value left out. */
export interface WithheldOptions {
  /** The turn has no other requests. */
  readonly isOnly?: boolean;
  /** Arguments that are not left out. */
  readonly settled?: readonly string[];
  /** Arguments among them whose values nothing but the clause tells. */
  readonly said?: readonly string[];
  createRequest?(template: ClauseTemplate): IntentRequest;
  isAccepted?(result: FeasibilityResult): boolean;
}

/**
 * An intent for a tool with one value left out, and the assistant's question for it, which names
 * what it asks for if the turn has other requests.
 */
export function withholdValue(
  name: string,
  search: IntentSearch,
  { isOnly = true, settled = [], said = [], ...options }: WithheldOptions = {},
): WithheldValue | undefined {
  const { declarations, templates, random, focus } = search.context;
  const missing = templates.tools[name]!.missing!;
  const keys = Object.keys(missing).filter(it => !settled.includes(it));
  if (keys.length === 0) return undefined;
  let problem = "";
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const key = random.pick(keys);
    const template = search.pickTemplate(missing[key]!.forms);
    if (Object.keys(getFixedArguments(template)).some(it => settled.includes(it))) continue;
    const slots = findSlots(getTemplateText(template));
    if (!said.every(it => slots.includes(it))) continue;
    const request = options.createRequest?.(template) ?? {
      declaration: declarations.get(name)!,
      template,
    };
    const result = search.checker.check({ ...request, withheld: key });
    problem = describeProblem(result);
    if (typeof result === "string" || result.missingCapability || !findsSomething(result)) continue;
    if (options.isAccepted?.(result) === false) continue;
    const { intent } = result;
    // the conversation is about that instance anyway, or "press the brake" would be about the
    // vehicle that was just named, unless the clause says that it is about some other
    const isObvious = intent.mentions.some(
      ({ instance }) =>
        instance.id === intent.arguments[key] &&
        focus.some(it =>
          isIndefinite(intent.clause)
            ? getEntityKey(it) === getEntityKey(instance)
            : it.entity === instance.entity,
        ),
    );
    if (isObvious) continue;
    const renderSlot = (slot: string) => intent.argumentTexts[slot]?.replace(/^my /, "your ");
    const isSpecific = (ask: string) => ask.split(" ").length > 3;
    const question = random
      .shuffle(missing[key]!.ask)
      .toSorted((a, b) => (isOnly ? 0 : Number(isSpecific(b)) - Number(isSpecific(a))))
      .flatMap(it => fillSlots(it, renderSlot) ?? [])[0];
    if (question !== undefined) return { intent, key, question };
  }
  search.recordFailure(name, problem);
  return undefined;
}

/** Whether a clause says that it is about any of several things: "open one of my folders". */
const isIndefinite = (clause: string): boolean => /\b(an?|one|some\w*|another)\b/.test(clause);

/** An intent that is asked for as if a value were left out, which is then added. */
export interface AddedValue {
  readonly intent: Intent;
  /** The clauses that ask for it, the value among them. */
  readonly clauses: readonly string[];
  readonly withheld: WithheldValue;
}

/** An intent for a tool with one value added to its clause: "cancel one of my orders: the last". */
export function addValueToClause(
  name: string,
  search: IntentSearch,
  options: WithheldOptions = {},
): AddedValue | undefined {
  const withheld = withholdValue(name, search, options);
  if (!withheld) return undefined;
  const { clause } = withheld.intent;
  const isEnded = /[?]$|[:;] /.test(clause);
  const suits = (answer: string) =>
    !isInstruction(answer) &&
    (isEnded ||
      startsWithPreposition(answer) ||
      (!/,|\b(on|from|to|at|in|of|for)$/.test(clause) && isPhrase(answer)) ||
      !isPhrase(answer));
  const intent = answerQuestion(withheld, search, suits);
  if (!intent) return undefined;
  const value = dropRepeatedNoun(clause, intent.clause);
  const isSentence = isEnded || !isPhrase(value);
  const joiner = startsWithPreposition(value) && !endsIndefinitely(clause) ? " " : ": ";
  return {
    intent,
    clauses: isSentence ? [clause, value] : [`${clause}${joiner}${value}`],
    withheld,
  };
}

/** Whether an answer is no sentence of its own. */
const isPhrase = (answer: string): boolean =>
  !/^(it|they|that|that's|it's|this|I|I'd|because|call|make|give|use|write|say|put|add|reply|answer|send|take|ask|with|just|please|no|yes)\b/.test(
    answer,
  );

/** Whether an answer tells the assistant to do something, which would be a further request. */
const isInstruction = (answer: string): boolean =>
  /^(call|make|give|use|write|say|put|add|reply|answer|send|take|ask|go|let|set|just|please)\b/.test(
    answer,
  );

/** Whether a clause names the place of a value already: "invite Ana to a channel". */
const endsIndefinitely = (clause: string): boolean =>
  /\b(to|for|on|at|in|into|under|from|of|by) (an?|one of|some|another) [\w ]+$/.test(clause);

const startsWithPreposition = (text: string): boolean =>
  /^(to|for|on|at|in|into|under|from|of|by|until|since|as|off|near|close|around|with)\b/.test(text);

/** The intent again, with the clause that answers the question, from an answer that suits. */
export function answerQuestion(
  { intent, key }: WithheldValue,
  search: IntentSearch,
  suits: (answer: string) => boolean = () => true,
): Intent | undefined {
  const { declarations, templates, random } = search.context;
  const { name } = intent.tool;
  const declaration = declarations.get(name)!;
  const answers = templates.tools[name]!.missing![key]!.answer.filter(suits);
  if (answers.length === 0) return undefined;
  const template = random.pick(answers);
  const result = search.checker.check({ declaration, template, base: intent, isSettled: true });
  if (typeof result === "string" || result.outcome.kind !== "ok") return undefined;
  search.checker.commit(result);
  // the replies that fit the question that was asked first
  return intent.replies ? { ...result.intent, replies: intent.replies } : result.intent;
}
