/**
 * Values that a user says by what is there now, so that the assistant has to look and compute: "50
 * euros more than now", "a week later", "half of what is on it".
 */
import type { Json } from "../../../environment/json.ts";
import { addDays, addMinutes } from "../../../environment/time.ts";
import type { Random } from "../../../environment/random.ts";
import { isMoney } from "../../text/formatValue.ts";
import { findArgumentTemplates } from "../../text/templates.ts";
import { chooseAlternatives, fillSlots, markVerbatim } from "../../text/templateText.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { EntityMention, ValueSource } from "./intent.ts";
import { isDate, isDateTime, type Argument } from "./plainValues.ts";

/** A value with the user's words for it, and what it is computed from. */
interface ComputedValue {
  readonly value: Json;
  readonly text: string;
  readonly source: ValueSource;
}

/** A value computed from a field that the templates name, or undefined where none fits. */
export function computeValue(
  context: ConversationContext,
  argument: Argument,
  mentions: readonly EntityMention[],
): ComputedValue | undefined {
  const { templates, random, computedShare = 0 } = context;
  const { tool, key } = argument;
  const computed = templates.tools[tool.name]?.computed?.[key];
  if (!computed || computedShare === 0 || !random.boolean(computedShare)) return undefined;
  const mention = mentions.find(it => it.instance.facts[computed.of] !== undefined);
  const now = mention?.instance.facts[computed.of];
  if (!mention || mention.isIdSpoken || now === undefined) return undefined;
  const found =
    typeof now === "number"
      ? computed.shares
        ? takeShare(now, computed.shares, argument, random)
        : adjustNumber(now, argument, context)
      : typeof now === "string"
        ? moveTime(now, argument, context)
        : undefined;
  return found && { ...found, source: { mention, field: computed.of } };
}

type FoundValue = Omit<ComputedValue, "source">;

function takeShare(
  now: number,
  shares: Readonly<Record<string, number>>,
  argument: Argument,
  random: Random,
): FoundValue | undefined {
  const [text, factor] = random.pick(Object.entries(shares));
  const value = roundExactly(now * factor);
  return value !== undefined && fits(value, argument.schema) ? { value, text } : undefined;
}

/** By how much people change a number. */
const steps = [0.5, 1, 2, 5, 10, 15, 20, 25, 50, 100, 150, 200, 250, 500, 1000, 2000];

function adjustNumber(
  now: number,
  { tool, key, schema }: Argument,
  { templates, random }: ConversationContext,
): FoundValue | undefined {
  const own = findArgumentTemplates(templates, tool.name, key);
  const isWhole = schema["type"] === "integer" || (Number.isInteger(now) && now > 2);
  const usual = steps.filter(
    it => it >= now / 20 && it <= now * 0.6 && (!isWhole || Number.isInteger(it)),
  );
  const choices: FoundValue[] = [
    { value: now * 2, text: random.pick(["twice what it is now", "double of what it is now"]) },
    { value: now / 2, text: "half of what it is now" },
  ];
  if (usual.length > 0) {
    const step = random.pick(usual);
    const words = (own?.say && chooseAlternatives(random.pick(own.say), random)) ?? "{value}";
    const amount = fillSlots(words, () =>
      markVerbatim(isMoney(key, schema) ? format(step) : `${step}`),
    );
    // "10 percent less" of 80 percent is either 70 or 72
    if (amount === undefined || /\b(at|to|for|by|percent)\b|%/.test(amount)) return undefined;
    const more = [{ value: now + step, text: `${amount} more than now` }];
    const less = [{ value: now - step, text: `${amount} less than now` }];
    // doubling is rarer than a bit more
    choices.push(...more, ...more, ...less, ...less);
  }
  const { value, text } = random.pick(choices);
  const exact = roundExactly(value as number);
  return exact !== undefined && fits(exact, schema) && (!isWhole || Number.isInteger(exact))
    ? { value: exact, text }
    : undefined;
}

const format = (amount: number): string =>
  Number.isInteger(amount) ? String(amount) : amount.toFixed(2);

/** The value with up to two decimals; undefined if it has more. */
function roundExactly(value: number): number | undefined {
  const rounded = Number(value.toFixed(2));
  return Math.abs(rounded - value) < 1e-9 ? rounded : undefined;
}

function fits(value: number, { minimum = 0, maximum = Infinity }: Argument["schema"]): boolean {
  return value > 0 && value >= Number(minimum) && value <= Number(maximum);
}

const dayShifts = [
  { days: 1, words: "a day" },
  { days: 2, words: "two days" },
  { days: 3, words: "three days" },
  { days: 7, words: "a week" },
  { days: 14, words: "two weeks" },
];

const minuteShifts = [
  { minutes: 30, words: "half an hour" },
  { minutes: 60, words: "an hour" },
  { minutes: 90, words: "an hour and a half" },
  { minutes: 120, words: "two hours" },
];

function moveTime(
  now: string,
  { schema }: Argument,
  { random, now: today }: ConversationContext,
): FoundValue | undefined {
  const isDay = isDate(schema) && /^\d{4}-\d{2}-\d{2}$/.test(now);
  const isTime = isDateTime(schema) && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(now);
  if (!isDay && !isTime) return undefined;
  const isLater = random.boolean(0.7);
  const sign = isLater ? 1 : -1;
  const order = isLater ? "later" : "earlier";
  if (isDay || random.boolean(0.4)) {
    const { days, words } = random.pick(dayShifts);
    const value = addDays(now.slice(0, 10), sign * days) + now.slice(10);
    return value > today ? { value, text: `${words} ${order}` } : undefined;
  }
  const { minutes, words } = random.pick(minuteShifts);
  const value = addMinutes(now, sign * minutes);
  const hour = Number(value.slice(11, 13));
  return value > today && hour >= 7 && hour < 21 && value.slice(0, 10) === now.slice(0, 10)
    ? { value, text: `${words} ${order}` }
    : undefined;
}
