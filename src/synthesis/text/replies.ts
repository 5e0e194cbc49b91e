/**
 * Renders the assistant's message after a turn: the joined replies to its calls, with an opening, a
 * refusal or a question.
 */
import type { Random } from "../../environment/random.ts";
import { capitalize, addCents, addLead, fixSingular, mergeSameDay, lowerFirst } from "./grammar.ts";
import type { StyleGuide } from "./personas.ts";
import { tidyText, endMark, removeAllMarks, removeMarks } from "./templateText.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { ReplyTemplate } from "./templates.ts";

/** The reply to one call, with marks around its values. */
export interface ToolReply {
  readonly text: string;
  readonly isWrite: boolean;
}

interface ReplyParts {
  readonly replies: readonly ToolReply[];
  /** What the assistant has to ask before it can do the rest. */
  readonly question?: string | undefined;
  /** Why the last request was not fulfilled, as a whole sentence. */
  readonly refusal?: string | undefined;
  readonly isEntity: EntityTest;
  /** The assistant's previous message, which must not begin in the same way. */
  readonly before: string;
  /** Leaves out everything that is not necessary. */
  readonly isBrief: boolean;
}

export function renderReply(parts: ReplyParts, style: StyleGuide, random: Random): string {
  const { replies, question, refusal, isEntity, isBrief } = parts;
  const texts = replies.map(it => it.text);
  const joined = joinReplies(
    isBrief ? texts : mergeAlike(texts),
    isEntity,
    isBrief ? undefined : random,
  );
  const opener = isBrief ? "" : pickOpener(parts, joined, style, random);
  const questionText =
    question === undefined || joined === ""
      ? question
      : addLead(random.pick(style.asking), question);
  const refusalText =
    refusal === undefined || joined === "" ? refusal : addRefusal(refusal, style, random);
  const text = [joined, refusalText, questionText]
    .filter(it => it !== undefined && it !== "")
    .join(" ");
  return cleanUpReply(opener === "" ? text : addLead(opener, text));
}

const cleanUpReply = (text: string): string => {
  const sentences = removeSecondStops(tidyText(capitalize(text)));
  return addCents(mergeSameDay(fixSingular(removeMarks(sentences.replaceAll(endMark, "")))));
};

/** Removes the full stop after a value that ends in a full stop, or a question mark, of its own. */
const removeSecondStops = (text: string): string =>
  text.replaceAll(new RegExp(`(?<!\\.)([.?!]${endMark})\\.(?!\\.)`, "g"), "$1");

