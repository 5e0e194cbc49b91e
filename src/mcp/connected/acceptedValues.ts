/**
 * Tries values as arguments of tools: what other tools have shown, the paths of the sandbox, and
 * statements of SQL. What is accepted where an unknown value is not names a thing.
 */
import { isJsonObject, type JsonObject } from "../../environment/json.ts";
import { getProperties, listRequired } from "../../environment/schemaKeywords.ts";
import {
  getAt,
  getFieldName,
  getObjectPath,
  getText,
  listTextPaths,
  setAt,
} from "../../environment/argumentPaths.ts";
import { combineChoices, listFormatted, listQuoted } from "./describedValues.ts";
import { createArguments, isSearch } from "./exampleArguments.ts";
import { findKinds, toNoun, type AcceptedValue, type ArgumentExamples } from "./entityKinds.ts";
import { findNewValues } from "./newValues.ts";
import { getThingAt, hasNames, listNumberKeys, toThing } from "./numberIds.ts";
import { createNewPaths, isPathArgument, sandboxPath } from "./sandboxPaths.ts";
import { listSqlQueries, takesSql } from "./sqlQueries.ts";
import type { Trial, Trials } from "./trials.ts";

/** What is known about the arguments of tools. */
export interface ArgumentFindings {
  readonly accepted: AcceptedValue[];
  readonly examples: ArgumentExamples[];
}

const maxCallsPerArgument = 40;

/** Calls with other values for several arguments at once. */
const maxCombinations = 40;

/** A text that no server has. */
const unknownText = "qzxv-unknown-7731";

/** Tries values for the required arguments of a tool. */
export async function exploreArguments(
  name: string,
  trials: Trials,
  findings: ArgumentFindings,
): Promise<void> {
  const { inputSchema } = trials.tools.get(name)!;
  const required = listRequired(inputSchema);
  // some servers do not say what they need
  const isSilent = required.length === 0 && !trials.samples.has(name);
  const needed = isSilent ? Object.keys(getProperties(inputSchema)) : required;
  if (needed.length === 0) return;
  const args = createArguments({ ...inputSchema, required: needed }, trials.texts, trials.rows);
  if (!args) return;
  const keys = listTextPaths(inputSchema).filter(it => getAt(args, it) !== undefined);
  const pathKeys = trials.isOnFiles ? keys.filter(isPathArgument) : [];
  // paths must lead into the sandbox for some tools, and must not be full paths for others
  for (const paths of pathKeys.length > 0 ? [pathKeys, []] : [[]]) {
    await new ArgumentTrial(name, keys, paths, trials, findings).run(args);
    if (trials.samples.has(name)) return;
  }
}

/** Tries values for the arguments of one tool, of which some are full paths. */
class ArgumentTrial {
  readonly #name: string;
  readonly #keys: readonly string[];
  readonly #paths: readonly string[];
  readonly #trials: Trials;
  readonly #findings: ArgumentFindings;

  constructor(
    name: string,
    keys: readonly string[],
    paths: readonly string[],
    trials: Trials,
    findings: ArgumentFindings,
  ) {
    this.#name = name;
    this.#keys = keys;
    this.#paths = paths;
    this.#trials = trials;
    this.#findings = findings;
  }

