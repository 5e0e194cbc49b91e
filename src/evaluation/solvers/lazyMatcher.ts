/**
 * A baseline that reads nothing but words: it takes the tool whose description is nearest to the
 * user's words, copies arguments from them or from a row whose name they contain, and tells the
 * result. It sees the offered tools and the conversation, but not the goals. The share of tasks in
 * which it succeeds says how many need no understanding.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { addDays, getWeekday, months, weekdays } from "../../environment/time.ts";
import { findEntities, type EntityId, type ResultEntity } from "../../trajectory/entities.ts";
import { containsToken } from "../../trajectory/valueMatching.ts";
import type { Solver } from "./solver.ts";
import { listRows, type SolverRun, type Steps } from "./solverRun.ts";
import { listArguments, type Argument } from "./toolSchemas.ts";

export const lazyMatcher: Solver = {
  name: "lazy-matcher",
  kind: "baseline",
  summary: "takes the tool with the nearest description and copies arguments from the words",
  isIdle: ({ kind }) => kind !== "normal",
  *solve(run) {
    run.differs = true;
    const heard: string[] = [];
    for (;;) {
      heard.push(run.userText);
      const text = yield* answer(run, heard);
      yield { text, calls: [] };
    }
  },
};

/** Makes the calls that the clauses of the last turn are nearest to, and says what came of them. */
function* answer(run: SolverRun, heard: readonly string[]): Steps<string> {
  const turn = heard.at(-1)!;
  const menu = new ToolIndex([...run.tools.values()]);
  const clauses = splitIntoClauses(turn);
  const wanted = clauses.flatMap(words => {
    const found = menu.findNearest(words);
    return found && found.score >= leastSimilarity ? [{ tool: found.tool, words }] : [];
  });
  const whole = menu.findNearest(turn);
  if (wanted.length === 0 && whole) wanted.push({ tool: whole.tool, words: turn });
  const told: string[] = [];
  for (const { tool, words } of wanted) {
    const args = yield* fill(run, tool, new Words(words, heard, run.task.now));
    if (!args) continue;
    const [made] = yield* run.callAtOnce({ name: tool.name, arguments: args });
    if (made?.outcome.kind === "ok") told.push(tell(made.outcome.value, turn));
  }
  return told.length === 0 ? "I can't do that." : told.join(" ");
}

/** Below this cosine, a clause asks for nothing, such as the sentence that says why a user comes. */
const leastSimilarity = 0.1;

/** Sentences, and what is put in a row with "and" or "then", if no quotation is cut. */
const splitIntoClauses = (text: string): string[] =>
  text
    .split(
      /(?<=[.!?;])\s+|,? and then |,? then |, (?:and )?| and (?=\w+ (?:the|my|a|an|it|that)\b)/i,
    )
    .filter(it => /\p{L}{2}/u.test(it));

/** Finds tools by the words of their names, descriptions and arguments, weighted by rarity. */
class ToolIndex {
  readonly #vectors: readonly { readonly tool: Tool; readonly weights: Map<string, number> }[];
  readonly #rarity = new Map<string, number>();

