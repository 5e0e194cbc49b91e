/**
 * Finds requests in which the user's words for an entity fit several, and something else that the
 * user says tells which one is meant: "the Northwind event on 24 March".
 */
import { formatValue, isMoney } from "../text/formatValue.ts";
import { chooseAlternatives, fillSlots, findSlots } from "../text/templateText.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import type { ResultEntity } from "../../trajectory/resultEntities.ts";
import { getEntityKey } from "./entityInstance.ts";
import { isSelf } from "./entityArguments.ts";
import { findsSomething, type FeasibilityResult } from "./feasibilityResult.ts";
import { findLookUps, listRows } from "./lookUps.ts";
import type { RecoveryRequest } from "./recoveryRequest.ts";

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
  const told = plan.styleGuide.recovery.chosen.map(it =>
    it
      .replace("{words}", () => markVerbatim(word))
      .replace("{name}", () => markVerbatim(target.label!)),
  );
  const recovery = { sort: "ambiguous", steps: [], told: [told] } as const;
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
