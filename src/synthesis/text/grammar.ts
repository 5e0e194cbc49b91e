/** Grammar of generated sentences: singular and plural, repeated days, amounts, capital letters. */

/** Adds cents: `45.5 euros` becomes 45.50 euros. */
export const addCents = (text: string): string =>
  text.replaceAll(/(?<![\d.])(\d+\.\d)(?= euros?\b)|(?<=€)(\d+\.\d)(?!\d)/g, "$&0");

/** The text with its first letter in lower case, unless it may begin a name. */
export const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) &&
  !/^(Mr|Mrs|Dr|January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b/.test(
    text,
  )
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text.replace(/^A /, "a ");

/** The sentence after a lead, in lower case if the lead continues into it. */
export const addLead = (lead: string, sentence: string): string =>
  lead + (/[a-z,:] $/.test(lead) ? lowerFirst(sentence) : sentence);

/** Corrects the plural after 1: `1 files` becomes 1 file. */
export const fixSingular = (text: string): string =>
  text
    .replaceAll(
      /(?<![\d.,:/-])1 ((?:more|open|new|other|free|unread|full|planned) )?([a-z]+s)\b/g,
      (all, adjective: string | undefined, noun: string) =>
        pluralNoun.test(noun) ? `1 ${adjective ?? ""}${toSingular(noun)}` : all,
    )
    .replaceAll(/\bThere are 1\b/g, "There is 1")
    .replaceAll(/\b(1 [a-z]+) are\b/g, "$1 is")
    .replaceAll(/\b1 are\b/g, "1 is")
    .replaceAll(
      /(?<![\d.,])\b(1 (?:euro|file|minute|hour|task|person|seat)) (go|have|were|remain)\b/g,
      (_, counted: string, verb: string) =>
        `${counted} ${{ go: "goes", have: "has", were: "was", remain: "remains" }[verb]!}`,
    );

/** Matches plural nouns: not singular nouns, verbs and other words that end in s. */
const pluralNoun =
  /^(?!is$|was$|has$|as$|this$|its$|less$|plus$|minus$|across$|always$|bus$|business$|class$|address$|access$|status$|gas$|does$|goes$|comes$|takes$|costs$|lasts$|holds$|fits$|needs$|stands$|says$|series$|canvas$|glass$|pass$|process$|express$)[a-z]+$/;

const toSingular = (noun: string): string =>
  /[^aeiou]ies$/.test(noun)
    ? noun.replace(/ies$/, "y")
    : /(ch|sh|x|ss)es$/.test(noun)
      ? noun.slice(0, -2)
      : noun.slice(0, -1);

/**
 * Names a day once: `9 March at 10:30 until 9 March at 11:00` becomes 9 March from 10:30 to 11:00.
 */
export const mergeSameDay = (text: string): string =>
  text
    .replaceAll(
      /(\d{1,2} [A-Z][a-z]+(?: \d{4})?) at (\d\d:\d\d),? (until|to|and ends|to end) (?:on )?\1 at (\d\d:\d\d)/g,
      "$1 from $2 to $4",
    )
    .replaceAll(/\bfrom (\d{1,2} [A-Z][a-z]+(?: \d{4})?) from\b/g, "on $1 from");

/** Names the day of consecutive times once: `12 March at 09:00, 10:30 and 11:00`. */
export function omitRepeatedDays(items: readonly string[]): string[] {
  const parts = items.map(it => it.match(/^(\d{1,2} [A-Z][a-z]+(?: \d{4})?) at (\d\d:\d\d)$/));
  return items.map((it, i) =>
    i > 0 && parts[i] && parts[i - 1]?.[1] === parts[i][1] ? parts[i][2]! : it,
  );
}
