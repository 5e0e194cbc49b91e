/**
 * Requests whose words for an entity are not enough to find it at once: they fit several entities,
 * a list shows it only further down, or what the user says of it no longer holds.
 */
import { formatValue, isMoney, formatReplyValue } from "../../text/formatValue.ts";
import { chooseAlternatives, fillSlots, findSlots, markVerbatim } from "../../text/templateText.ts";
import type { ResultEntity } from "../../../trajectory/entities.ts";
import { getEntityKey, type EntityInstance } from "../entities/entitySample.ts";
import { isSelf } from "../intents/entityArguments.ts";
import { findsSomething, type FeasibilityResult } from "../intents/feasibility.ts";
import { findLookUps, listRows, readWithLargestLimit, type LookUp } from "../entities/lookUps.ts";
import type { RecoveryRequest, Flow, RecoverySource } from "./recoveryRequest.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { Json } from "../../../environment/json.ts";
import { addDays } from "../../../environment/time.ts";
import { isRequest } from "../../text/grammar.ts";
import { addPermission } from "./refusedRequests.ts";

/** How many entities may fit the words, and how long a word has to be. */
const limits = { rows: 8, letters: 4 };

/** A request about an entity whose words fit several, or undefined. */
export function findAmbiguousIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, declaration, recoveries, check } = request;
  const { context, plan } = search;
  const { random, sample, known } = context;
  const inputs = declaration.inputs.filter(
    it => it.isRequired && !it.isList && !it.isSpoken && recoveries.apart?.[it.entity],
  );
  if (inputs.length === 0) return undefined;
  const { key, entity } = random.pick(inputs);
  const instances = (sample.instances.get(entity) ?? []).filter(it => it.label !== undefined);
  if (instances.length === 0) return undefined;
  const word = pickWord(random.pick(instances).label!);
  if (word === undefined) return undefined;
  const rows = listFitting(word, entity, request);
  const target = rows.length > 1 ? random.pick(rows) : undefined;
  const instance = target && sample.find(entity, target.id);
  const isNew = rows.every(it => !known.has(getEntityKey(it)));
  if (!target || !instance || !isNew || isSelf(context, instance)) return undefined;
  const text = tellApart(target, rows, word, random.pick(recoveries.apart![entity]!), request);
  if (text === undefined) return undefined;
  const wording = { text, isIdSpoken: false, partialName: word, isAmbiguous: true };
  const result = check({
    context: { ...context, wordings: new Map([[getEntityKey(instance), wording]]) },
    flow: { [key]: [instance] },
  });
  if (!result || !findsSomething(result) || result.intent.arguments[key] !== instance.id)
    return undefined;
  // the name says nothing if the others have it too
  const isNamed = rows.every(it => it === target || it.label !== target.label);
  const told = plan.styleGuide.recovery.chosen.map(it =>
    it
      .replace("{words}", () => markVerbatim(word))
      .replace("{name}", () => markVerbatim(target.label!)),
  );
  const recovery = { sort: "ambiguous", steps: [], told: isNamed ? [told] : [] } as const;
  return { ...result, intent: { ...result.intent, recovery } };
}

