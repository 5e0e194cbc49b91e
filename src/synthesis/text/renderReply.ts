/**
 * Renders the assistant's message after a turn: the joined replies to its calls, with an opening, a
 * refusal or a question.
 */
import type { Random } from "../../environment/random.ts";
import { capitalize } from "./clauses.ts";
import { addCents, addLead, fixSingular, mergeSameDay } from "./grammar.ts";
import { joinReplies, knownOpening, type EntityTest } from "./joinReplies.ts";
import type { StyleGuide } from "./personas.ts";
import { tidyText } from "./templateText.ts";
import { endMark, removeMarks } from "./valueMarks.ts";

/** The reply to one call, with marks around its values. */
export interface ToolReply {
  readonly text: string;
  readonly isWrite: boolean;
}

export interface ReplyParts {
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
