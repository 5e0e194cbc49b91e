/** The replies of small students, which are shorter than those of teachers. */

/** The most characters in a reply of a small student. */
const maxReplyLength = 60;

/**
 * Shortens a teacher's reply for a small student: a question, and the first other sentences that
 * fit.
 */
export function shortenReply(text: string): string {
  if (text.length <= maxReplyLength) return text;
  const sentences = text.match(/.+?(?:[.!?](?=\s|$)|$)\s*/gs) ?? [text];
  const question = sentences.find(it => it.trimEnd().endsWith("?")) ?? "";
  let left = maxReplyLength - question.length;
  const fitting = sentences.filter(it => it === question || (left -= it.length) >= 0);
  const reply = fitting.join("").trimEnd();
  return reply === "" ? `${text.slice(0, maxReplyLength - 1).replace(/\s\S*$/, "")}…` : reply;
}
