/**
 * What the assistant says, put together: several answers become one message that reads as if it had
 * been meant as one, refusals lose what only a machine would say. Knows sentences, not calls.
 */
import type { Random } from "../../environment/random.ts";
import { capitalize } from "./clauses.ts";
import { addCents, fixSingular, mergeSameDay } from "./grammar.ts";
import { addLead, joinReplies, knownOpening } from "./joinReplies.ts";
import type { StyleGuide } from "./personas.ts";
import { tidyText } from "./templateText.ts";
import { removeMarks, endMark } from "./valueMarks.ts";

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
  addCents(
    mergeSameDay(fixSingular(removeMarks(tidyText(capitalize(text)).replaceAll(endMark, "")))),
  );

/**
 * A refusal after something that was done: its own "I am sorry, but" would be one "but" too many.
 */
const addRefusal = (lead: string, sorry: string): string =>
  addLead(
    lead,
    capitalize(sorry.replace(/^((?:I am sorry|I'm sorry|Sorry), but|Unfortunately,|Sorry,) /, "")),
  );

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