  constructor(tools: readonly Tool[]) {
    const counts = tools.map(tool => ({ tool, words: countWords(describe(tool)) }));
    for (const { words } of counts)
      for (const it of words.keys()) this.#rarity.set(it, (this.#rarity.get(it) ?? 0) + 1);
    for (const [word, n] of this.#rarity) this.#rarity.set(word, Math.log(1 + tools.length / n));
    this.#vectors = counts.map(({ tool, words }) => ({ tool, weights: this.#weigh(words) }));
  }

  findNearest(text: string): { readonly tool: Tool; readonly score: number } | undefined {
    const query = this.#weigh(countWords(text));
    let best: { tool: Tool; score: number } | undefined;
    for (const { tool, weights } of this.#vectors) {
      let score = 0;
      for (const [word, weight] of query) score += weight * (weights.get(word) ?? 0);
      if (score > (best?.score ?? 0)) best = { tool, score };
    }
    return best;
  }

  /** The vector of a text, of length 1. Words of no tool do not count. */
  #weigh(words: ReadonlyMap<string, number>): Map<string, number> {
    const weights = new Map(
      [...words].map(([word, n]) => [word, (1 + Math.log(n)) * (this.#rarity.get(word) ?? 0)]),
    );
    const length = Math.hypot(...weights.values()) || 1;
    for (const [word, it] of weights) weights.set(word, it / length);
    return weights;
  }
}

const describe = (tool: Tool): string =>
  [
    tool.name.replaceAll("_", " "),
    tool.summary,
    ...listArguments(tool).map(it =>
      [it.key.replaceAll("_", " "), describeArgument(it), ...listChoices(it)].join(" "),
    ),
  ].join(" ");

const describeArgument = ({ schema: { description } }: Argument): string =>
  typeof description === "string" ? description : "";

const stopWords = new Set(
  "the a an of to in on at for from by with and or is are was be it its my me i you your that this which what please can could would".split(
    " ",
  ),
);

function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}{2,}/gu)) {
    if (stopWords.has(word)) continue;
    const stem = word.replace(/(?:ing|ed|es|s|e)$/, "");
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return counts;
}

/** What the words offer for arguments; each number, date and quotation is taken once. */
class Words {
  /** The clause, and all that the user has said. */
  readonly clause: string;
  readonly all: string;
  readonly #heard: readonly string[];
  readonly #now: string;
  readonly #quotations: string[];
  readonly #numbers: number[];
  readonly #dates: string[];
  readonly #times: string[];
  readonly #names: string[];

  constructor(clause: string, heard: readonly string[], now: string) {
    this.clause = clause;
    this.#heard = heard;
    this.#now = now;
    this.all = heard.toReversed().join("\n");
    const quoted = /["“]([^"”]+)["”]/g;
    const rest = clause.replaceAll(quoted, " ");
    this.#quotations = [...clause.matchAll(quoted)].map(it => it[1]!);
    const { dates, times, left } = findTimes(rest, now);
    this.#dates = dates;
    this.#times = times;
    this.#numbers = [...left.matchAll(/\d+(?:\.\d+)?/g)].map(it => Number(it[0]));
    this.#names = [...left.matchAll(/\p{Lu}[\p{L}\d]+(?: \p{Lu}[\p{L}\d]+)*/gu)]
      .filter(it => it.index > 0)
      .map(it => it[0]);
  }

