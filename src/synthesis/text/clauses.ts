/** Clauses of user turns: requests, contractions, capital letters. */

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
