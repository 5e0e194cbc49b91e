/** Rewrites the message of a refused call in words for the user. */
import type { Random } from "../../environment/random.ts";
import { formatReplyValue } from "./formatValue.ts";
import { tidyText } from "./templateText.ts";

/**
 * Rewrites the message of a refusal: `card card_1 (Travel card) is frozen since 2026-03-09` becomes
 * `the Travel card is frozen since 9 March`.
 */
export function formatRefusal(message: string, now: string, random: Random): string {
  return tidyText(
    message
      .replaceAll(/\b(\w+) [a-z]+_\d+ \(([^)]+)\)/g, (_, noun: string, label: string) =>
        noun === "place"
          ? label
          : label.toLowerCase().includes(noun)
            ? `the ${label}`
            : `the ${noun} ${label}`,
      )
      .replaceAll(/ \((?:booking )?[a-z]+_\d+\)/g, "")
      .replaceAll(/\b(?:(?:the|that|an?) )?(\w+) [a-z]+_\d+\b/g, "that $1")
      .replaceAll(/ <[\w.-]+@[\w.-]+>/g, "")
      .replaceAll(/\b\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?\b/g, it =>
        formatReplyValue(it, { now, random }),
      )
      .replaceAll(/\bat (?=\d{1,2} [A-Z][a-z]+(?: \d{4})? at \d)/g, "on ")
      .replaceAll(/\b\d{4}-\d{2}\b(?!-)/g, it => formatReplyValue(it, { now, random }))
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

/** Whether a reason can stand after "I am afraid": the part before a colon has to have a verb. */
export const isFullClause = (reason: string): boolean =>
  /\b(is|are|was|were|has|have|had|may|can|cannot|could|will|would|must|does|do|did|takes?|allows?|belongs?|hosts?|exists?|repeats?|contains?|needs?|sells?|owes?|goes|stays?|leads?|plans?|agrees?|uses?|works?|holds?|looks?|comes|trades?|opens?|closes|invites|deals?|starts?|ends?|clash(es)?|costs?|ran|left)\b/.test(
    reason.split(": ")[0]!,
  );
