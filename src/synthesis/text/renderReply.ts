/**
 * What the assistant says, put together: several answers become one message that reads as if it had
 * been meant as one, refusals lose what only a machine would say. Knows sentences, not calls.
 */
import type { Random } from "../../environment/random.ts";
import { capitalize, removeMarks, type StyleGuide } from "./personas.ts";
import { tidyText } from "./templates.ts";
import { formatReplyValue } from "./formatValue.ts";

/** Stands after a value's own words in a reply, as the mark of persona.ts stands before them. */
export const endMark = "\u0002";

/** One answer, with its values still marked. */
export interface ToolReply {
  readonly text: string;
  readonly isWrite: boolean;
}

export interface ReplyParts {
  readonly replies: readonly ToolReply[];
  /** What has to be asked before the rest can be done. */
  readonly question?: string | undefined;
  /** Why the last thing was not done, as a whole sentence. */
  readonly refusal?: string | undefined;
  /** Whether these words name a thing that may be called "it". */
  readonly isEntity: (words: string) => boolean;
  /** Words of the talk's last message, so that no two begin alike. */
  readonly before: string;
  /** Says what has to be said, and no more. */
  readonly isBrief: boolean;
}

/** One message, whole. */
export function renderReply(
  { replies: answers, question, refusal: sorry, isEntity: isThing, before, isBrief }: ReplyParts,
  style: StyleGuide,
  random: Random,
): string {
  const told = joinReplies(
    answers.map(it => it.text),
    isThing,
    isBrief ? undefined : random,
  );
  const opener = isBrief ? "" : pickOpener(answers, { told, question, before }, style, random);
  const asked =
    question === undefined
      ? []
      : [told === "" ? question : addLead(random.pick(style.asking), question)];
  const turned =
    sorry === undefined
      ? []
      : [
          told === ""
            ? sorry
            : addRefusal(
                random.pick(style.but.filter(it => !it.includes(":") || !sorry.includes(":"))),
                sorry,
              ),
        ];
  const text = [told, ...turned, ...asked].filter(it => it !== "").join(" ");
  return cleanUpReply(opener === "" ? text : addLead(opener, text));
}

const cleanUpReply = (text: string): string =>
  addCents(mergeSameDay(fixSingular(removeMarks(tidyText(capitalize(text)).replaceAll(endMark, "")))));

/** `45.5 euros` is 45.50 euros. */
const addCents = (text: string): string =>
  text.replaceAll(/(?<![\d.])(\d+\.\d)(?= euros?\b)|(?<=€)(\d+\.\d)(?!\d)/g, "$&0");

/**
 * A refusal after something that was done: its own "I am sorry, but" would be one "but" too many.
 */
