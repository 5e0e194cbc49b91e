/**
 * Renders the assistant's message after a turn: the joined replies to its calls, with an opening, a
 * refusal or a question.
 */
import type { Random } from "../../environment/random.ts";
import { capitalize, addCents, addLead, fixSingular, mergeSameDay, lowerFirst } from "./grammar.ts";
import type { StyleGuide } from "./personas.ts";
import { tidyText, endMark, removeMarks } from "./templateText.ts";
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
  const joined = joinReplies(
    replies.map(it => it.text),
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
    if (sentence === last) {
      text += " The same goes for the other one.";
      continue;
    }
    if (isRepetition(last, sentence)) continue;
    const newText = removeAcknowledgement(removeRepeatedSentences(sentence, text));
    const next = replaceSubject(last, newText, isEntity);
    const second = findSecondSubject(last, next);
    if (second) text = `${text.slice(0, -1)}, and so ${second.verb} ${second.subject}.`;
    else if (!random) text = `${text} ${next}`;
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

/** Lists the values in a sentence. */
const listValues = (text: string): string[] =>
  [...text.matchAll(/\u0001([^\u0001\u0002]*)\u0002/g)].map(it => it[1]!);

/** The second subject of two sentences that are otherwise equal: `A is frozen.`, `B is frozen.` */
function findSecondSubject(
  last: string,
  next: string,
): { readonly subject: string; readonly verb: string } | undefined {
  const [a, b] = [last, next].map(it => it.match(/^(.*?) ((is|has) [^.,;:]+)\.$/));
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

/** Whether a value equals the expected one or, for a bound such as `<0`, is on its right side. */
function matchesCondition(value: Json, expected: Json): boolean {
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