const listWords = (label: string): string[] => label.split(/[\s:;,.?!()"“”'’/-]+/);

/** Words at the beginning of a label that name nothing. */
const emptyWords = /^(Your|This|That|These|What|When|Where|With|From|Last|Next|First|Here|Only)$/;

/** The word of a label that people would pick to name it by. */
function pickWord(label: string): string | undefined {
  const first = listWords(label)[0]!;
  const isName = first.length >= limits.letters && /^\p{Lu}/u.test(first) && first !== label;
  return isName && !emptyWords.test(first) ? first : undefined;
}

/** The entities that a look-up by a word shows and whose labels contain it, if they are few. */
function listFitting(word: string, entity: string, { search }: RecoveryRequest): ResultEntity[] {
  const { context, checker } = search;
  const { declarations, sample } = context;
  const session = checker.forkSession();
  const { hiddenTools } = checker;
  const wanted = { entity, id: "", label: word, facts: {}, parents: {} };
  const lookUp = findLookUps(wanted, declarations, sample, {
    prefersLists: false,
    preferredTools: new Set(),
    ...(hiddenTools ? { hiddenTools } : {}),
  }).find(it => it.requiredInstances.length === 0);
  if (!lookUp?.isFiltered) return [];
  const rows = listRows(lookUp, wanted, session);
  const unique = [...new Map(rows.map(it => [it.id, it])).values()];
  return unique.length > limits.rows
    ? []
    : unique.filter(it => it.label !== undefined && listWords(it.label).includes(word));
}

/** The word with a field that no other row has the same value of; undefined without one. */
function tellApart(
  target: ResultEntity,
  rows: readonly ResultEntity[],
  word: string,
  text: string,
  { search }: RecoveryRequest,
): string | undefined {
  const { now, persona, random } = search.context;
  const template = chooseAlternatives(text, random);
  const fields = findSlots(template).filter(it => it !== "words");
  const isOwn = fields.some(field => {
    const value = target.facts[field];
    return value !== undefined && rows.every(it => it === target || it.facts[field] !== value);
  });
  if (!isOwn) return undefined;
  return fillSlots(template, slot => {
    if (slot === "words") return markVerbatim(word);
    const value = target.facts[slot];
    if (value === undefined || (typeof value === "string" && value.includes("_"))) return undefined;
    if (typeof value === "string" && value.toLowerCase() === word.toLowerCase()) return undefined;
    return formatValue(value, { now, persona, random }, isMoney(slot, undefined));
  });
}

// Finds requests about an entity that a list shows only if it is read further than its first rows.

/** How many of the entities that are further down a list are tried. */
const maxChoices = 4;

/** A request about an entity that is not among the first rows of any list, or undefined. */
export function findPagedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, declaration } = request;
  const { random, known } = search.context;
  const inputs = declaration.inputs.filter(it => it.isRequired && !it.isList);
  const choices = inputs.flatMap(({ key, entity }) =>
    listFurtherDown(entity, search)
      .filter(it => !known.has(getEntityKey(it)))
      .map(instance => ({ [key]: [instance] })),
  );
  for (const flow of random.shuffle(choices).slice(0, maxChoices)) {
    const result = findIntentFurtherDown(flow, request);
    if (result) return result;
  }
  return undefined;
}

/** A request about one of these entities that takes a look-up further down a list, or undefined. */
function findIntentFurtherDown(
  flow: Flow,
  { search: { checker, plan }, check }: RecoveryRequest,
): FeasibilityResult | undefined {
  const result = check({ usesPages: true, flow });
  if (!result || !findsSomething(result)) return undefined;
  const { intent } = result;
  const paged = intent.mentions.find(it =>
    checker.lookUpPlan.pagedLookUps.has(getEntityKey(it.instance)),
  );
  if (!paged) return undefined;
  const key = Object.keys(intent.arguments).find(it =>
    [intent.arguments[it]].flat().includes(paged.instance.id),
  );
  const name =
    paged.instance.label === undefined
      ? intent.argumentTexts[key ?? ""]?.replace(/^my /, "your ")
      : markVerbatim(paged.instance.label);
  if (name === undefined) return undefined;
  const told = plan.styleGuide.recovery.later.map(it => it.replace("{name}", () => name));
  const recovery = { sort: "page", steps: [], told: [told] } as const;
  return { ...result, intent: { ...intent, recovery } };
}

/** The entities of a kind that a list shows only if it is read with its largest limit. */
function listFurtherDown(entity: string, { context, checker }: RecoverySource): EntityInstance[] {
  const session = checker.forkSession();
  return listPagedLookUps(entity, context, checker.hiddenTools).flatMap(([first, all]) => {
    const shown = new Set(listRows(first, createUnknown(entity), session).map(it => it.id));
    return listRows(all, createUnknown(entity), session).flatMap(({ id }) =>
      shown.has(id) ? [] : (context.sample.find(entity, id) ?? []),
    );
  });
}

/** The whole lists of a kind of entity that have a limit, each as it is and with its largest. */
function listPagedLookUps(
  entity: string,
  { declarations, sample }: ConversationContext,
  hiddenTools: ReadonlySet<string> | undefined,
): (readonly [first: LookUp, all: LookUp])[] {
  const lookUps = findLookUps(createUnknown(entity), declarations, sample, {
    prefersLists: true,
    preferredTools: new Set(),
    ...(hiddenTools ? { hiddenTools } : {}),
  });
  return lookUps.flatMap(first => {
    const all = readWithLargestLimit(first);
    return all ? [[first, all] as const] : [];
  });
}

const createUnknown = (entity: string): EntityInstance => ({
  entity,
  id: "",
  facts: {},
  parents: {},
});

// Finds requests in which something that the user says no longer holds: a file is in another
// folder, an event is on another day. The user knows that this may be so.

/** A request with a folder or a field that no longer holds, or undefined. */
export const findStaleIntent = (request: RecoveryRequest): FeasibilityResult | undefined =>
  findMovedIntent(request) ?? findOutdatedIntent(request);

