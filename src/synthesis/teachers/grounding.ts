/**
 * Checks a text that a model wrote for the user: every value can be read from it, nothing in it is
 * invented, and it does not reveal ids.
 */
import { splitVisibleLines } from "../../trajectory/invisibleText.ts";
import { containsToken } from "../../trajectory/containsToken.ts";
import { removeMarks } from "../text/valueMarks.ts";
import type { EntityInstance } from "../user/entityInstance.ts";
import type { Intent } from "../user/intent.ts";
import { findInvention } from "./inventedWords.ts";
import { includesText, saysDay, saysValue } from "./spokenValues.ts";
import { listIntents, type TurnPlan } from "./turnPlan.ts";

/** What is wrong with a text: a word for the log, and a sentence for the model that wrote it. */
export interface TextFlaw {
  readonly event: string;
  readonly complaint: string;
}

const limits = {
  words: 160,
  characters: 2000,
  /** A minimal message may have `factor` times the words of the plain wording, plus `more`. */
  minimal: { factor: 2, more: 8 },
};

/** Why the user may not say this, or undefined. */
export function findGroundingFlaw(text: string, plan: TurnPlan): TextFlaw | undefined {
  const format = findFormatFlaw(text);
  if (format) return format;
  const id = findUnspokenId(text, plan);
  if (id !== undefined)
    return {
      event: "says an id",
      complaint: `it says the identifier ${id}, which no person knows`,
    };
  for (const intent of listIntents(plan)) {
    const lostWords = findLostWords(intent, text, plan);
    if (lostWords !== undefined)
      return { event: "loses a value", complaint: `it does not say ${lostWords}` };
  }
  const invention = findInvention(text, plan);
  if (invention !== undefined)
    return {
      event: "makes something up",
      complaint: `it speaks of ${invention}, which was not given`,
    };
  return findLengthFlaw(text, plan);
}

function findFormatFlaw(text: string): TextFlaw | undefined {
  if (countWords(text) === 0) return { event: "empty", complaint: "it is empty" };
  if (
    /^\s*(user|person|message|assistant)\s*:/i.test(text) ||
    text.includes("```") ||
    hasInvisibleCharacters(text)
  )
    return { event: "no message", complaint: "it is not a plain message alone" };
  return text.length > limits.characters
    ? { event: "too long", complaint: `it has ${text.length} characters` }
    : undefined;
}

function findLengthFlaw(text: string, { isMinimal, plain }: TurnPlan): TextFlaw | undefined {
  const { factor, more } = limits.minimal;
  const words = countWords(text);
  const maxWords = isMinimal ? factor * plain.split(/\s+/).length + more : limits.words;
  return words > maxWords
    ? { event: "too long", complaint: `it has ${words} words, where ${maxWords} are enough` }
    : undefined;
}

const countWords = (text: string): number => text.split(/\s+/).filter(it => it !== "").length;

/** Whether a text contains characters that a reader does not see. */
export const hasInvisibleCharacters = (text: string): boolean =>
  splitVisibleLines(text.replaceAll("\t", " ")).join("\n") !==
  text.replaceAll("\t", " ").replaceAll(/\r\n?/g, "\n");

/** Finds an id in the text that people do not say. */
export function findUnspokenId(
  text: string,
  { sample, turn, plain }: Pick<TurnPlan, "sample" | "turn" | "plain">,
): string | undefined {
  const spoken = new Set(
    (turn?.intents ?? []).flatMap(it =>
      it.mentions.flatMap(mention => (mention.isIdSpoken ? [mention.instance.id] : [])),
    ),
  );
  const known = [...(sample?.instances.values() ?? [])].flat().map(it => it.id);
  return (
    known.find(
      it =>
        /[_\d]/.test(it) && !spoken.has(it) && containsToken(text, it) && !containsToken(plain, it),
    ) ?? /\b[a-z]+_\d+\b/.exec(text.replaceAll(plain, ""))?.[0]
  );
}

/** Finds words of an intent that the plain wording has and the text does not, in quotes. */
function findLostWords(
  { arguments: args, argumentTexts, mentions }: Intent,
  text: string,
  { plain, now }: TurnPlan,
): string | undefined {
  for (const [key, marked] of Object.entries(argumentTexts)) {
    const value = args[key];
    const words = removeMarks(marked);
    if (value === undefined || !includesText(plain, words)) continue;
    const own = mentions.filter(it => [value].flat().includes(it.instance.id));
    const isSaid =
      own.length > 0
        ? own.every(({ instance }) => namesEntity(text, instance, words, now))
        : saysValue(text, value, words, now);
    if (!isSaid) return `"${words}"`;
  }
  return undefined;
}

/** Whether a text names an entity as clearly as `words`: by its name, or by all of its features. */
function namesEntity(
  text: string,
  { id, label }: EntityInstance,
  words: string,
  now: string,
): boolean {
  const name = [id, label].find(it => it !== undefined && includesText(words, it));
  if (includesText(text, words) || (name !== undefined && includesText(text, name))) return true;
  if (name !== undefined) return false;
  const days = words.match(isoDays) ?? [];
  const rest = words.replaceAll(isoDays, " ");
  const features = rest.match(/["“][^"”]+["”]|[\p{L}\p{N}]*[\p{Lu}\p{N}][\p{L}\p{N}.]*/gu) ?? [];
  return days.every(it => saysDay(text, it, now)) && features.every(it => includesText(text, it));
}

const isoDays = /\d{4}-\d\d-\d\d/g;
