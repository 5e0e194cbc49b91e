/**
 * Tells what a turn asks for in other words than the teacher: the due facts as prose, bullets or a
 * table, with numbers, dates and times as other people write them. It is made from the task's facts
 * and from the names in the teacher's results.
 */
import type { Random } from "../../environment/random.ts";
import { isJsonObject, type Json } from "../../environment/json.ts";
import { daysBetween, getWeekdayName, months } from "../../environment/time.ts";
import type { AnswerKind, Fact } from "../../trajectory/task.ts";
import type { Scalar } from "../../trajectory/valueMatching.ts";
import { listRows, type PlannedCall, type SolverRun } from "./solverRun.ts";
import { listArguments } from "./toolSchemas.ts";
import { listTaughtTurns } from "./taughtTurns.ts";

/** A fact that must be told. */
export interface FactToTell {
  readonly kind: AnswerKind;
  readonly value: Scalar | null;
  /** The name of what it is about; undefined if it is the only one, or is the name itself. */
  readonly subject: string | undefined;
  /** What it says of it, such as `at`; of a number of rows, what they are. */
  readonly field: string;
}

/** The facts that must be told of what a turn asks for, in the order of the goals. */
export const listFactsToTell = ({ turns }: SolverRun, turn: number): readonly FactToTell[] =>
  turns[turn]!.calls.flatMap(call => (call.facts ?? []).flatMap(it => readFact(it, call)));

function readFact(fact: Fact, call: PlannedCall): FactToTell[] {
  const { entity, field = "name", tell, value = null } = fact;
  if (!tell) return [];
  const isRow = field === "count" || tell.kind === "none" || entity === undefined;
  const name = isRow ? undefined : findName(call, entity);
  const told = tell.value ?? value;
  return [
    {
      kind: tell.kind,
      value: told,
      subject: name === told ? undefined : name,
      field: field === "count" || tell.kind === "none" ? findListName(call.result) : field,
    },
  ];
}

/** The name of an entity in a result: the first text beside its id that is not an id. */
function findName({ result, arguments: args }: PlannedCall, entity: string): string | undefined {
  if (result === undefined) return undefined;
  const rows = listRows(result);
  const row = rows.find(it => Object.values(it).includes(entity)) ?? rows[0];
  const isIn = Object.values(args).includes(entity) || Object.values(row ?? {}).includes(entity);
  if (!row || !isIn) return undefined;
  const texts = Object.entries(row).filter(
    ([key, it]) => typeof it === "string" && it !== "" && !key.endsWith("_id"),
  );
  return texts[0]?.[1] as string | undefined;
}

/** What the first list of a result has, such as `accounts`. */
function findListName(result: Json | undefined): string {
  const lists = isJsonObject(result)
    ? Object.entries(result).filter(([, it]) => Array.isArray(it))
    : [];
  return lists[0]?.[0] ?? "results";
}

/** Says all that a turn asks for, and what cannot be done. */
export function paraphraseTurn(run: SolverRun, turn: number): string {
  const { isRefused, isQuestion } = listTaughtTurns(run.task)[turn]!;
  const facts = listFactsToTell(run, turn);
  const parts = facts.length === 0 ? [] : [tellFacts(run, facts)];
  if (isRefused)
    parts.push(
      run.random.pick([
        "Unfortunately that is not something I can do from here.",
        "I'm sorry, but there is no way for me to do that.",
        "That was not possible, I'm afraid.",
      ]),
    );
  if (isQuestion) parts.push(askForValue(run, turn));
  if (parts.length === 0) parts.push("All of that has been taken care of.");
  return parts.join("\n\n");
}

/** Asks for what only the user knows. */
export function askForValue({ task, tools }: SolverRun, turn: number): string {
  const questions = (task.turns[turn]!.unmet ?? []).flatMap(({ name, asks }) => {
    if (asks === undefined) return [];
    const tool = tools.get(name);
    const entity = tool && listArguments(tool).find(it => it.key === asks)?.entity;
    return entity === undefined
      ? `what the ${toWords(asks)} should be`
      : `which ${toWords(entity)} you mean`;
  });
  return `Before I can do that, could you tell me ${[...new Set(questions)].join(" and ")}?`;
}

