/** Grammar of generated sentences: singular and plural, repeated days, amounts, capital letters. */

/** `45.5 euros` is 45.50 euros. */
export const addCents = (text: string): string =>
  text.replaceAll(/(?<![\d.])(\d+\.\d)(?= euros?\b)|(?<=€)(\d+\.\d)(?!\d)/g, "$&0");

/** In lower case where it may be: no name, no "I", no abbreviation. */
export const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) &&
  !/^(Mr|Mrs|Dr|January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b/.test(
    text,
  )
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text.replace(/^A /, "a ");

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
export const mergeSameDay = (text: string): string =>
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
