/**
 * Solvers that make the teacher's calls and say something else: the same in other words, something
 * wrong, nothing, or everything that they have seen.
 */
import type { Solver } from "./solver.ts";
import type { SolverRun } from "./solverRun.ts";
import { followTeacher, listTaughtTurns, type TaughtTurn } from "./taughtTurns.ts";
import {
  listFactsToTell,
  paraphraseTurn,
  tellFacts,
  toWords,
  type FactToTell,
} from "./paraphrase.ts";
import { listScalars, type Scalar } from "../../trajectory/valueMatching.ts";
import type { Task } from "../../trajectory/task.ts";
import { getCallValue } from "../../trajectory/trajectory.ts";

/** Whether a task asks for a fact that must be told. */
const asksForFacts = ({ goals }: Task): boolean =>
  goals.some(goal => goal.calls.some(it => it.facts?.some(fact => fact.tell) ?? false));

const hasTurn = (task: Task, isWanted: (turn: TaughtTurn) => boolean): boolean =>
  listTaughtTurns(task).some(isWanted);

const hasSomethingToTell = (task: Task): boolean =>
  asksForFacts(task) || hasTurn(task, it => it.isRefused || it.isQuestion);

export const paraphraser: Solver = {
  name: "paraphraser",
  kind: "right",
  summary: "tells what is asked for in other words, formats and order",
  isIdle: task => !hasSomethingToTell(task),
  *solve(run) {
    run.differs = true;
    yield* followTeacher(run, {
      reply: ({ reply, isRefused, isQuestion }, t) =>
        isRefused || isQuestion || listFactsToTell(run, t).length > 0
          ? paraphraseTurn(run, t)
          : reply,
    });
  },
};

export const okSayer: Solver = {
  name: "ok-sayer",
  kind: "wrong",
  summary: "makes the right calls and only says OK",
  isIdle: task => !hasSomethingToTell(task),
  *solve(run) {
    run.differs = true;
    yield* followTeacher(run, { reply: () => "OK." });
  },
};

export const falsifier: Solver = {
  name: "falsifier",
  kind: "wrong",
  summary: "makes the right calls and changes every number and every yes or no that it tells",
  isIdle: task => !asksForFacts(task),
  *solve(run) {
    run.differs = false;
    yield* followTeacher(run, {
      reply({ reply }, t) {
        const changed = listFactsToTell(run, t).filter(canBeFalsified);
        if (changed.length === 0) return falsify(reply);
        run.differs = true;
        return contradict(falsify(reply), reply, changed);
      },
    });
  },
};

/** Whether a fact is a number or says whether something is so. */
const canBeFalsified = ({ kind, value }: FactToTell): boolean =>
  kind === "yes" || kind === "no" || kind === "none" || /\d/.test(String(value));

/** The opposite in front, if a reply tells a yes, no or none that changing words did not change. */
function contradict(text: string, reply: string, facts: readonly FactToTell[]): string {
  if (text !== reply) return text;
  const [first] = facts;
  const words = toWords(first!.field);
  if (first!.kind === "yes") return `No, not ${words}. ${text}`;
  if (first!.kind === "no") return `Yes, ${words}. ${text}`;
  return `There are several ${words}. ${text}`;
}

/** Changes every number, date and time in a text, and every yes, no and none. */
function falsify(text: string): string {
  return text
    .split(/(?<=[.!?])\s+/)
    .map(it => (it.endsWith("?") ? it : falsifySentence(it)))
    .join(" ");
}

const dayOfMonth =
  /\b(\d{1,2})(?= (?:January|February|March|April|May|June|July|August|September|October|November|December)\b)/;
const changeable = new RegExp(
  `(\\b\\d{1,2}):(\\d\\d)\\b|${dayOfMonth.source}|\\d+|\\b(${[
    "yes|no|none|nothing|nobody|not|isn['’]t|aren['’]t|doesn['’]t|hasn['’]t",
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|just|empty",
  ].join("|")})\\b`,
  "gi",
);