/** Tells facts in an order and a form of its own. */
export function tellFacts(run: SolverRun, facts: readonly FactToTell[]): string {
  const { random, task } = run;
  const ordered = facts.toReversed();
  const summary = random.pick(["Here is what I found:", "In short:", "This is what I see:"]);
  const format = (it: FactToTell) => formatOtherwise(it, task.now, random);
  const lists = ordered.filter(it => it.kind === "count" || isYesNo(it) || it.kind === "none");
  const others = ordered.filter(it => !lists.includes(it));
  const first = lists.map(it => tellInSentence(it, format(it)));
  if (others.length === 0) return first.join(" ");
  const cells = others.map(it => ({ ...it, text: format(it) }));
  const form = random.pick(["prose", "bullets", "table"]);
  if (form === "bullets" || others.length > 8)
    return [...first, summary, ...cells.map(it => `- ${formatEntry(it)}`)].join("\n");
  if (form === "table") return [...first, summary, "", ...formatTable(cells)].join("\n");
  return [...first, ...cells.map(it => tellInSentence(it, it.text))].join(" ");
}

interface Cell extends FactToTell {
  readonly text: string;
}

const formatEntry = ({ subject, field, text, kind }: Cell): string =>
  [...(subject === undefined ? [] : [subject]), ...(isNamed(kind, field) ? [] : [toWords(field)])]
    .map((it, i) => (i === 0 ? `${it}: ` : `${it} `))
    .join("") + text;

/** A row for each subject, and a column for each field. */
function formatTable(cells: readonly Cell[]): string[] {
  const fields = [...new Set(cells.map(it => it.field))];
  const subjects = [...new Set(cells.map(it => it.subject))];
  if (cells.length !== new Set(cells.map(it => `${it.subject}|${it.field}`)).size)
    return ["| what | it is |", "| --- | --- |", ...cells.map(it => formatRow([formatEntry(it)]))];
  const rows = subjects.map(subject =>
    formatRow([
      subject ?? "this one",
      ...fields.map(
        field => cells.find(it => it.subject === subject && it.field === field)?.text ?? "",
      ),
    ]),
  );
  return [
    formatRow(["", ...fields.map(toWords)]),
    formatRow(["---", ...fields.map(() => "---")]),
    ...rows,
  ];
}

const formatRow = (cells: readonly string[]): string =>
  `| ${cells.map(it => it.replaceAll(/\s*\n\s*/g, " ")).join(" | ")} |`;

function tellInSentence({ kind, subject, field }: FactToTell, text: string): string {
  const words = toWords(field);
  switch (kind) {
    case "yes":
      return subject === undefined ? `Yes, ${words}.` : `Yes, ${subject} is ${words}.`;
    case "no":
      return subject === undefined ? `No, not ${words}.` : `No, ${subject} is not ${words}.`;
    case "none":
      return `There are no ${words} at all.`;
    case "count":
      return `The number of ${words} is ${text}.`;
    default:
      if (isNamed(kind, field)) return `There is ${text}.`;
      return subject === undefined
        ? `The ${words} is ${text}.`
        : `For ${subject}, the ${words} is ${text}.`;
  }
}

/** Whether a fact is the name of something, which needs no other word. */
const isNamed = (kind: AnswerKind, field: string) => kind === "name" && field === "name";

const isYesNo = ({ kind }: FactToTell) => kind === "yes" || kind === "no";

export const toWords = (key: string): string => key.replaceAll("_", " ");

// Values as other people write them.

