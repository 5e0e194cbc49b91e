/**
 * Grammar of generated sentences: requests and contractions, singular and plural, repeated days,
 * amounts, capital letters.
 */
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

// Clauses of user turns: requests, contractions, capital letters.

/** Whether a clause begins with a verb, so that it can be framed politely. */
export const isRequest = (clause: string): boolean =>
  !/\?["”]?$/.test(clause) &&
  !/^["“'~#\d(€\p{Lu}]|^(?:booking|invoice|order|flight|seat|shipment) (?:number |no\. )?\u0001?[\w-]+ (?:is|was|has|had|belongs|goes|came|should|can|needs|must|will)\b|^(\u0001|don't\b|do not\b|I\b|I'|my\b|the\b|on\b|at\b|in\b|if\b|there\b|it\b|and\b|another\b|then\b|that\b|this\b|we\b|as\b|for\b|from\b|no\b|once\b|when\b|since\b|a\b|an\b|one\b|some\b|both\b|somebody\b|nobody\b|nothing\b|every(?:one|body|thing)\b|anybody\b|these\b|those\b|our\b|their\b|his\b|her\b|as\b|not\b|just\b|with\b|without\b|by\b|after\b|before\b|because\b|instead\b|today\b|tomorrow\b|you\b|there's\b|they\b|let's\b|something\b|to\b|or\b|oh\b|wait\b|now\b|yes\b)/u.test(
    clause,
  );

const contractions: readonly [RegExp, string][] = [
  [/\bwhat is (?=the |in |on |my |left|\{)/g, "what's "],
  [/\bwhere is\b/g, "where's"],
  [/\bwho is\b/g, "who's"],
  [/\bI would like\b/g, "I'd like"],
  [/^I am /g, "I'm "],
  [/^I have (?=lost|just|got)/g, "I've "],
  [/\bdo not\b/g, "don't"],
  [/\bdoes not\b/g, "doesn't"],
  [/\bcannot\b/g, "can't"],
  [/\bis not\b/g, "isn't"],
  [/^there is /g, "there's "],
  [/^it is /g, "it's "],
  [/\bI will\b/g, "I'll"],
  [/\bhas not\b/g, "hasn't"],
];

/** Contracts words as people do in speech: "what's", "I'd". */
export const applyContractions = (text: string): string =>
  contractions.reduce((it, [long, short]) => it.replaceAll(long, short), text);

/** The text with a full stop, unless it ends a sentence already. */
export const endSentence = (text: string): string => (/[.?!]["”]?$/.test(text) ? text : `${text}.`);

/** The text with its first letter in upper case; a value mark before the letter protects it. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
