/**
 * Joins the replies to several calls so that they read as one message: without repeated names,
 * acknowledgements and sentences.
 */
import type { Random } from "../../environment/random.ts";
import { capitalize } from "./clauses.ts";
import { addLead, lowerFirst } from "./grammar.ts";
import { endMark, removeMarks } from "./valueMarks.ts";

/** Whether words name an entity that may be called "it". */
export type EntityTest = (words: string) => boolean;

const acknowledgement =
  /^(Done|All done|All set|There you go|Of course|Sure|Certainly|OK|Yes, done)[,:.!] +/;

export const knownOpening =
  /^(Done|All done|All set|There you go|Here|Yes|No|Nothing|None|Sorry|OK|Sure|Of course|Certainly)\b/;

/** Longest pair of sentences that are joined with "and". */
const maxJoinedLength = 130;

/** Joins replies. Without `random`, no sentences are connected with "and". */
export function joinReplies(
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
    text.replaceAll(/(\d)\.(\d)/g, "$1$2").replaceAll(/[^\s\u0001]*\.[a-z0-9]{2,4}\b/g, "x"),
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