function formatOtherwise({ kind, value, field }: FactToTell, now: string, random: Random): string {
  if (typeof value === "number") {
    switch (kind) {
      case "money":
        return formatMoney(value, random);
      case "duration":
        return formatDuration(value, field, random);
      case "count":
        return random.boolean(0.5) ? formatSmallNumber(value) : groupDigits(value);
      default:
        return random.boolean(0.3) ? formatSmallNumber(value) : groupDigits(value);
    }
  }
  if (typeof value !== "string") return value === true ? "yes" : value === false ? "no" : "none";
  const [, date, time] = /^(\d{4}-\d\d-\d\d)?T?(\d\d:\d\d)?$/.exec(value) ?? [];
  if (date !== undefined || time !== undefined)
    return [
      ...(date === undefined ? [] : [formatDate(date, now, random)]),
      ...(time === undefined ? [] : [formatTime(time, random)]),
    ].join(" at ");
  const month = /^(\d{4})-(\d\d)$/.exec(value);
  if (month) return `${months[Number(month[2]) - 1]} ${month[1]}`;
  if (kind === "text") return `“${value}”`;
  const words = /^[a-z]+(_[a-z]+)+$/.test(value) ? toWords(value) : value;
  return random.pick([words, `**${words}**`]);
}

function formatMoney(value: number, random: Random): string {
  const cents = groupDigits(value, 2);
  const plain = Number.isInteger(value) ? groupDigits(value) : cents;
  const unsigned = plain.replace("-", "");
  return random.pick([
    `${cents} euros`,
    `${value < 0 ? "-" : ""}€${unsigned}`,
    `${plain} EUR`,
    `${Number.isInteger(value) ? value : value.toFixed(2)} €`,
  ]);
}

function formatDuration(value: number, field: string, random: Random): string {
  const unit = ["second", "minute", "hour", "day"].find(it => field.includes(it)) ?? "minute";
  if (unit === "minute" && value >= 60) {
    const [hours, minutes] = [Math.floor(value / 60), value % 60];
    if (minutes === 0) return countOf(hours, "hour");
    return random.pick([
      `${countOf(hours, "hour")} and ${countOf(minutes, "minute")}`,
      `${hours} h ${minutes} min`,
    ]);
  }
  if (unit === "hour" && !Number.isInteger(value) && Number.isInteger(value * 60))
    return countOf(value * 60, "minute");
  return random.boolean(0.3)
    ? `${formatSmallNumber(value)} ${unit}${value === 1 ? "" : "s"}`
    : countOf(value, unit);
}

const countOf = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

const numberWords = "zero one two three four five six seven eight nine ten eleven twelve".split(
  " ",
);

const formatSmallNumber = (value: number): string => numberWords[value] ?? groupDigits(value);

/** `1204.5` as `1,204.5`. */
function groupDigits(value: number, digits?: number): string {
  const [whole, fraction] = (digits === undefined ? String(value) : value.toFixed(digits)).split(
    ".",
  );
  const grouped = whole!.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function formatDate(date: string, now: string, random: Random): string {
  const days = daysBetween(now, date);
  const weekday = getWeekdayName(date);
  const month = months[Number(date.slice(5, 7)) - 1]!;
  const ordinal = formatOrdinal(Number(date.slice(8)));
  const isOtherYear = date.slice(0, 4) !== now.slice(0, 4);
  const year = isOtherYear ? `, ${date.slice(0, 4)}` : "";
  const relative = { "-1": "yesterday", 0: "today", 1: "tomorrow" }[days];
  if (relative !== undefined && random.boolean(0.5)) return relative;
  return random.pick([
    date,
    `${weekday}, ${month} ${ordinal}${year}`,
    `${weekday} ${Number(date.slice(8))} ${month}${year.replace(",", "")}`,
    `${month} ${ordinal}${year}`,
    `the ${ordinal} of ${month}${year.replace(",", "")}`,
  ]);
}

const formatOrdinal = (n: number): string =>
  `${n}${n > 3 && n < 21 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;

function formatTime(time: string, random: Random): string {
  const [hour, minute] = [Number(time.slice(0, 2)), time.slice(3)];
  const short = `${hour % 12 || 12}${minute === "00" ? "" : `:${minute}`}`;
  const half = hour < 12 ? "am" : "pm";
  return random.pick([
    time,
    `${short} ${half}`,
    `${hour % 12 || 12}:${minute} ${half.toUpperCase()}`,
  ]);
}
