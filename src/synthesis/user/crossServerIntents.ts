/**
 * A wish over a bridge, tried out before it is said: the call that shows a value, made silently or
 * asked for just before, and the call of the other server that takes it. Knows the words of
 * bridges, not how turns are made of them.
 */
import type { Json } from "../../environment/json.ts";
import type { Random } from "../../environment/random.ts";
import { containsToken } from "../text/containsToken.ts";
import { getValueAt, type CrossServerLink } from "../text/crossServerLinks.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import { getFixedArguments, getTemplateText, type ClauseTemplate } from "../text/templateSchema.ts";
import { findSlots } from "../text/templateText.ts";
import { describeProblem } from "./userPlan.ts";
import { isEmptyResult, type FeasibilityChecker, type FeasibilityResult } from "./feasibility.ts";
import { isMoney, formatReplyValue } from "../text/formatValue.ts";
import type { EntityInstance } from "./entitySampling.ts";
import type { PassedValues, Intent } from "./intent.ts";

/** Draws of a case and of a wish before a step is given up. */
const tries = 12;

/** The walk over bridges in one talk: it keeps to the case that was drawn for each. */
export class CrossServerIntents {
  readonly #cases = new Map<CrossServerLink, Chosen>();

  /**
   * The wish over a bridge, or the wish that leads onto one, kept; or why there is none. `form`
   * draws the words for what leads onto it.
   */
  createIntent(
    { link, end }: LinkStep,
    heard: string,
    form: () => ClauseTemplate,
    rehearsal: FeasibilityChecker,
  ): FeasibilityResult | string {
    const { random } = rehearsal.context;
    let why = "";
    for (let attempt = 0; attempt < tries; attempt++) {
      const chosen = (end === "to" && this.#cases.get(link)) || caseOf(link, random);
      const trials =
        end === "to"
          ? crossed(link, chosen, heard, rehearsal)
          : leading(link, chosen, form(), rehearsal);
      why = describeProblem(typeof trials === "string" ? trials : trials.trial);
      if (
        typeof trials === "string" ||
        trials.trial.outcome.kind !== "ok" ||
        (isEmptyResult(trials.trial.outcome.value) && (end === "from" || !random.boolean(0.3)))
      )
        continue;
      if (end === "from" && !leadsOn(trials.trial, link, chosen, heard, rehearsal)) {
        why = "it leads nowhere";
        continue;
      }
      this.#cases.set(link, chosen);
      for (const it of [trials.source, trials.trial]) if (it) rehearsal.commit(it);
      return trials.trial;
    }
    return `no sensible ${link[end]} over ${link.name} (${why})`;
  }
}

/** Whether a bridge can be walked from what this wish shows. */
function leadsOn(
  trial: FeasibilityResult,
  bridge: CrossServerLink,
  chosen: Chosen,
  heard: string,
  rehearsal: FeasibilityChecker,
): boolean {
  const aside = rehearsal.fork();
  aside.commit(trial);
  return [1, 2].some(() => {
    const crossing = crossed(bridge, chosen, heard, aside);
    return typeof crossing !== "string" && crossing.trial.outcome.kind === "ok";
  });
}

/**
 * One step of a talk over several servers: the first call of a bridge where it is asked for, or the
 * wish over it.
 */
export interface LinkStep {
  readonly link: CrossServerLink;
  readonly end: "from" | "to";
}

/** A case of a bridge, drawn: one value for each argument. */
type Chosen = Readonly<Record<string, Json>>;

/**
 * The wish over a bridge: said by its `after` where the first call is what was granted last, else
 * by its `forms`. With it the trial of the first call, where that goes unsaid. `heard` is what the
 * user has said before.
 */
function crossed(
  bridge: CrossServerLink,
  chosen: Chosen,
  heard: string,
  rehearsal: FeasibilityChecker,
): { readonly source?: FeasibilityResult; readonly trial: FeasibilityResult } | string {
  const { random } = rehearsal.context;
  const { last } = rehearsal;
  if (bridge.after && last?.wish.tool.name === bridge.from) {
    const trial = taken(bridge, chosen, random.pick(bridge.after), { ...last, heard }, rehearsal);
    return typeof trial === "string" ? trial : { trial };
  }
  if (!bridge.forms) return `${bridge.from} was not asked for`;
  const form = random.pick(bridge.forms);
  const source = shown(bridge, chosen, form, rehearsal);
  if (typeof source === "string") return source;
  if (source.outcome.kind !== "ok") return source.outcome.message;
  const trial = taken(
    bridge,
    chosen,
    form,
    { wish: source.intent, value: source.outcome.value, heard },
    rehearsal,
    true,
  );
  return typeof trial === "string" ? trial : { source, trial };
}

/**
 * The first call of a bridge as a wish of its own, said like any other, about what the case names.
 */
function leading(
  bridge: CrossServerLink,
  chosen: Chosen,
  form: ClauseTemplate,
  rehearsal: FeasibilityChecker,
): { readonly source?: FeasibilityResult; readonly trial: FeasibilityResult } | string {
  const { from } = bridge;
  const passed = given(chosen, "from.", from, rehearsal);
  if (typeof passed === "string") return passed;
  // a case that the words leave out, or that they gainsay
  const unsaid = Object.entries(passed.values).find(
    ([key, it]) =>
      !findSlots(getTemplateText(form)).includes(key) && getFixedArguments(form)[key] !== it,
  );
  if (unsaid) return `nobody says ${unsaid[0]}`;
  const trial = rehearsal.check({
    declaration: rehearsal.context.declarations.get(from)!,
    template: form,
    passed,
  });
  if (typeof trial === "string") return trial;
  return unfit(bridge, trial.intent) ?? { trial };
}

/** Why the first call shows no value of use. */
function unfit({ needs, without }: CrossServerLink, first: Intent): string | undefined {
  const has = (key: string) => first.arguments[key] !== undefined;
  const lacks = needs?.find(it => !has(it));
  return lacks === undefined
    ? without?.find(has) && "it is asked for too much"
    : `${lacks} is not asked for`;
}

/** The first call, made to be read from: its words are how the clause names what it is about. */
function shown(
  { from, with: fixed = {} }: CrossServerLink,
  chosen: Chosen,
  form: string,
  rehearsal: FeasibilityChecker,
): FeasibilityResult | string {
  const passed = given(chosen, "from.", from, rehearsal);
  if (typeof passed === "string") return passed;
  const say = findSlots(form)
    .flatMap(it => (it.startsWith("from.") ? [`{${it.slice(5)}}`] : []))
    .join(" ");
  return rehearsal.check({
    declaration: rehearsal.context.declarations.get(from)!,
    template: { say: say || " ", with: fixed },
    passed,
  });
}

interface First {
  readonly wish: Intent;
  readonly value: Json;
  readonly heard: string;
}

/** The call that takes what the first one showed. */
function taken(
  bridge: CrossServerLink,
  chosen: Chosen,
  form: string,
  first: First,
  rehearsal: FeasibilityChecker,
  isSilent = false,
): FeasibilityResult | string {
  const declared = rehearsal.context.declarations.get(bridge.to)!;
  const passed = given(chosen, "", bridge.to, rehearsal);
  if (typeof passed === "string") return passed;
  const flaw = unfit(bridge, first.wish);
  if (flaw !== undefined) return flaw;
  const values: Record<string, Json> = { ...passed.values };
  const things: Record<string, EntityInstance> = { ...passed.instances };
  for (const [key, path] of Object.entries(bridge.fill)) {
    const value = path.startsWith("=")
      ? first.wish.arguments[path.slice(1)]
      : getValueAt(first.value, path);
    if (value === undefined || value === null || value === "" || typeof value === "object")
      return `${bridge.from} shows no ${path} here`;
    const make = bridge.like?.[key];
    if (
      bridge.never?.[key]?.includes(value) ||
      (make !== undefined && !new RegExp(make, "u").test(wordOf(value)))
    )
      return `${wordOf(value)} makes no sense there`;
    const input = declared.inputs.find(it => it.key === key);
    if (input && !input.isSpoken) {
      const thing = rehearsal.findByLabel(input.entity, wordOf(value));
      if (!thing) return `there is no ${input.entity} called ${wordOf(value)}`;
      things[key] = thing;
    }
    const isText = declared.values.find(it => it.key === key)?.schema["type"] === "string";
    values[key] = isText ? wordOf(value) : value;
  }
  const trial = rehearsal.check({
    declaration: declared,
    template: {
      say: form,
      with: bridge.fixed ?? {},
      reply: (!isSilent && bridge.added) || bridge.reply,
    },
    passed: {
      values,
      instances: things,
      slotTexts: saidOf(first, rehearsal),
      ...(isSilent ? { prerequisite: { intent: first.wish, result: first.value } } : {}),
    },
  });
  if (typeof trial === "string") return trial;
  // a value that the user says flows from nowhere
  const said = `${first.heard}\n${first.wish.clause}\n${trial.intent.clause}`;
  return Object.keys(bridge.fill).every(key => containsToken(said, wordOf(values[key]!)))
    ? "the user says it already"
    : trial;
}

const wordOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A case's values for the arguments of one of the two calls. */
function given(
  chosen: Chosen,
  prefix: "" | "from.",
  tool: string,
  rehearsal: FeasibilityChecker,
): PassedValues | string {
  const values: Record<string, Json> = {};
  const things: Record<string, EntityInstance> = {};
  for (const [name, value] of Object.entries(chosen)) {
    if (name.startsWith("from.") !== (prefix === "from.")) continue;
    const key = name.slice(prefix.length);
    const input = rehearsal.context.declarations.get(tool)!.inputs.find(it => it.key === key);
    if (input && !input.isSpoken) {
      const thing = rehearsal.findByLabel(input.entity, wordOf(value));
      if (!thing) return `there is no ${input.entity} called ${wordOf(value)}`;
      things[key] = thing;
    }
    values[key] = value;
  }
  return { values, instances: things, slotTexts: {} };
}

/** Words for `{from.…}`: arguments as they were named, and every plain field of the result. */
function saidOf({ wish, value }: First, { context }: FeasibilityChecker): Record<string, string> {
  const said: Record<string, string> = {};
  for (const [path, it] of plainFields(value, ""))
    said[`from.${path}`] = markVerbatim(formatReplyValue(it, context, isSum(path)));
  // a thing goes by its mention, a value as the result has it
  const { inputs } = context.declarations.get(wish.tool.name)!;
  for (const [key, it] of Object.entries(wish.argumentTexts))
    if (inputs.some(input => input.key === key) || said[`from.${key}`] === undefined)
      said[`from.${key}`] = it;
  return said;
}

const isSum = (path: string): boolean =>
  isMoney(path.split(".").at(-1)!, undefined) ||
  /(^|\.)(left|missing|last|buy_now|free)$/.test(path);

function* plainFields(value: Json, path: string): Generator<readonly [string, Json]> {
  if (value === null) return;
  if (typeof value !== "object") yield [path, value];
  else if (Array.isArray(value)) {
    if (value.length > 0) yield* plainFields(value.at(-1) as Json, `${path}.last`);
    if (value.length > 0) yield* plainFields(value[0] as Json, `${path}.0`);
  } else
    for (const [key, it] of Object.entries(value))
      yield* plainFields(it, path ? `${path}.${key}` : key);
}

/** One of a bridge's cases, with one value for each argument. */
function caseOf({ cases }: CrossServerLink, random: Random): Chosen {
  if (!cases) return {};
  return Object.fromEntries(
    Object.entries(random.pick(cases)).map(([key, it]) => [
      key,
      Array.isArray(it) ? random.pick(it as readonly Json[]) : it,
    ]),
  );
}
