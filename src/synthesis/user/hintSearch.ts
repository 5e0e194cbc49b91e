/**
 * Finds requests that the session refuses with a hint at what would work, and that the user allows
 * the assistant to change accordingly: "or as much as there is".
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import { getPropertySchema } from "../../trajectory/valueEquality.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { isRequest } from "../text/clauses.ts";
import { renderArgumentValue } from "./argumentValues.ts";
import { findsSomething, type FeasibilityResult } from "./feasibilityResult.ts";
import type { Intent } from "./intent.ts";
import type { RecoveryRequest } from "./recoveryRequest.ts";
import { addPermission, getRefusalText, resolveArguments } from "./repairSearch.ts";

/** A request that works as the refusal says, or undefined if this one is not refused so. */
export function findHintedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, declaration, recoveries, check } = request;
  const { tool } = declaration;
  const hints = (recoveries.hints ?? []).filter(it => it.of.includes(tool.name));
  if (hints.length === 0) return undefined;
  const result = check();
  if (result?.outcome.kind !== "refused" || !isRequest(result.intent.clause)) return undefined;
  const { intent, outcome } = result;
  const call = { name: tool.name, arguments: intent.arguments };
  for (const hint of hints) {
    const match = new RegExp(hint.refused).exec(getRefusalText(outcome));
    const changes = match && resolveArguments(hint.change, { call, intent, match });
    if (!changes) continue;
    const typed = Object.fromEntries(
      Object.entries(changes).map(([key, value]) => [
        key,
        readValue(value, getPropertySchema(tool.inputSchema, key)),
      ]),
    );
    const say = search.context.random.pick(hint.say);
    if (!canFollow(say, intent, Object.keys(changes))) continue;
    const hinted = search.checker.checkAfter([], {
      intent: {
        ...intent,
        arguments: { ...intent.arguments, ...typed },
        mentions: intent.mentions.map(it => {
          const key = Object.keys(typed).find(of => intent.arguments[of] === it.instance.id);
          const id = key === undefined ? undefined : typed[key];
          return typeof id === "string" ? { ...it, instance: { ...it.instance, id } } : it;
        }),
        argumentTexts: { ...intent.argumentTexts, ...renderChanges(typed, request) },
        clause: addPermission(intent.clause, say),
        recovery: { sort: "hint", refused: intent.arguments, steps: [], told: [hint.told] },
      },
      declaration,
    });
    if (typeof hinted !== "string" && findsSomething(hinted)) return hinted;
  }
  return undefined;
}

/**
 * Whether "or as much as there is" can end a clause: not after another part that does not name what
 * may change.
 */
function canFollow(
  say: string,
  { clause, argumentTexts }: Intent,
  keys: readonly string[],
): boolean {
  const last = clause.split(/[,;] /).at(-1)!;
  if (last === clause || !say.startsWith("or ")) return true;
  return keys.some(it => argumentTexts[it] !== undefined && last.includes(argumentTexts[it]));
}

/** The value of a named group as the argument's type. */
function readValue(value: Json, schema: JsonSchema | undefined): Json {
  const type = JSON.stringify(schema ?? {});
  return typeof value === "string" && /"type":"(number|integer)"/.test(type)
    ? Number(value)
    : value;
}

const renderChanges = (
  changes: JsonObject,
  { search, declaration: { tool } }: RecoveryRequest,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(changes).map(([key, value]) => {
      const schema = getPropertySchema(tool.inputSchema, key) ?? {};
      return [key, renderArgumentValue(search.context, { tool, key, schema, value })];
    }),
  );