const addRefusal = (lead: string, sorry: string): string =>
  addLead(
    lead,
    capitalize(sorry.replace(/^((?:I am sorry|I'm sorry|Sorry), but|Unfortunately,|Sorry,) /, "")),
  );

/** A sentence after words that lead into it, or begin anew before it. */
const addLead = (lead: string, sentence: string): string =>
  lead + (/[a-z,:] $/.test(lead) ? lowerFirst(sentence) : sentence);

/** In lower case where it may be: no name, no "I", no abbreviation. */
export const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) &&
  !/^(Mr|Mrs|Dr|January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b/.test(
    text,
  )
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text.replace(/^A /, "a ");

const acknowledgement =
  /^(Done|All done|All set|There you go|Of course|Sure|Certainly|OK|Yes, done)[,:.!] +/;
const knownOpening =
  /^(Done|All done|All set|There you go|Here|Yes|No|Nothing|None|Sorry|OK|Sure|Of course|Certainly)\b/;

function pickOpener(
  answers: readonly ToolReply[],
  { told, question, before }: { told: string; question: string | undefined; before: string },
  style: StyleGuide,
  random: Random,
): string {
  const { write, read, ask } = style.openers;
  if (told === "" && question !== undefined) return pickUnlikeBefore(ask, before, random);
  if (answers.length === 0 || knownOpening.test(removeMarks(told))) return "";
  const suiting = (answers[0]!.isWrite ? write : read).filter(
    it => !it.startsWith("That ") || !told.startsWith("That "),
  );
  return pickUnlikeBefore(suiting, before, random);
}

/** One that the message before did not begin with. */
function pickUnlikeBefore(openers: readonly string[], before: string, random: Random): string {
  const opener = random.pick(openers);
  return opener !== "" && before.startsWith(opener.trim()) ? "" : opener;
}

/** One after the other, or joined here and there. */
function joinReplies(
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
      text === "" ? sentence : useItForRepeatedSubject(last, removeAcknowledgement(removeRepeatedSentences(sentence, text)), isEntity);
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
function useItForRepeatedSubject(last: string, next: string, isEntity: ReplyParts["isEntity"]): string {
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

/**
 * `card card_1 (Travel card) is frozen since 2026-03-09` as people say it: `the Travel card is
 * frozen since 9 March`.
 */
export function formatRefusal(error: string, now: string, random: Random): string {
  return tidyText(
    error
      .replaceAll(/\b(\w+) [a-z]+_\d+ \(([^)]+)\)/g, (_, noun: string, label: string) =>
        label.toLowerCase().includes(noun) ? `the ${label}` : `the ${noun} ${label}`,
      )
      .replaceAll(/ \((?:booking )?[a-z]+_\d+\)/g, "")
      .replaceAll(/\b(?:(?:the|that|an?) )?(\w+) [a-z]+_\d+\b/g, "that $1")
      .replaceAll(/ <[\w.-]+@[\w.-]+>/g, "")
      .replaceAll(/\b\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?\b/g, it => formatReplyValue(it, now, random))
      .replaceAll(/\bat (?=\d{1,2} [A-Z][a-z]+(?: \d{4})? at \d)/g, "on ")
      .replaceAll(/\b\d{4}-\d{2}\b(?!-)/g, it => formatReplyValue(it, now, random))
      .replaceAll(/(?<![/.~"\w])[a-z]+(?:_[a-z]+)+\b(?![./])/g, it => it.replaceAll("_", " "))
      .replaceAll(/\b(the|that|a) the\b/g, "$1")
      .replaceAll(
        /(?<![\d.])\d+\.\d(?= (?:available|needed|left|euros?|owed|due|paid|to pay|more|in cash)\b)/g,
        "$&0",
      )
      .replaceAll(
        /(^|: )(calendar|card|account|invoice|order|lead|deal|project|channel|scene|store) (?=[A-Z])/g,
        "$1the $2 ",
      )
      .replaceAll(/\brepeats weekdays\b/g, "repeats on weekdays")
      .replaceAll(
        /\bthe user (is|was|has|does|goes|[a-z]+[^\Ws]s)\b/g,
        (_, verb: string) => `you ${secondPerson[verb] ?? verb.replace(/s$/, "")}`,
      )
      .replaceAll(/\bthe user\b/g, "you")
      .replaceAll(/\byou is\b/g, "you are")
      .replace(/[.;:]$/, ""),
  );
}

const secondPerson: Readonly<Record<string, string>> = {
  is: "are",
  was: "were",
  has: "have",
  does: "do",
  goes: "go",
};

/**
 * Whether a reason can stand after "I am afraid": what comes before a colon has to be a sentence.
 */
export const isFullClause = (why: string): boolean =>
  /\b(is|are|was|were|has|have|had|may|can|cannot|could|will|would|must|does|do|did|takes?|allows?|belongs?|hosts?|exists?|repeats?|contains?|needs?|sells?|owes?|goes|stays?|leads?|plans?|agrees?|uses?|works?|holds?|looks?|comes|trades?|opens?|closes|invites|deals?|starts?|ends?|clash(es)?|costs?|ran|left)\b/.test(
    why.split(": ")[0]!,
  );

/** One of what is counted: `1 files` is 1 file. */
export const fixSingular = (text: string): string =>
  text
    .replaceAll(
      /(?<![\d.,:/-])1 ((?:more|open|new|other|free|unread|full|planned) )?([a-z]+s)\b/g,
      (all, of: string | undefined, noun: string) =>
        pluralNoun.test(noun) ? `1 ${of ?? ""}${toSingular(noun)}` : all,
    )
    .replaceAll(/\bThere are 1\b/g, "There is 1")
    .replaceAll(/\b(1 [a-z]+) are\b/g, "$1 is")
    .replaceAll(/\b1 are\b/g, "1 is")
    .replaceAll(
      /(?<![\d.,])\b(1 (?:euro|file|minute|hour|task|person|seat)) (go|have|were|remain)\b/g,
      (_, one: string, verb: string) =>
        `${one} ${{ go: "goes", have: "has", were: "was", remain: "remains" }[verb]!}`,
    );

/** Words that end in s and are one already, or no things at all. */
const pluralNoun =
  /^(?!is$|was$|has$|as$|this$|its$|less$|plus$|minus$|across$|always$|bus$|business$|class$|address$|access$|status$|gas$|does$|goes$|comes$|takes$|costs$|lasts$|holds$|fits$|needs$|stands$|says$|series$|canvas$|glass$|pass$|process$|express$)[a-z]+$/;
const toSingular = (noun: string): string =>
  /[^aeiou]ies$/.test(noun)
    ? noun.replace(/ies$/, "y")
    : /(ch|sh|x|ss)es$/.test(noun)
      ? noun.slice(0, -2)
      : noun.slice(0, -1);

/** The day once: `9 March at 10:30 until 9 March at 11:00`. */
const mergeSameDay = (text: string): string =>
  text
    .replaceAll(
      /(\d{1,2} [A-Z][a-z]+(?: \d{4})?) at (\d\d:\d\d),? (until|to|and ends|to end) (?:on )?\1 at (\d\d:\d\d)/g,
      "$1 from $2 to $4",
    )
    .replaceAll(/\bfrom (\d{1,2} [A-Z][a-z]+(?: \d{4})?) from\b/g, "on $1 from");

/** Times of one day in a list: `12 March at 09:00, 10:30 and 11:00`. */
export function omitRepeatedDays(items: readonly string[]): string[] {
  const parts = items.map(it => it.match(/^(\d{1,2} [A-Z][a-z]+(?: \d{4})?) at (\d\d:\d\d)$/));
  return items.map((it, i) =>
    i > 0 && parts[i] && parts[i - 1]?.[1] === parts[i][1] ? parts[i][2]! : it,
  );
}
