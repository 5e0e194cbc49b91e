/** Chooses plain values for arguments and puts them into words. */
import type { Json } from "../../../environment/json.ts";
import type { JsonSchema, Tool } from "../../../environment/server.ts";
import { addDays } from "../../../environment/time.ts";
import { formatValue, isMoney } from "../../text/formatValue.ts";
import { findArgumentTemplates } from "../../text/templates.ts";
import {
  chooseAlternatives,
  fillSlots,
  joinWithAnd,
  markVerbatim,
} from "../../text/templateText.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { EntityMention } from "./intent.ts";

export interface Argument {
  readonly tool: Tool;
  /** The key; `relations.from` in a list of objects. */
  readonly key: string;
  readonly schema: JsonSchema;
}

/**
 * A value for an argument: from the tool's templates, else generated from the schema. A secret is
 * that of one of its `owners`, where a row shows it. `mentions` are the entities that the request
 * names.
 */
export function pickArgumentValue(
  context: ConversationContext,
  {
    tool,
    key,
    schema,
    owners = [],
    mentions = [],
  }: Argument & {
    readonly owners?: readonly EntityMention[];
    readonly mentions?: readonly EntityMention[];
  },
): Json | undefined {
  const owner = owners.find(it => it.instance.facts[key] !== undefined);
  if (owner) return owner.instance.facts[key];
  const templates = findArgumentTemplates(context.templates, tool.name, key);
  const suiting = mentions.flatMap(it => templates?.valuesBy?.[it.instance.label ?? ""] ?? []);
  if (suiting.length > 0) return context.random.pick(suiting);
  if (templates?.values) return context.random.pick(templates.values);
  if (templates?.words && !schema["enum"])
    return parseKey(context.random.pick(Object.keys(templates.words)), schema);
  return generateValue(context, schema, templates?.days);
}

const parseKey = (key: string, schema: JsonSchema): Json =>
  schema["type"] === "string" ? key : (JSON.parse(key) as Json);

/**
 * A value that fits a schema, or undefined for a schema of which any text could be meant. `days` is
 * the range of dates, counted from today.
 */
export function generateValue(
  { now, random, localize }: Pick<ConversationContext, "now" | "random" | "localize">,
  schema: JsonSchema,
  days: readonly [number, number] = [1, 21],
): Json | undefined {
  const values = schema["enum"] as readonly Json[] | undefined;
  if (values?.length) return random.pick(values);
  const examples = schema["examples"] as readonly Json[] | undefined;
  if (examples?.length) {
    const example = random.pick(examples);
    return localize ? localize(example) : example;
  }
  const pickDay = () => addDays(now.slice(0, 10), days[0] + random.integer(days[1] - days[0] + 1));
  const pickTime = () =>
    `${String(9 + random.integer(8)).padStart(2, "0")}:${random.pick(["00", "00", "30", "15", "45"])}`;
  if (isDate(schema)) return pickDay();
  if (isDateTime(schema)) {
    // meetings are mostly on weekdays
    const [first, second] = [pickDay(), pickDay()];
    return `${[0, 6].includes(new Date(first).getUTCDay()) ? second : first}T${pickTime()}`;
  }
  switch (schema["type"]) {
    case "integer":
    case "number": {
      const { minimum = 1, maximum = 60 } = schema as { minimum?: number; maximum?: number };
      const start = Math.ceil(minimum);
      const end = Math.min(maximum, minimum + 60);
      return start + random.integer(Math.max(1, end - start));
    }
    case "boolean":
      return random.boolean(0.5);
    case "array": {
      const item = generateValue(
        { now, random, ...(localize ? { localize } : {}) },
        (schema["items"] ?? {}) as JsonSchema,
        days,
      );
      return item === undefined ? undefined : [item];
    }
    default:
      return undefined;
  }
}

export const isDate = (schema: JsonSchema): boolean => hasPatternFor(schema, "2026-03-09");
export const isDateTime = (schema: JsonSchema): boolean =>
  hasPatternFor(schema, "2026-03-09T10:30");

/** Whether the schema's pattern accepts the example, and not just any text. */
function hasPatternFor(schema: JsonSchema, example: string): boolean {
  const pattern = schema["pattern"];
  if (typeof pattern !== "string") return false;
  let regex = patterns.get(pattern);
  if (!regex) patterns.set(pattern, (regex = new RegExp(pattern, "u")));
  return regex.test(example) && !regex.test("x");
}

const patterns = new Map<string, RegExp>();

const isDayOrTime = (value: Json): boolean =>
  typeof value === "string" && /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/.test(value);

/** Names of arguments that begin or end a span of days. */
const bounds = /(^|[._])(after|before|by|check_in|check_out|from|since|to|until)(_|$)/;

/** An argument's value in the user's words. */
export function renderArgumentValue(
  { templates, now, persona, random, relativeDateShare }: ConversationContext,
  { tool, key, schema, value }: Argument & { readonly value: Json },
): string {
  const style =
    relativeDateShare === undefined
      ? {}
      : { relativeShare: relativeDateShare, isBound: bounds.test(key) };
  const isDay = relativeDateShare !== undefined && isDayOrTime(value);
  const own = findArgumentTemplates(templates, tool.name, key);
  const words = own?.words?.[typeof value === "string" ? value : JSON.stringify(value)];
  const format = () =>
    formatValue(
      value,
      { now, persona: { ...persona, ...style }, random },
      isMoney(key.split(".").at(-1)!, schema),
    );
  // "tomorrow" begins a sentence like any other word
  const mark = isDay ? (it: string) => it : markVerbatim;
  const text = words
    ? random.pick(words)
    : mark(Array.isArray(value) ? joinWithAnd(value.map(String)) : format());
  return own?.say
    ? fillSlots(chooseAlternatives(random.pick(own.say), random), slot =>
        slot === "value" ? text : undefined,
      )!
    : text;
}