  async run(args: JsonObject): Promise<void> {
    const { inputSchema } = this.#trials.tools.get(this.#name)!;
    const numberKeys = listNumberKeys(inputSchema).filter(it => Object.hasOwn(args, it));
    const likely = this.#keys.reduce((it, key) => this.#giveLikely(it, key), args);
    const known = await this.#exploreKeys(
      numberKeys.reduce((it, key) => this.#giveLikelyNumber(it, key), likely),
      numberKeys,
    );
    if (this.#trials.samples.has(this.#name)) return;
    const together = await this.#findTogether(known, numberKeys);
    if (together) await this.#exploreKeys(together, numberKeys);
  }

  /** The arguments, with a value that the tool accepts for each of which one is found. */
  async #exploreKeys(args: JsonObject, numberKeys: readonly string[]): Promise<JsonObject> {
    const { accepted, examples } = this.#findings;
    let known = args;
    const unresolved = this.#keys
      .filter(key => ![...accepted, ...examples].some(it => this.#isAbout(it, key)))
      .filter(key => this.#takesSql(key) || !isSearch(getFieldName(key)))
      // what another tool takes under the same name is there already
      .toSorted((a, b) => Number(this.#isLikely(a)) - Number(this.#isLikely(b)));
    for (const key of unresolved) known = await this.#explore(key, known);
    for (const key of numberKeys)
      if (![...accepted, ...examples].some(it => this.#isAbout(it, key)))
        known = await this.#exploreNumber(key, known);
    if (!this.#trials.samples.has(this.#name)) await this.#trials.try(this.#name, known);
    return known;
  }

  /**
   * Arguments with which a call succeeds, where one with a single other value does not: values that
   * descriptions name, and what is shown under the name of an argument.
   */
  async #findTogether(
    args: JsonObject,
    numberKeys: readonly string[],
  ): Promise<JsonObject | undefined> {
    const { inputSchema } = this.#trials.tools.get(this.#name)!;
    const { texts, numbers } = this.#trials;
    const listShown = (
      key: string,
      known: ReadonlyMap<string, { keys(): Iterable<string | number> }>,
    ) =>
      [...known]
        .filter(([place]) => toThing(getFieldName(key)) !== "" && this.#isNamedLike(key, place))
        .flatMap(([, it]) => [...it.keys()].slice(0, 1))
        .slice(0, 2);
    const choices = [...this.#keys, ...numberKeys].map(key => {
      const isNumber = numberKeys.includes(key);
      const named = isNumber
        ? listShown(key, numbers)
        : [
            ...listQuoted(inputSchema, key).slice(0, 4),
            ...listFormatted(inputSchema, key).slice(0, 1),
            ...(this.#paths.includes(key) ? [] : listShown(key, texts)),
          ];
      return [...named, undefined].map(value => ({ key, value }));
    });
    for (const chosen of combineChoices(choices, maxCombinations)) {
      const given = chosen.flatMap(({ key, value }) =>
        value === undefined ? [] : [{ key, value }],
      );
      if (given.length < 2) continue;
      if (!this.#trials.allows(this.#name)) return undefined;
      const together = given.reduce((it, { key, value }) => setAt(it, key, value), args);
      if ((await this.#trials.try(this.#name, together)).works) return together;
    }
    return undefined;
  }

  #isAbout = (it: { readonly tool: string; readonly key: string }, key: string): boolean =>
    it.tool === this.#name && it.key === key;

  #isLikely = (key: string): boolean => findByName(key, this.#findings.accepted) !== undefined;

  #takesSql = (key: string): boolean =>
    takesSql(getFieldName(key), this.#trials.tools.get(this.#name)!);

  /** What another tool takes under this name is likelier to work than what is made up. */
  #giveLikely(args: JsonObject, key: string): JsonObject {
    const source = findByName(key, this.#findings.accepted)?.source;
    if (source !== undefined) return setAt(args, key, [...this.#trials.texts.get(source)!][0]!);
    return this.#paths.includes(key) ? setAt(args, key, createNewPaths(this.#name)[0]!) : args;
  }

  #giveLikelyNumber(args: JsonObject, key: string): JsonObject {
    const { accepted } = this.#findings;
    const source = (accepted.find(it => this.#isAbout(it, key)) ?? findByName(key, accepted, true))
      ?.source;
    return source === undefined
      ? args
      : { ...args, [key]: [...this.#trials.numbers.get(source)!.keys()][0]! };
  }

  /** The arguments, with a value that the tool accepts if one is found. */
  async #explore(key: string, known: JsonObject): Promise<JsonObject> {
    const name = this.#name;
    const { accepted, examples } = this.#findings;
    const inRows = await findInRows(name, key, known, this.#trials);
    if (inRows) {
      accepted.push(inRows.accepted);
      return inRows.arguments;
    }
    const give = (text: string) => setAt(known, key, text);
    const isFullPath = this.#paths.includes(key);
    const unknown = isFullPath ? `${sandboxPath}/${unknownText}` : unknownText;
    const withUnknown = await this.#trials.try(name, give(unknown));
    if (withUnknown.isUnknown) return known;
    if (withUnknown.works && withUnknown.writes) {
      // it takes any text; what creates a file takes any path
      if (isFullPath && withUnknown.newFiles.some(it => it.includes(unknownText)))
        examples.push({ tool: name, key, values: createNewPaths(name) });
      return known;
    }
    const made = new Map<string, Trial>();
    for (const [source, texts] of this.#listSources(key)) {
      if (made.size >= maxCallsPerArgument || !this.#trials.allows(name)) break;
      const chosen = texts.slice(0, 2);
      for (const text of chosen)
        if (!made.has(text)) made.set(text, await this.#trials.try(name, give(text)));
      const isAccepted = chosen.every(it => isBetter(made.get(it)!, it, withUnknown, unknown));
      if (!isAccepted) continue;
      if (this.#trials.texts.has(source)) accepted.push({ tool: name, key, source });
      else examples.push({ tool: name, key, values: texts });
      return give(chosen[0]!);
    }
    return known;
  }

  /**
   * The arguments, with the number of a thing if the tool accepts one. The numbers of other things
   * are often the same, so that the names of the things or the words for them must agree, too.
   * Numbers that only may name something are said by people, and need no look-up.
   */
  async #exploreNumber(key: string, known: JsonObject): Promise<JsonObject> {
    const name = this.#name;
    const { accepted, examples } = this.#findings;
    const places = this.#listNumberPlaces(key);
    if (places.length === 0) return known;
    const withUnknown = await this.#trials.try(name, { ...known, [key]: unknownNumber });
    const made = new Map<number, Trial>();
    let likely: readonly number[] | undefined;
    for (const [source, numbers] of places) {
      if (made.size >= maxCallsPerArgument || !this.#trials.allows(name)) break;
      const chosen = [...numbers].slice(0, 2);
      for (const [it] of chosen)
        if (!made.has(it)) made.set(it, await this.#trials.try(name, { ...known, [key]: it }));
      const isAccepted = chosen.every(([it]) =>
        isBetter(made.get(it)!, String(it), withUnknown, String(unknownNumber)),
      );
      if (!isAccepted) continue;
      const isShown = chosen.every(
        ([it, thing]) =>
          thing !== undefined &&
          made.get(it)!.shown.includes(JSON.stringify(thing)) &&
          !withUnknown.shown.includes(JSON.stringify(thing)),
      );
      if (isShown || this.#isNamedLike(key, source)) {
        accepted.push({ tool: name, key, source, isNumber: true });
        return { ...known, [key]: chosen[0]![0] };
      }
      likely ??= [...numbers.keys()].slice(0, 20);
    }
    if (!likely) return known;
    examples.push({ tool: name, key, values: likely });
    return { ...known, [key]: likely[0]! };
  }

  /** The numbers that results have shown: of the argument's name, with names and the most first. */
  #listNumberPlaces(
    key: string,
  ): readonly (readonly [string, ReadonlyMap<number, string | undefined>])[] {
    const rank = (place: string, numbers: ReadonlyMap<number, string | undefined>) =>
      2 * Number(!this.#isNamedLike(key, place)) + Number(!hasNames(numbers));
    return [...this.#trials.numbers]
      .filter(([place]) => !place.startsWith(`${this.#name} `))
      .toSorted(([a, x], [b, y]) => rank(a, x) - rank(b, y) || y.size - x.size || (a < b ? -1 : 1));
  }

  /** Whether the words for an argument, or else for its tool, are those for what a place shows. */
  #isNamedLike(key: string, place: string): boolean {
    const [thing, shown] = [toThing(key), getThingAt(place)];
    const tool = this.#trials.tools.get(this.#name)!.name;
    const words = tool.split(/(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+/).map(toThing);
    return shown !== "" && (thing === "" ? words.includes(shown) : thing === shown);
  }

  /** The texts that results have shown, by their place; those with the most first. */
  #listSources(key: string): readonly (readonly [string, readonly string[]])[] {
    const { texts } = this.#trials;
    if (this.#takesSql(key)) return listSqlQueries(texts);
    const { inputSchema } = this.#trials.tools.get(this.#name)!;
    const described = [
      ["its description", listQuoted(inputSchema, key)],
      ["its format", listFormatted(inputSchema, key)],
    ] as const;
    const isPath = (place: string) =>
      Number(isPathArgument(key) && place.startsWith(`${sandboxPath} `));
    const shown = Array.from(texts, ([place, it]): [string, string[]] => [place, [...it]])
      .filter(([place]) => !place.startsWith(`${this.#name} `))
      .toSorted(
        ([a, x], [b, y]) => isPath(b) - isPath(a) || y.length - x.length || (a < b ? -1 : 1),
      );
    return [...described.filter(([, it]) => it.length > 0), ...shown];
  }
}

/** A number that no server has. */
const unknownNumber = 77_310_771;

const error = /\berror\b|\bnot found\b|\bno such\b|\bdoes not exist\b/i;

/** Whether a known text did more than an unknown one, apart from being shown itself. */
function isBetter(trial: Trial, text: string, unknown: Trial, unknownValue: string): boolean {
  if (!trial.works || unknown.isUnknown) return false;
  if (!unknown.works) return true;
  if (trial.writes !== unknown.writes) return trial.writes;
  const [own, other] = [
    trial.shown.replaceAll(text, ""),
    unknown.shown.replaceAll(unknownValue, ""),
  ];
  if (trial.writes) return false;
  return own.length > other.length * 1.2 + 10 || (error.test(other) && !error.test(own));
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
 * only deleted are not given to what makes new ones: a new remark is not an old one. What a tool
 * makes must not be there yet.
 */
export async function acceptByName(
  trials: Trials,
  { accepted, examples }: ArgumentFindings,
): Promise<void> {
  const kinds = findKinds(accepted, trials);
  const isDeletion = (tool: string) =>
    trials.samples.get(tool)?.writes === true && trials.tools.get(tool)!.destructive;
  for (const [tool, { inputSchema }] of trials.tools)
    for (const key of [...listTextPaths(inputSchema), ...listNumberKeys(inputSchema)]) {
      if ([...accepted, ...examples].some(it => it.tool === tool && it.key === key)) continue;
      const other = findByName(key, accepted, listNumberKeys(inputSchema).includes(key));
      const kind = kinds.find(({ inputs }) => inputs.includes(other!));
      if (!other || kind?.inputs.every(it => isDeletion(it.tool))) continue;
      const named = { ...other, tool, key };
      const created = other.isNumber ? undefined : await findNewValues(named, trials);
      if (created) examples.push(created);
      else accepted.push(named);
    }
}

/** An argument of the same name that takes the texts, or numbers, of a place. */
function findByName(
  key: string,
  accepted: readonly AcceptedValue[],
  isNumber = false,
): AcceptedValue | undefined {
  const name = getFieldName(key);
  if ((isNumber ? toThing(name) : toNoun(name)) === "") return undefined;
  return accepted.find(it => (it.isNumber === true) === isNumber && getFieldName(it.key) === name);
}