const otherWords: Readonly<Record<string, string>> = {
  yes: "No",
  no: "several",
  none: "some",
  nothing: "something",
  nobody: "somebody",
  not: "indeed",
  isn: "is",
  aren: "are",
  doesn: "does",
  hasn: "has",
  empty: "full",
  just: "",
};
const numberWords = "one two three four five six seven eight nine ten eleven twelve".split(" ");

function falsifySentence(sentence: string): string {
  // "No, it is not" and "No need" answer no; "no cards" says that there are none
  const answer = /^no\b(?! \w)/i;
  if (answer.test(sentence)) return `Yes${falsifySentence(sentence.slice(2))}`;
  return sentence.replaceAll(changeable, (found, hour?: string, minute?: string, day?: string) => {
    if (hour !== undefined) return `${String((Number(hour) + 3) % 24).padStart(2, "0")}:${minute}`;
    if (day !== undefined) return String(((Number(day) + 2) % 28) + 1);
    if (/^\d/.test(found)) return changeDigits(found);
    const word = found.toLowerCase().replace(/n['’]t$/, "");
    const number = numberWords.indexOf(word);
    return number < 0 ? (otherWords[word] ?? found) : numberWords[(number + 3) % 12]!;
  });
}

const changeDigits = (digits: string): string =>
  digits.replaceAll(/\d/g, (it, i: number) => {
    const changed = (Number(it) + 3) % 10;
    return String(i === 0 && changed === 0 ? 4 : changed);
  });

export const claimer: Solver = {
  name: "claimer",
  kind: "wrong",
  summary: "says of what cannot be done that it was done",
  isIdle: task => !hasTurn(task, it => it.isRefused),
  *solve(run) {
    run.differs = true;
    yield* followTeacher(run, {
      reply: ({ reply, isRefused }, t) => (isRefused ? claimTurn(run, t) : reply),
    });
  },
};

export const refusalSkipper: Solver = {
  name: "refusal-skipper",
  kind: "wrong",
  summary: "does not try what is refused, and says that it is done",
  isIdle: task =>
    !hasTurn(task, ({ isRefused, messages }) => isRefused && messages.some(hasRefusedCall)),
  *solve(run) {
    run.differs = true;
    const isSkipped = (turn: TaughtTurn) => turn.isRefused && turn.messages.some(hasRefusedCall);
    yield* followTeacher(run, {
      isMade: ({ outcome }, turn) => !(isSkipped(turn) && outcome.kind === "refused"),
      reply: (turn, t) => (isSkipped(turn) ? claimTurn(run, t) : turn.reply),
    });
  },
};

const hasRefusedCall = ({ calls }: TaughtTurn["messages"][number]): boolean =>
  calls.some(it => it.outcome.kind === "refused");

/** Claims that all of a turn is done, and tells what else it asks for. */
function claimTurn(run: SolverRun, turn: number): string {
  const facts = listFactsToTell(run, turn);
  const rest = facts.length === 0 ? "" : ` ${tellFacts(run, facts)}`;
  return `Done! I have taken care of that.${rest}`;
}

export const tellerOfEverything: Solver = {
  name: "teller-of-everything",
  kind: "wrong",
  summary: "reads out every value that it has seen instead of an answer",
  isIdle: task => !asksForFacts(task),
  *solve(run) {
    run.differs = false;
    const seen: Scalar[] = [];
    yield* followTeacher(run, {
      reply({ reply, messages }, t) {
        for (const it of messages.flatMap(of => of.calls))
          seen.push(...listScalars(getCallValue(it) ?? null));
        const due = listFactsToTell(run, t);
        if (!isBuried(due, seen)) return reply;
        run.differs = true;
        return `${[...new Set(seen)].join(", ")}.`;
      },
    });
  },
};

/** Whether the numbers that are due are a small part of all numbers among values. */
function isBuried(due: readonly FactToTell[], values: readonly Scalar[]): boolean {
  const numbers = new Set(due.flatMap(it => (typeof it.value === "number" ? it.value : [])));
  const others = new Set(values.filter(it => typeof it === "number" && !numbers.has(it)));
  return numbers.size > 0 && others.size > Math.max(3, 2 * numbers.size);
}