  /** The same words with nothing taken. */
  copy = (): Words => new Words(this.clause, this.#heard, this.#now);
  takeNumber = (): number | undefined => this.#numbers.shift();
  takeQuotation = (): string | undefined => this.#quotations.shift();
  takeName = (): string | undefined => this.#names.shift();
  takeDate = (): string | undefined => this.#dates.shift();
  takeTime = (): string | undefined => this.#times.shift();
}

const weekdayNames = weekdays.join("|");
const monthNames = months.map(it => `${it}|${it.slice(0, 3)}`).join("|");
const datePattern = new RegExp(
  [
    String.raw`\b(\d{4}-\d{2}-\d{2})\b`,
    String.raw`\b(today|tomorrow|yesterday)\b`,
    String.raw`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (${monthNames})\b`,
    String.raw`\b(${monthNames}) (\d{1,2})\b`,
    String.raw`\b(?:next |this |on )?(${weekdayNames})\b`,
  ].join("|"),
  "gi",
);
const timePattern = /\b(\d{1,2}):(\d\d)(?: ?(am|pm))?\b|\b(\d{1,2}) ?(am|pm)\b/gi;

/** The days and times of day in a text, and the text without them. */
function findTimes(text: string, now: string) {
  const dates: string[] = [];
  const times: string[] = [];
  const left = text
    .replaceAll(datePattern, (found, iso, relative, day, month, month2, day2, weekday) => {
      dates.push(
        readDate({ iso, relative, day: day ?? day2, month: month ?? month2, weekday }, now),
      );
      return " ".repeat(found.length);
    })
    .replaceAll(timePattern, (_found, hour, minute, half, hour2, half2) => {
      const isAfternoon = (half ?? half2)?.toLowerCase() === "pm";
      const h = (Number(hour ?? hour2) % (half || half2 ? 12 : 24)) + (isAfternoon ? 12 : 0);
      times.push(`${String(h).padStart(2, "0")}:${minute ?? "00"}`);
      return " ";
    });
  return { dates, times, left };
}

interface DateWords {
  readonly iso?: string;
  readonly relative?: string;
  readonly day?: string;
  readonly month?: string;
  readonly weekday?: string;
}

function readDate({ iso, relative, day, month, weekday }: DateWords, now: string): string {
  if (iso !== undefined) return iso;
  if (relative !== undefined)
    return addDays(
      now.slice(0, 10),
      { today: 0, tomorrow: 1, yesterday: -1 }[relative.toLowerCase()]!,
    );
  if (month !== undefined) {
    const m = months.findIndex(it => it.toLowerCase().startsWith(month.slice(0, 3).toLowerCase()));
    return `${now.slice(0, 4)}-${String(m + 1).padStart(2, "0")}-${day!.padStart(2, "0")}`;
  }
  const wanted = weekdays.findIndex(it => it.toLowerCase() === weekday!.toLowerCase());
  const today = getWeekday(now);
  return addDays(now.slice(0, 10), (wanted - today + 7) % 7 || 7);
}

/** The arguments of a call, or undefined if a required one cannot be copied from anywhere. */
function* fill(run: SolverRun, tool: Tool, words: Words, depth = 0): Steps<JsonObject | undefined> {
  const args: Record<string, Json> = {};
  for (const it of listArguments(tool)) {
    // a look-up on the way is narrowed by nothing but a name
    if (!it.isRequired && depth > 0 && !isName(it)) continue;
    const value =
      it.entity === undefined ? copyValue(it, words) : yield* findId(run, it, words, depth);
    if (value !== undefined) args[it.key] = it.isList ? [value] : value;
    else if (it.isRequired) return undefined;
  }
  return args;
}

/** Whether an argument is the name of something or a text to search for. */
const isName = ({ key, label, entity, schema }: Argument): boolean =>
  entity === undefined &&
  schema["type"] === "string" &&
  (label !== undefined || /^(?:name|title|query|topic|subject|text)$/.test(key));

/** A plain argument as it is in the words. An optional one needs a word of its own. */
function copyValue(argument: Argument, words: Words): Json | undefined {
  const { schema, isRequired, key, label } = argument;
  const choices = listChoices(argument);
  if (choices.length > 0) {
    const said = choices.find(it => containsWord(words.clause, it));
    return said ?? (isRequired ? choices[0] : undefined);
  }
  const format = schema["format"];
  if (format === "date") return words.takeDate();
  if (format === "date-time") {
    const time = words.takeTime();
    const day = words.takeDate();
    return time === undefined && day === undefined ? undefined : `${day ?? ""}T${time ?? "09:00"}`;
  }
  const type = schema["type"];
  const isSaid = containsWord(words.clause, key);
  if (type === "boolean")
    return isRequired ? !/\b(?:off|not|no|without|stop)\b/i.test(words.clause) : undefined;
  if (type === "number" || type === "integer")
    return isRequired || isSaid ? words.takeNumber() : undefined;
  if (type !== "string") return undefined;
  const quotation = isRequired || isSaid || label === undefined ? words.takeQuotation() : undefined;
  return quotation ?? (isRequired || label !== undefined ? words.takeName() : undefined);
}

const listChoices = ({ schema }: Argument): readonly string[] =>
  ((schema["enum"] ?? []) as readonly Json[]).filter(it => typeof it === "string");

const containsWord = (text: string, word: string): boolean =>
  containsToken(text.toLowerCase(), word.toLowerCase().replaceAll("_", " "));

/** The id of the row whose name is in the words, or of the first row of a look-up. */
function* findId(
  run: SolverRun,
  { server, entity, isRequired, schema }: Argument,
  words: Words,
  depth: number,
): Steps<EntityId | undefined> {
  const ofKind = (it: ResultEntity) => it.entity === entity;
  const isNamed = (text: string) => (it: ResultEntity) =>
    [it.id, it.label, ...Object.values(it.facts)].some(
      value => typeof value === "string" && value.length > 2 && containsWord(text, value),
    );
  const seen = listSeen(run, server).filter(ofKind);
  const known = seen.findLast(isNamed(words.clause)) ?? seen.findLast(isNamed(words.all));
  if (known) return known.id;
  if (schema["x-spoken"] === true) {
    const said =
      words.takeQuotation() ?? /(?:[~/][\w./-]*\w|\b[A-Z]{2,}[\w-]*\d\w*)/.exec(words.all)?.[0];
    if (said !== undefined) return said;
  }
  if (!isRequired || depth > 2) return undefined;
  if (seen.length > 0 && depth > 0) return seen[0]!.id;
  const lists = [...run.tools.values()]
    .filter(
      it =>
        it.server === server &&
        it.effect === "read" &&
        JSON.stringify(it.outputSchema).includes(`"x-entity":"${entity!}"`),
    )
    .toSorted((a, b) => countRequired(a) - countRequired(b));
  for (const it of lists.slice(0, 2)) {
    const args = yield* fill(run, it, words.copy(), depth + 1);
    if (!args) continue;
    const required = listArguments(it).filter(of => of.isRequired);
    const whole = Object.fromEntries(required.map(({ key }) => [key, args[key]!]));
    for (const tried of Object.keys(args).length > required.length ? [args, whole] : [args]) {
      const [made] = yield* run.callAtOnce({ name: it.name, arguments: tried });
      if (made?.outcome.kind !== "ok") continue;
      const rows = findEntities({ tool: it }, made.outcome.value).filter(ofKind);
      const row = rows.find(isNamed(words.clause)) ?? rows.find(isNamed(words.all)) ?? rows[0];
      if (row) return row.id;
    }
  }
  return seen.at(-1)?.id;
}

const countRequired = (tool: Tool): number =>
  listArguments(tool).filter(it => it.isRequired).length;

/** The entities in all results of a server so far, the latest last. */
const listSeen = (run: SolverRun, server: string): ResultEntity[] =>
  run.knowledge.listResults().flatMap(({ name, value }) => {
    const tool = run.tools.get(name);
    return tool?.server === server ? findEntities({ tool }, value) : [];
  });

/** The most rows that are read out. */
const maxRows = 12;

/** The rows of a result that the words name, or else its first rows, value by value. */
function tell(result: Json, words: string): string {
  const rows = listRows(result);
  const named = rows.filter(row =>
    Object.values(row).some(
      it => typeof it === "string" && it.length > 2 && containsWord(words, it),
    ),
  );
  const chosen = named.length > 0 ? named : rows;
  if (chosen.length === 0) return "There is nothing.";
  const lists = isJsonObject(result) ? Object.values(result).filter(it => Array.isArray(it)) : [];
  const count = lists.length > 0 ? `${(lists[0] as readonly Json[]).length}: ` : "";
  const texts = chosen.slice(0, maxRows).map(row =>
    Object.entries(row)
      .map(([key, it]) => `${key} ${formatScalar(it)}`)
      .join(", "),
  );
  return `${lists.some(it => it.length === 0) ? "There are none. " : ""}${count}${texts.join("; ")}.`;
}

const formatScalar = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);