/** A request for a file that is in another folder than the user says. */
function findMovedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, declaration, recoveries, check } = request;
  const { context, checker } = search;
  const { random, sample, known } = context;
  const input = declaration.inputs.find(it => it.isRequired && !it.isList);
  const moved = recoveries.moved?.find(
    it => it.entity === input?.entity && !checker.hiddenTools?.has(it.by),
  );
  const choices = (moved && sample.instances.get(moved.entity)) ?? [];
  if (!input || !moved || choices.length === 0) return undefined;
  const instance = random.pick(choices);
  const [folder, name] = splitPath(String(instance.id));
  const folders = [...new Set(choices.map(it => splitPath(String(it.id))[0]))].filter(
    it => it !== folder && it !== "" && !choices.some(other => other.id === `${it}/${name}`),
  );
  if (
    folder === "" ||
    name.startsWith(".") ||
    folders.length === 0 ||
    known.has(getEntityKey(instance))
  )
    return undefined;
  const stale = `${random.pick(folders)}/${name}`;
  const result = check({
    context: {
      ...context,
      wordings: new Map([
        [getEntityKey(instance), { text: markVerbatim(stale), isIdSpoken: true }],
      ]),
    },
    flow: { [input.key]: [instance] },
  });
  if (!result || !findsSomething(result) || !isRequest(result.intent.clause)) return undefined;
  const { intent } = result;
  if (intent.mentions.filter(it => it.instance.entity === input.entity).length > 1)
    return undefined;
  const refused = { ...intent.arguments, [input.key]: stale };
  const { outcome } = checker.forkSession().call(intent.tool.name, refused);
  const step = { name: moved.by, arguments: { [moved.argument]: name } };
  const found = checker.forkSession().call(step.name, step.arguments).outcome;
  const isOnly =
    found.kind === "ok" &&
    countPaths(found.value, name) === 1 &&
    showsText(found.value, String(instance.id));
  if (outcome.kind !== "refused" || outcome.type !== "not_found" || !isOnly) return undefined;
  if (intent.arguments[input.key] !== instance.id) return undefined;
  const told = moved.told.map(it =>
    it.replace("{name}", () => markVerbatim(name)).replace("{folder}", () => renderFolder(folder)),
  );
  return {
    ...result,
    intent: {
      ...intent,
      argumentTexts: { ...intent.argumentTexts, [input.key]: markVerbatim(String(instance.id)) },
      clause: addPermission(intent.clause, random.pick(moved.say)),
      recovery: { sort: "stale", refused, steps: [step], told: [told] },
    },
  };
}

const renderFolder = (folder: string): string =>
  folder === "~" ? "your home folder" : markVerbatim(folder);

/** Folder and name of a path; no folder for a name alone. */
function splitPath(path: string): readonly [folder: string, name: string] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
}

const countPaths = (value: Json, name: string): number =>
  JSON.stringify(value).split(`/${name}"`).length - 1;

const showsText = (value: Json, text: string): boolean =>
  JSON.stringify(value).includes(JSON.stringify(text));

/** A request about an entity with a remark on one of its fields that is out of date. */
function findOutdatedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, recoveries, check } = request;
  const { now, persona, random, known } = search.context;
  const { outdated = {} } = recoveries;
  if (Object.keys(outdated).length === 0) return undefined;
  const result = check();
  if (!result || !findsSomething(result) || !isRequest(result.intent.clause)) return undefined;
  const { intent } = result;
  const mention = intent.mentions.find(it => outdated[it.instance.entity]);
  const isNamed = mention && !mention.isIdSpoken && mention.partialName === undefined;
  if (!isNamed || known.has(getEntityKey(mention.instance))) return undefined;
  const { entity, label, facts } = mention.instance;
  const { field, say, told } = outdated[entity]!;
  const value = facts[field];
  // what the request itself says of it, or changes, cannot be in doubt
  const isSaid = Object.keys(intent.arguments).includes(field) || /\d/.test(intent.clause);
  if (typeof value !== "string" || label === undefined || isSaid) return undefined;
  // what has begun is not thought to be on another day
  if (value <= now) return undefined;
  const day = addDays(value.slice(0, 10), random.pick([-2, -1, 1, 2, 7]));
  if (!/^\d{4}-\d{2}-\d{2}/.test(value) || day < now.slice(0, 10)) return undefined;
  const wrong = formatValue(day, { now, persona, random });
  const right = formatReplyValue(value, { now, random });
  return {
    ...result,
    intent: {
      ...intent,
      clause: `${intent.clause}; ${random.pick(say).replace(`{${field}}`, () => wrong)}`,
      recovery: {
        sort: "stale",
        steps: [],
        told: [
          told.map(it =>
            it.replace("{label}", () => markVerbatim(label)).replace(`{${field}}`, () => right),
          ),
        ],
      },
    },
  };
}