/** The refusal after something that was done: "But …", without an apology of its own. */
function addRefusal(refusal: string, style: StyleGuide, random: Random): string {
  const lead = random.pick(style.but.filter(it => !it.includes(":") || !refusal.includes(":")));
  const reason = refusal.replace(
    /^((?:I am sorry|I'm sorry|Sorry), but|Unfortunately,|Sorry,) /,
    "",
  );
  return addLead(lead, capitalize(reason));
}

function pickOpener(
  { replies, question, before }: ReplyParts,
  joined: string,
  style: StyleGuide,
  random: Random,
): string {
  const { write, read, ask } = style.openers;
  if (joined === "" && question !== undefined) return pickUnlikeBefore(ask, before, random);
  if (replies.length === 0 || knownOpening.test(removeMarks(joined))) return "";
  const suitable = (replies[0]!.isWrite ? write : read).filter(
    it => !it.startsWith("That ") || !joined.startsWith("That "),
  );
  return pickUnlikeBefore(suitable, before, random);
}

/** Picks an opener, or none if the previous message began with it. */
function pickUnlikeBefore(openers: readonly string[], before: string, random: Random): string {
  const opener = random.pick(openers);
  return opener !== "" && before.startsWith(opener.trim()) ? "" : opener;
}

// Joins the replies to several calls so that they read as one message: without repeated names,
// acknowledgements and sentences.

/** Whether words name an entity that may be called "it". */
type EntityTest = (words: string) => boolean;

const acknowledgement =
  /^(Done|All done|All set|There you go|Of course|Sure|Certainly|OK|Yes, done)[,:.!] +/;

const knownOpening =
  /^(Done|All done|All set|There you go|Here|Yes|No|Nothing|None|Sorry|OK|Sure|Of course|Certainly)\b/;

/** Longest pair of sentences that are joined with "and". */
const maxJoinedLength = 130;

/** How many sentences that differ in one value are said as one. */
const minAlike = 3;

/**
 * Says what was done with three or more things in one sentence: `A is void.`, `B is void.` and
 * `C is void.` become `A, B and C are void.`, and `I sent A.` and `I sent B.` `I sent A and B.`
 */
function mergeAlike(replies: readonly string[]): string[] {
  const merged: string[] = [];
  for (let start = 0; start < replies.length;) {
    const rest = replies.slice(start);
    const differing = findDifferingValue(rest[0]!, rest[1]);
    const count = differing === undefined ? 1 : countAlike(rest, differing);
    const min = /^I |\u0002["”]? belongs /.test(rest[0]!) ? 2 : minAlike;
    merged.push(...(count < min ? [rest[0]!] : [joinValues(rest.slice(0, count), differing!)]));
    start += count < min ? 1 : count;
  }
  return merged;
}

/** A sentence split at its values: every second part is one, with its marks and quotation marks. */
const splitAtValues = (text: string): string[] =>
  text.split(/([#"“]?\u0001[^\u0001\u0002]*\u0002?(?:\u0002?["”])?)/);

/** Words of a sentence that is about one thing only. */
const singularWords = /\b(one|first|its?|a guest|a co-host)\b/;

/** The index of the only part in which two sentences differ, if it is the name of something. */
function findDifferingValue(first: string, second: string | undefined): number | undefined {
  if (second === undefined) return undefined;
  // a quotation that ends in a mark of its own has no full stop
  const end = (text: string) => (/["”]$/.test(text) ? `${text}.` : text);
  const [a, b] = [splitAtValues(end(first)), splitAtValues(end(second))];
  const differing = [...a.keys()].filter(it => a[it] !== b[it]);
  const [index = 0] = differing;
  const isOne = a.length === b.length && differing.length === 1 && index % 2 === 1;
  const words = a.filter((_, i) => i % 2 === 0).join(" ");
  return isOne && isName(a, index) && isName(b, index) && !singularWords.test(words)
    ? index
    : undefined;
}

/** Whether a part names one thing: no list, and no number but that of an order or an invoice. */
function isName(parts: readonly string[], index: number): boolean {
  const words = removeAllMarks(parts[index]!);
  return /^[\d.,]+( \S+)?$/.test(words)
    ? /^\d+$/.test(words) && /\b(order|invoice) $/i.test(parts[index - 1]!)
    : /^["“]/.test(words) || !/, | and /.test(words);
}

/** How many of the replies equal the first one apart from one value. */
function countAlike(replies: readonly string[], value: number): number {
  const end = replies.findIndex((it, i) => i > 0 && findDifferingValue(replies[0]!, it) !== value);
  return end < 0 ? replies.length : end;
}

/** One sentence about all values: a subject gets a plural verb, and a noun before numbers an s. */
function joinValues(replies: readonly string[], value: number): string {
  const parts = splitAtValues(replies[0]!);
  const before = parts.slice(0, value).join("");
  const after = parts.slice(value + 1).join("");
  const values = replies.map(it => splitAtValues(it)[value]!);
  const isSubject = leadingVerb.test(after) && value === 1;
  const names = isSubject
    ? values.map((it, i) => (i === 0 ? before : lowerFirst(before)) + it)
    : values;
  const listed = `${names.slice(0, -1).join(", ")} and ${names.at(-1)!}`;
  if (!isSubject) {
    const lead = values.every(it => /^\u0001\d+\u0002?$/.test(it))
      ? before.replace(/\b([a-z]+) $/, "$1s ")
      : before;
    return lead + listed + after;
  }
  return listed + after.replace(leadingVerb, (_, verb: string) => ` ${toPlural(verb)}`);
}

const leadingVerb =
  /^ (is|has|was|belongs|holds|stands|counts|shows|costs|says|takes|ends|starts)\b/;

const pluralVerbs: Readonly<Record<string, string>> = { is: "are", has: "have", was: "were" };

const toPlural = (verb: string): string => pluralVerbs[verb] ?? verb.slice(0, -1);

/** Joins replies. Without `random`, no sentences are connected with "and". */
function joinReplies(
  replies: readonly string[],
  isEntity: EntityTest,
  random: Random | undefined,
): string {
  let text = "";
  let last = "";
  let isConnected = false;
  for (const reply of replies) {
    const sentence = endQuotation(capitalize(reply));
    if (text === "") {
      text = last = sentence;
      continue;
    }
    if (sentence === last || text.endsWith(` ${sentence}`)) {
      const same = " The same goes for the other one.";
      text = text.endsWith(same)
        ? text.replace(same, " The same goes for the others.")
        : text.endsWith(" The same goes for the others.")
          ? text
          : text + same;
      continue;
    }
    if (isRepetition(last, sentence)) continue;
    const newText = removeAcknowledgement(removeRepeatedSentences(sentence, text));
    const next = replaceObject(last, replaceSubject(last, newText, isEntity), isEntity);
    const second = findSecondSubject(last, next);
    if (second) {
      text = `${text.slice(0, -1)}, and so ${second.verb} ${second.subject}.`;
      isConnected = true;
    } else if (!random) text = `${text} ${next}`;
    else if (!isConnected && canConnect(last, next) && random.boolean(0.5)) {
      text = `${text.slice(0, -1)}${connect(last, next, reply, random)}`;
      isConnected = true;
    } else text = `${text} ${isConnected ? next : addConnector(next, random)}`;
    last = next;
  }
  return text;
}

/** Whether a sentence says what the last one has said already, apart from "now". */
function isRepetition(last: string, sentence: string): boolean {
  const [a, b] = [last, sentence].map(it => it.replaceAll(/ now\b|\.$/g, ""));
  return a === b && last !== sentence;
}

const canConnect = (last: string, next: string): boolean =>
  isJoinable(last) &&
  isJoinable(next) &&
  !/, and /.test(last + next) &&
  last.length + next.length < maxJoinedLength;

/** The next sentence after "and", without its subject if that is the same. */
function connect(last: string, next: string, reply: string, random: Random): string {
  const rest = dropRepeatedSubject(last, capitalize(reply)) ?? lowerFirst(next);
  const hasComma =
    last.includes(",") || rest.includes(",") || (rest === lowerFirst(next) && random.boolean(0.4));
  return `${hasComma ? ", and" : " and"} ${rest}`;
}

/** The next sentence, now and then with "Also" or "And" before it. */
function addConnector(next: string, random: Random): string {
  const hasConnector =
    random.boolean(0.2) && /^(The|It|I|Your|There) /.test(next) && verbPattern.test(next);
  return hasConnector ? addLead(random.pick(["Also, ", "And "]), next) : next;
}

/**
 * Removes the sentences that the text before contains already, unless they begin with a pronoun.
 */
function removeRepeatedSentences(reply: string, before: string): string {
  const sentences = reply.split(/(?<=[.!?]) (?=[A-Z])/);
  const newSentences = sentences.filter(
    it => !it.includes("\u0001") || /^(It|They|That|This)\b/.test(it) || !before.includes(it),
  );
  return newSentences.length === 0 ? reply : newSentences.join(" ");
}

/** Adds a full stop after a quotation at the end that has none. */
const endQuotation = (text: string): string =>
  /[^.?!…]\u0002?["”]$/.test(text.replaceAll("\u0002", "")) ? `${text}.` : text;

/** Removes a leading "Done, …" if enough is left. */
function removeAcknowledgement(text: string): string {
  const rest = text.replace(acknowledgement, "");
  return rest.split(" ").length < 3 ? text : capitalize(rest);
}

/** Verbs that make a text a sentence. */
export const verbPattern =
  /\b(is|are|has|have|was|were|will|holds|starts|begins|comes|goes|went|leads|belongs|takes|took|ends|lasts|costs|stands|can|gets|leaves|says|means|knows|did|does|made|moved)\b/;

/** Whether a text is one sentence with a verb and without a list or an aside. */
const isJoinable = (text: string): boolean =>
  verbPattern.test(text) &&
  /^[^.:;?!]*\.$/.test(
    text
      .replaceAll(/(\d)\.(\d)/g, "$1$2")
      .replaceAll(/(?<![^\s\u0001])[^\s\u0001]*\.[a-z0-9]{2,4}\b/g, "x"),
  ) &&
  !knownOpening.test(removeMarks(text)) &&
  !/,? (so|which|because) | and .* and /.test(text);

/** The value that a sentence begins with, with its marks and the quotation mark after it. */
const getSubject = (text: string): string => text.match(/^[^\u0002]*\u0002["”]?/)?.[0] ?? "";

/**
 * The next sentence without its subject if the last one has the same: `X is full` and `X is Ana's`
 * become `X is full and is Ana's`.
 */
function dropRepeatedSubject(last: string, next: string): string | undefined {
  const subject = getSubject(next);
  const rest = next.slice(subject.length);
  return subject !== "" &&
    last.startsWith(subject) &&
    /^ (is|was|has|holds|will|starts|begins|ends|lasts|costs|comes|takes|belongs|stands|opens|leads|says|goes|leaves|reads) /.test(
      rest,
    )
    ? rest.slice(1)
    : undefined;
}

/** Replaces the subject of the next sentence with "It" if the last one is about the same entity. */
function replaceSubject(last: string, next: string, isEntity: EntityTest): string {
  const subject = getSubject(next);
  if (subject.length < 2) return next;
  const rest = next.slice(subject.length);
  const name = removeMarks(subject).replaceAll(endMark, "").replaceAll(/["“”]/g, "");
  const isSame = last.startsWith(subject);
  const values = listValues(last);
  const isOnly = values.includes(name) && values.every(it => it === name || !isEntity(it));
  if (!isSame && !isOnly) return next;
  const isSingular = (isSame && /^(The|Your) /.test(name)) || isEntity(name);
  return isSingular &&
    /^ (is|was|has|holds|will|starts|begins|ends|lasts|costs|comes|takes|belongs|stands|opens|leads|says|goes|leaves) /.test(
      rest,
    )
    ? `It${rest}`
    : next;
}

/** Replaces the last words of the next sentence with "it" if the last one is about only that. */
function replaceObject(last: string, next: string, isEntity: EntityTest): string {
  const subject = getSubject(last);
  const name = removeMarks(subject).replaceAll(endMark, "").replaceAll(/["“”]/g, "");
  const isOnly = isEntity(name) && listValues(last).every(it => it === name || !isEntity(it));
  const end = ` ${subject}.`;
  return isOnly &&
    next.endsWith(end) &&
    /^(I|Your)\b[^\u0001]* (on|under)$/.test(next.slice(0, -end.length))
    ? `${next.slice(0, -end.length)} it.`
    : next;
}

/** Lists the values in a sentence. */
const listValues = (text: string): string[] =>
  [...text.matchAll(/\u0001([^\u0001\u0002]*)\u0002/g)].map(it => it[1]!);

/** The second subject of two sentences that are otherwise equal: `A is frozen.`, `B is frozen.` */
function findSecondSubject(
  last: string,
  next: string,
): { readonly subject: string; readonly verb: string } | undefined {
  const [a, b] = [last, next].map(it =>
    it.match(
      /^([^,\u0001]*\u0001[^\u0002]*\u0002["”]?|(?:(?!\b(?:is|are|has|have)\b)[^,;:])*?) ((is|has) [^.,;:]+?)(?: now)?\.$/,
    ),
  );
  return a && b && a[2] === b[2] && a[1] !== b[1]
    ? { subject: lowerFirst(b[1]!), verb: b[3]! }
    : undefined;
}

// Selects the reply templates whose conditions a result meets.

/**
 * Selects the texts of the replies that suit a result: those whose conditions it meets, then those
 * without conditions. `field` returns a field of the result; `order` sorts each of the two groups.
 */
export function selectReplies(
  replies: readonly ReplyTemplate[],
  field: (path: string) => Json | undefined,
  order: <T>(list: readonly T[]) => readonly T[],
): string[] {
  const isMet = ([path, expected]: [string, Json]) =>
    [expected].flat().some(it => matchesCondition(field(path) ?? null, it));
  const conditional = replies.flatMap(it =>
    typeof it !== "string" && Object.entries(it.if).every(isMet) ? [it.say] : [],
  );
  return [...order(conditional), ...order(replies.filter(it => typeof it === "string"))];
}

/** Whether a result meets all conditions. */
export const meets = (value: Json, conditions: JsonObject): boolean =>
  Object.entries(conditions).every(([path, expected]) =>
    [expected].flat().some(it => matchesCondition(getField(value, path) ?? null, it)),
  );

/**
 * Whether a value equals the expected one or, for a bound such as `<0`, is on its right side. `*`
 * is any value but none.
 */
function matchesCondition(value: Json, expected: Json): boolean {
  if (expected === "*") return value !== null;
  const bound =
    typeof expected === "string" && typeof value === "number"
      ? expected.match(/^([<>])(-?\d+(?:\.\d+)?)$/)
      : null;
  if (!bound) return value === expected;
  return bound[1] === "<"
    ? (value as number) < Number(bound[2])
    : (value as number) > Number(bound[2]);
}

/** The field of a result at a dotted path. */
export function getField(value: Json | undefined, path: string): Json | undefined {
  let current: Json | undefined = value;
  for (const key of path.split(".")) {
    if (
      current === null ||
      typeof current !== "object" ||
      Array.isArray(current) ||
      !Object.hasOwn(current, key)
    )
      return undefined;
    current = (current as JsonObject)[key];
  }
  return current;
}
