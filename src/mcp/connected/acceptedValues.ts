/** Tries what results have shown as arguments of other tools, and finds what they accept. */
import { isJsonObject, type JsonObject } from "../../environment/json.ts";
import { listRequired } from "../../environment/schemaKeywords.ts";
import {
  getAt,
  getFieldName,
  getObjectPath,
  getText,
  listTextPaths,
  setAt,
} from "../../environment/argumentPaths.ts";
import { createArguments, isSearch } from "./exampleArguments.ts";
import { findKinds, toNoun, type AcceptedValue } from "./entityKinds.ts";
import type { Trial, Trials } from "./trials.ts";

const maxCallsPerTool = 60;

/** A text that no server has. */
const unknownText = "qzxv-unknown-7731";

/** Tries values for the required arguments of a tool, and adds which results supply them. */
export async function exploreArguments(
  name: string,
  trials: Trials,
  accepted: AcceptedValue[],
): Promise<void> {
  const { inputSchema } = trials.tools.get(name)!;
  const required = listRequired(inputSchema);
  if (required.length === 0) return;
  const base = createArguments(inputSchema, trials.texts, trials.rows);
  if (!base) return;
  let calls = 0;
  const keys = listTextPaths(inputSchema).filter(it => getAt(base, it) !== undefined);
  // what another tool takes under this name is likelier to work than what is made up
  let known = keys.reduce((args, key) => {
    const source = findByName(key, accepted)?.source;
    return source === undefined ? args : setAt(args, key, [...trials.texts.get(source)!][0]!);
  }, base);
  const unresolved = keys.filter(
    key => !isSearch(getFieldName(key)) && !accepted.some(it => it.tool === name && it.key === key),
  );
  if (unresolved.length === 0 && !trials.samples.has(name)) await trials.try(name, known);
  for (const key of unresolved) {
    const inRows = await findInRows(name, key, known, trials);
    if (inRows) {
      accepted.push(inRows.accepted);
      known = inRows.arguments;
      continue;
    }
    const give = (text: string) => setAt(known, key, text);
    const withUnknown = await trials.try(name, give(unknownText));
    // it takes any text
    if (withUnknown.works && withUnknown.writes) continue;
    const tried = new Set<string>();
    for (const [source, texts] of listSources(name, trials)) {
      if (calls >= maxCallsPerTool || !trials.allows(name)) return;
      const made: { readonly text: string; readonly trial: Trial }[] = [];
      // places that show the same are tried once
      const chosen = texts.filter(it => !tried.has(it)).slice(0, 2);
      if (chosen.length === 0) continue;
      for (const text of chosen) {
        calls++;
        tried.add(text);
        made.push({ text, trial: await trials.try(name, give(text)) });
      }
      const isAccepted = made.every(({ text, trial }) =>
        isBetter(trial, text, withUnknown, unknownText),
      );
      if (!isAccepted) continue;
      accepted.push({ tool: name, key, source });
      known = give(chosen[0]!);
      break;
    }
  }
  if (!trials.samples.has(name)) await trials.try(name, known);
}

/** The texts that results have shown, by their place; those with the most first. */
const listSources = (name: string, { texts }: Trials): [string, string[]][] =>
  Array.from(texts, ([place, shown]): [string, string[]] => [place, [...shown]])
    .filter(([place]) => !place.startsWith(`${name} `))
    .toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));

/** Whether a known text did more than an unknown one, apart from being shown itself. */
function isBetter(trial: Trial, text: string, unknown: Trial, unknownValue: string): boolean {
  if (!trial.works) return false;
  if (!unknown.works) return true;
  if (trial.writes !== unknown.writes) return trial.writes;
  const [own, other] = [
    trial.shown.replaceAll(text, ""),
    unknown.shown.replaceAll(unknownValue, ""),
  ];
  return !trial.writes && own.length > other.length * 1.2 + 10;
}

/**
 * The place of a text that is accepted as a part of objects that results have shown, such as where
 * a relation starts that is deleted, and arguments that have such an object.
 */
async function findInRows(
  name: string,
  key: string,
  args: JsonObject,
  trials: Trials,
): Promise<{ readonly accepted: AcceptedValue; readonly arguments: JsonObject } | undefined> {
  const path = getObjectPath(key);
  const object = path === undefined ? undefined : getAt(args, path);
  if (path === undefined || !isJsonObject(object)) return undefined;
  const fields = Object.keys(object);
  const rows = trials.rows
    .filter(row => fields.every(it => Object.hasOwn(row, it)))
    .slice(0, 2)
    .map(row => setAt(args, path, Object.fromEntries(fields.map(it => [it, row[it]!]))));
  if (rows.length === 0 || !trials.allows(name)) return undefined;
  const texts: string[] = [];
  for (const row of rows) {
    const text = getText(row, key);
    if (typeof text !== "string") return undefined;
    texts.push(text);
    const unknown = await trials.try(name, setAt(row, key, unknownText));
    if (!isBetter(await trials.try(name, row), text, unknown, unknownText)) return undefined;
  }
  const source = [...trials.texts].find(
    ([place, shown]) =>
      getFieldName(place) === getFieldName(key) && texts.every(it => shown.has(it)),
  )?.[0];
  return source === undefined
    ? undefined
    : { accepted: { tool: name, key, source }, arguments: rows[0]! };
}

/**
 * An argument with the name of one that takes the texts of a place takes them, too. Texts that are
 * only deleted are not given to what makes new ones: a new remark is not an old one.
 */
export function acceptByName(trials: Trials, accepted: AcceptedValue[]): void {
  const kinds = findKinds(accepted, trials.texts);
  const isDeletion = (tool: string) =>
    trials.samples.get(tool)?.writes === true && trials.tools.get(tool)!.destructive;
  for (const [tool, { inputSchema }] of trials.tools)
    for (const key of listTextPaths(inputSchema)) {
      if (accepted.some(it => it.tool === tool && it.key === key)) continue;
      const other = findByName(key, accepted);
      const kind = kinds.find(({ inputs }) => inputs.includes(other!));
      if (!other || kind?.inputs.every(it => isDeletion(it.tool))) continue;
      accepted.push({ tool, key, source: other.source });
    }
}

/** An argument of the same name that takes the texts of a place. */
function findByName(key: string, accepted: readonly AcceptedValue[]): AcceptedValue | undefined {
  const name = getFieldName(key);
  return toNoun(name) === "" ? undefined : accepted.find(it => getFieldName(it.key) === name);
}
