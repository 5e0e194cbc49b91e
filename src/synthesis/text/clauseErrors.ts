/** Checks whether a clause is either a question or a request, so that it can be put into a turn. */
import { listAlternatives } from "./templateText.ts";

const questionWord =
  /^(what|which|who|whom|whose|whoever|whatever|how|where|why|is|are|am|was|were|does|did|has|will|would|should)\b/;

const requestWord = /^(show|list|tell|give|open|find|look|read)\b/;

/**
 * Returns the errors of a clause. A question that does not end in `?` would be framed as a request
 * ("could you what was its price"), and so would a request that follows a question.
 */
export function findClauseErrors(text: string): string[] {
  const clauses = listAlternatives(text);
  const advice = 'say it as a request: "show me …"';
  if (clauses.some(continuesAfterQuestion))
    return [`"${text}" continues after a question; make it two clauses, or ${advice}`];
  if (clauses.some(it => requestWord.test(it) && it.endsWith("?")))
    return [`"${text}" is a request that ends in ?; leave the question mark out`];
  if (clauses.some(it => questionWord.test(it) && !/\?["”]?$/.test(it)))
    return [`"${text}" begins like a question; end it in ? or ${advice}`];
  return [];
}

/** Whether there are words after a question mark, apart from one in a quotation. */
const continuesAfterQuestion = (clause: string): boolean =>
  /\?(?!$)/.test(clause.replaceAll(/["“][^"“”]*["”]/g, '""'));
