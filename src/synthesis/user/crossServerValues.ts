/** Computes the values that a cross-server link passes on, and those that its cases set. */
import type { Json } from "../../environment/json.ts";
import type { Random } from "../../environment/random.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { getValueAt, type CrossServerLink } from "../text/crossServerLinks.ts";
import { formatReplyValue, isMoney } from "../text/formatValue.ts";
import type { ConversationContext } from "./conversationContext.ts";
import type { EntityInstance } from "./entityInstance.ts";
import type { FeasibilityChecker } from "./feasibilityChecker.ts";
import type { Intent, PassedValues } from "./intent.ts";
import { markVerbatim } from "../text/valueMarks.ts";

/** One value for each argument of a link's case. */
export type LinkCase = Readonly<Record<string, Json>>;

/** The first call of a link, with its result. */
export interface SourceCall {
  readonly intent: Intent;
  readonly result: Json;
}

/** Draws one of a link's cases, and one value for each of its arguments. */
export function drawCase({ cases }: CrossServerLink, random: Random): LinkCase {
  if (!cases) return {};
  return Object.fromEntries(
    Object.entries(random.pick(cases)).map(([key, it]) => [
      key,
      Array.isArray(it) ? random.pick(it as readonly Json[]) : it,
    ]),
  );
}

/** The case's values for one of the link's two calls, or the reason why there are none. */
export function getCaseValues(
  linkCase: LinkCase,
  prefix: "" | "from.",
  tool: string,
  checker: FeasibilityChecker,
): PassedValues | string {
  const declaration = checker.context.declarations.get(tool)!;
  const values: Record<string, Json> = {};
  const instances: Record<string, EntityInstance> = {};
  for (const [name, value] of Object.entries(linkCase)) {
    if (name.startsWith("from.") !== (prefix === "from.")) continue;
    const key = name.slice(prefix.length);
    const instance = findReferredInstance(declaration, key, value, checker);
    if (typeof instance === "string") return instance;
    if (instance) instances[key] = instance;
    values[key] = value;
  }
  return { values, instances, slotTexts: {} };
}

/**
 * The values that the second call takes from the first one, with those of the case, or the reason
 * why they make no sense.
 */
export function getLinkedValues(
  link: CrossServerLink,
  source: SourceCall,
  caseValues: PassedValues,
  checker: FeasibilityChecker,
): Pick<PassedValues, "values" | "instances"> | string {
  const declaration = checker.context.declarations.get(link.to)!;
  const values: Record<string, Json> = { ...caseValues.values };
  const instances: Record<string, EntityInstance> = { ...caseValues.instances };
  for (const [key, path] of Object.entries(link.fill)) {
    const value = path.startsWith("=")
      ? source.intent.arguments[path.slice(1)]
      : getValueAt(source.result, path);
    if (value === undefined || value === null || value === "" || typeof value === "object")
      return `${link.from} shows no ${path} here`;
    if (!isAllowedValue(link, key, value)) return `${formatPlain(value)} makes no sense there`;
    const instance = findReferredInstance(declaration, key, value, checker);
    if (typeof instance === "string") return instance;
    if (instance) instances[key] = instance;
    const isText = declaration.values.find(it => it.key === key)?.schema["type"] === "string";
    values[key] = isText ? formatPlain(value) : value;
  }
  return { values, instances };
}

function isAllowedValue({ like, never }: CrossServerLink, key: string, value: Json): boolean {
  const pattern = like?.[key];
  return (
    !never?.[key]?.includes(value) &&
    (pattern === undefined || new RegExp(pattern, "u").test(formatPlain(value)))
  );
}

/** The instance whose label an argument is given by, undefined for other arguments, or a reason. */
function findReferredInstance(
  { inputs }: ToolDeclaration,
  key: string,
  value: Json,
  checker: FeasibilityChecker,
): EntityInstance | string | undefined {
  const input = inputs.find(it => it.key === key);
  if (!input || input.isSpoken) return undefined;
  const label = formatPlain(value);
  return checker.findByLabel(input.entity, label) ?? `there is no ${input.entity} called ${label}`;
}

/** Texts for the slots `{from.…}`: the arguments as they were named, and every plain field. */
export function getSourceTexts(
  { intent, result }: SourceCall,
  { declarations, now, random }: ConversationContext,
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [path, value] of listPlainFields(result, ""))
    texts[`from.${path}`] = markVerbatim(
      formatReplyValue(value, { now, random }, isMoneyField(path)),
    );
  // an entity is called as the user mentioned it, a value as the result has it
  const { inputs } = declarations.get(intent.tool.name)!;
  for (const [key, text] of Object.entries(intent.argumentTexts))
    if (inputs.some(input => input.key === key) || texts[`from.${key}`] === undefined)
      texts[`from.${key}`] = text;
  return texts;
}

const isMoneyField = (path: string): boolean =>
  isMoney(path.split(".").at(-1)!, undefined) ||
  /(^|\.)(left|missing|last|buy_now|free)$/.test(path);

/** The plain fields of a result; of a list, those of the last and the first item. */
function* listPlainFields(value: Json, path: string): Generator<readonly [string, Json]> {
  if (value === null) return;
  if (typeof value !== "object") yield [path, value];
  else if (Array.isArray(value)) {
    if (value.length > 0) yield* listPlainFields(value.at(-1) as Json, `${path}.last`);
    if (value.length > 0) yield* listPlainFields(value[0] as Json, `${path}.0`);
  } else
    for (const [key, it] of Object.entries(value))
      yield* listPlainFields(it, path ? `${path}.${key}` : key);
}

/** A value as it stands, without formatting. */
export const formatPlain = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);
