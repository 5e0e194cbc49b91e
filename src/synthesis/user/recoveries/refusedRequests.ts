/**
 * Requests that the session refuses at first: until another call has put its state right, as the
 * server's recoveries declare it, or until they are changed as the refusal hints.
 */
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { Call, Outcome } from "../../../environment/outcome.ts";
import type { Session } from "../../../environment/session.ts";
import { getPropertySchema } from "../../../trajectory/valueMatching.ts";
import type { ArgumentSource, Repair } from "../../text/recoveries.ts";
import { isRequest } from "../../text/grammar.ts";
import { findsSomething, type FeasibilityResult } from "../intents/feasibility.ts";
import type { Intent } from "../intents/intent.ts";
import type { RecoveryRequest } from "./recoveryRequest.ts";
import type { JsonSchema } from "../../../environment/server.ts";
import { renderArgumentValue } from "../intents/plainValues.ts";

/** Repairs that one request may need, and repairs that a repair may need itself. */
const limits = { repairs: 3, depth: 2 };

/** How often users say that a harmless repair is allowed. */
const allowedHarmless = 1 / 3;

/** A request that works once a repair has been made, or undefined if this one needs none. */
export function findRepairedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, recoveries, check } = request;
  const { repairs = [] } = recoveries;
  const result = check();
  if (!result || result.outcome.kind === "ok" || !isRequest(result.intent.clause)) return undefined;
  const { hiddenTools } = search.checker;
  const offered = hiddenTools ? repairs.filter(it => !hiddenTools.has(it.by)) : repairs;
  const plan = planRepairs(result, offered, search.checker.forkSession());
  if (!plan) return undefined;
  const { intent, declaration } = result;
  const { random, styleGuide } = { ...search.context, ...search.plan };
  const words = [
    ...new Set(plan.flatMap(it => (it.repair.say ? [random.pick(it.repair.say)] : []))),
  ];
  // what is allowed in so many words is all that is allowed
  const isGeneral = plan.some(it => !it.repair.say);
  if (words.length > 1 || (words.length === 1 && isGeneral)) return undefined;
  const needsNone = plan.every(it => it.repair.isHarmless) && !random.boolean(allowedHarmless);
  const permission = words[0] ?? random.pick(styleGuide.recovery.permissions);
  const steps = plan.map(it => it.call);
  const repaired = search.checker.checkAfter(steps, {
    intent: {
      ...intent,
      clause: needsNone ? intent.clause : addPermission(intent.clause, permission),
      recovery: {
        sort: "repair",
        refused: intent.arguments,
        steps,
        told: [...new Set(plan.map(it => it.repair.told))],
      },
    },
    declaration,
  });
  return typeof repaired !== "string" && findsSomething(repaired) ? repaired : undefined;
}

/** A clause with what the user allows, wants or does not mind besides. */
export function addPermission(clause: string, words: string): string {
  const isPart = /^even\b/.test(words)
    ? !/;|: /.test(clause)
    : /^(or|at)\b/.test(words) && !/[,;]|: /.test(clause);
  return `${clause}${isPart ? "," : ";"} ${words}`;
}

interface PlannedRepair {
  readonly repair: Repair;
  readonly call: Call;
}

/** The repairs after which the session accepts the intent's call, or undefined. */
function planRepairs(
  { intent, outcome: first }: Pick<FeasibilityResult, "intent" | "outcome">,
  repairs: readonly Repair[],
  session: Session,
): PlannedRepair[] | undefined {
  const plan: PlannedRepair[] = [];
  const call = { name: intent.tool.name, arguments: intent.arguments };
  let outcome = first;
  while (outcome.kind !== "ok") {
    const next = planRepair(call, outcome, { repairs, session, intent });
    if (!next || plan.length + next.length > limits.repairs) return undefined;
    plan.push(...next);
    outcome = session.fork().call(call.name, call.arguments).outcome;
  }
  return plan;
}

interface RepairContext {
  readonly repairs: readonly Repair[];
  /** The session that the repairs are made on. */
  readonly session: Session;
  readonly intent: Intent;
}

/** Makes the repair of a refused call, and before it whatever it needs itself. */
function planRepair(
  call: Call,
  outcome: Outcome,
  context: RepairContext,
  depth = 0,
): PlannedRepair[] | undefined {
  if (outcome.kind !== "refused" || depth >= limits.depth) return undefined;
  const { repairs, session, intent } = context;
  const text = getRefusalText(outcome);
  for (const repair of repairs) {
    const match = repair.of.includes(call.name) ? new RegExp(repair.refused).exec(text) : null;
    const args = match && resolveArguments(repair.arguments, { call, intent, match });
    if (!match || !args) continue;
    const made = { repair, call: { name: repair.by, arguments: args } };
    if (!repair.say && hasOtherWay(made, call, session)) continue;
    const before = session.state;
    const tried = session.call(repair.by, args).outcome;
    if (tried.kind === "ok") return [made];
    const first = planRepair(made.call, tried, context, depth + 1);
    if (first && session.call(repair.by, args).outcome.kind === "ok") return [...first, made];
    session.restore(before);
  }
  return undefined;
}

/** Message and hint of a refusal, as the expressions of recoveries read them. */
const getRefusalText = (outcome: Outcome): string =>
  outcome.kind === "ok" ? "" : `${outcome.message}\n${outcome.hint ?? ""}`;

/** The arguments from their sources, or undefined if one of them has no value. */
function resolveArguments(
  sources: Readonly<Record<string, ArgumentSource>>,
  {
    call,
    intent,
    match,
  }: { readonly call: Call; readonly intent: Intent; readonly match: RegExpExecArray },
): JsonObject | undefined {
  const args: Record<string, Json> = {};
  for (const [key, source] of Object.entries(sources)) {
    const value = resolveArgument(source);
    if (value === undefined) return undefined;
    args[key] = value;
  }
  return args;

  function resolveArgument(source: ArgumentSource): Json | undefined {
    if ("value" in source) return source.value;
    if ("argument" in source) return (call.arguments as JsonObject)[source.argument];
    if ("hint" in source) return match.groups?.[source.hint];
    const owner = intent.mentions.find(it => it.instance.facts[source.fact] !== undefined);
    return owner?.instance.facts[source.fact];
  }
}

/** Whether another choice would put it right as well, so that the user would have to choose. */
function hasOtherWay({ repair, call }: PlannedRepair, refused: Call, session: Session): boolean {
  const args = call.arguments as JsonObject;
  const { inputSchema } = session.tools.get(call.name)!;
  return Object.entries(repair.arguments).some(([key, source]) => {
    if (!("value" in source)) return false;
    const choices = (getPropertySchema(inputSchema, key)?.["enum"] ?? []) as readonly Json[];
    return choices.some(value => {
      if (value === source.value) return false;
      const fork = session.fork();
      return (
        fork.call(call.name, { ...args, [key]: value }).outcome.kind === "ok" &&
        fork.call(refused.name, refused.arguments).outcome.kind === "ok"
      );
    });
  });
}

// Finds requests that the session refuses with a hint at what would work, and that the user allows
// the assistant to change accordingly: "or as much as there is".

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
