/** Joins the replies to several calls so that they read as one message. */
import type { Random } from "../../environment/random.ts";
import { capitalize } from "./clauses.ts";
import { lowerFirst } from "./grammar.ts";
import type { ReplyParts } from "./renderReply.ts";
import { removeMarks, endMark } from "./valueMarks.ts";
/** A sentence after words that lead into it, or begin anew before it. */
export const addLead = (lead: string, sentence: string): string =>
  lead + (/[a-z,:] $/.test(lead) ? lowerFirst(sentence) : sentence);

const acknowledgement =
  /^(Done|All done|All set|There you go|Of course|Sure|Certainly|OK|Yes, done)[,:.!] +/;

export const knownOpening =
  /^(Done|All done|All set|There you go|Here|Yes|No|Nothing|None|Sorry|OK|Sure|Of course|Certainly)\b/;

/** One after the other, or joined here and there. */
export function joinReplies(
  sentences: readonly string[],
  isEntity: ReplyParts["isEntity"],
  random: Random | undefined,
): string {
  let text = "";
  let last = "";
  let joins = 0;
  for (const said of sentences) {
    const sentence = endQuotation(capitalize(said));
    if (text !== "" && sentence === last) {
      text += " The same goes for the other one.";
      continue;
    }
    const next =
      text === ""
        ? sentence
        : useItForRepeatedSubject(
            last,
            removeAcknowledgement(removeRepeatedSentences(sentence, text)),
            isEntity,
          );
    const alike = text === "" ? undefined : findSecondSubject(last, next);
    if (text === "") text = next;
    else if (alike !== undefined) text = `${text.slice(0, -1)}, and so is ${alike}.`;
    else if (!random) text = `${text} ${next}`;
    else if (
      joins === 0 &&
      isJoinable(last) &&
      isJoinable(next) &&
      last.length + next.length < 130 &&
      random.boolean(0.5)
    ) {
      const more = dropRepeatedSubject(last, capitalize(said)) ?? lowerFirst(next);
      text = `${text.slice(0, -1)}${last.includes(",") || more.includes(",") || (more === lowerFirst(next) && random.boolean(0.4)) ? ", and" : " and"} ${more}`;
      joins++;
    } else
      text = `${text} ${joins === 0 && sentences.length > 1 && random.boolean(0.2) && /^(The|It|I|Your|There) /.test(next) && verbPattern.test(next) ? addLead(random.pick(["Also, ", "And "]), next) : next}`;
    last = next;
  }
  return text;
}

/** An answer without what has been said already, in a sentence of its own and of no "it". */
function removeRepeatedSentences(answer: string, before: string): string {
  const sentences = answer.split(/(?<=[.!?]) (?=[A-Z])/);
  const news = sentences.filter(
    it => !it.includes("\u0001") || /^(It|They|That|This)\b/.test(it) || !before.includes(it),
  );
  return news.length === 0 ? answer : news.join(" ");
}

/** A sentence that ends with a quotation ends with a stop, within it or after it. */
const endQuotation = (text: string): string =>
  /[^.?!…]\u0002?["”]$/.test(text.replaceAll("\u0002", "")) ? `${text}.` : text;

/** A second "Done, …" says nothing. */
function removeAcknowledgement(text: string): string {
  const rest = text.replace(acknowledgement, "");
  return rest.split(" ").length < 3 ? text : marked(rest);
}

/** The first letter in upper case, unless a value begins the text. */
const marked = (text: string): string => capitalize(text);

/** Words by which a sentence is one. */
export const verbPattern =
  /\b(is|are|has|have|was|were|will|holds|starts|begins|comes|goes|went|leads|belongs|takes|took|ends|lasts|costs|stands|can|gets|leaves|says|means|knows|did|does|made|moved)\b/;

/** One sentence with a verb, without a list or an aside in it. */
const isJoinable = (text: string): boolean =>
  verbPattern.test(text) &&
  /^[^.:;?!]*\.$/.test(
    text.replaceAll(/(\d)\.(\d)/g, "$1$2").replaceAll(/[^\s\u0001]*\.[a-z0-9]{2,4}\b/g, "x"),
  ) &&
  !knownOpening.test(removeMarks(text)) &&
  !/,? (so|which|because) | and .* and /.test(text);

/** The words for the value that a sentence begins with, and the quotation mark after it. */
const getSubject = (text: string): string => text.match(/^[^\u0002]*\u0002["”]?/)?.[0] ?? "";

/**
 * What is said of the same thing once more, without its name: `X is full` and `X is Ana's` as `X is
 * full and is Ana's`.
 */
function dropRepeatedSubject(last: string, next: string): string | undefined {
  const head = getSubject(next);
  const rest = next.slice(head.length);
  return head !== "" &&
    last.startsWith(head) &&
    /^ (is|was|has|holds|will|starts|begins|ends|lasts|costs|comes|takes|belongs|stands|opens|leads|says|goes|leaves|reads) /.test(
      rest,
    )
    ? rest.slice(1)
    : undefined;
}

/** The same beginning a second time is "It". */
function useItForRepeatedSubject(
  last: string,
  next: string,
  isEntity: ReplyParts["isEntity"],
): string {
  const head = getSubject(next);
  if (head.length < 2) return next;
  const rest = next.slice(head.length);
  const name = removeMarks(head).replaceAll(endMark, "").replaceAll(/["“”]/g, "");
  const isSame = last.startsWith(head);
  const spoken = listValues(last);
  const isOnly = spoken.includes(name) && spoken.every(it => it === name || !isEntity(it));
  if (!isSame && !isOnly) return next;
  const isOne = (isSame && /^(The|Your) /.test(name)) || isEntity(name);
  return isOne &&
    /^ (is|was|has|holds|will|starts|begins|ends|lasts|costs|comes|takes|belongs|stands|opens|leads|says|goes|leaves) /.test(
      rest,
    )
    ? `It${rest}`
    : next;
}

/** The values that a sentence says. */
const listValues = (text: string): string[] =>
  [...text.matchAll(/\u0001([^\u0001\u0002]*)\u0002/g)].map(it => it[1]!);

/** `A is frozen.` and `B is frozen.`: the other one's name. */
function findSecondSubject(last: string, next: string): string | undefined {
  const [a, b] = [last, next].map(it => it.match(/^(.*?) is ([^.,;:]+)\.$/));
  return a && b && a[2] === b[2] && a[1] !== b[1] ? lowerFirst(b[1]!) : undefined;
}
