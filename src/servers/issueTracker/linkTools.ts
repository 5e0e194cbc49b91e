/** Tools that link issues. */
import { z } from "zod";
import { day, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { getSchemas } from "../kit/table.ts";
import {
  IssueTrackerState,
  isClosed,
  hasLinkPath,
  linkKinds,
  formatIssue,
  findEditableIssue,
  requireClosedSubtasks,
  type Link,
} from "./state.ts";
import { issueKey, issueRow } from "./parameters.ts";
import { requireTransition, setStatus } from "./workflowTools.ts";

const tool = createToolFactory(IssueTrackerState);

const kindPhrases: Readonly<Record<Link["kind"], string>> = {
  blocks: "blocks",
  duplicates: "is a duplicate of",
  relates_to: "relates to",
};

/** Refuses a link that exists already, contradicts another, or involves closed issues. */
function requireLinkable(
  state: IssueTrackerState,
  kind: Link["kind"],
  from: string,
  to: string,
): void {
  if (from === to) refuse("invalid_params", "issue_id and other_id are the same issue");
  const { links, issues } = getOriginal(state);
  const isSameLink = (it: Link) =>
    it.kind === kind &&
    ((it.from === from && it.to === to) ||
      (kind === "relates_to" && it.from === to && it.to === from));
  if (Object.values(links).some(isSameLink))
    refuse("conflict", `${from} ${kindPhrases[kind]} ${to} already`);
  if (kind === "relates_to") return;
  if (hasLinkPath(links, kind, to, from))
    refuse(
      "conflict",
      `${to} already ${kindPhrases[kind]} ${from}, directly or over others, and the two would go round in a circle`,
      "link them the other way round, or not at all",
    );
  if (kind === "blocks" && isClosed(issues[from]!))
    refuse(
      "precondition_failed",
      `${formatIssue(issues[from]!, from)} is ${issues[from]!.status} and blocks nothing`,
      "choose an open issue",
    );
  if (kind === "blocks" && isClosed(issues[to]!))
    refuse(
      "precondition_failed",
      `${formatIssue(issues[to]!, to)} is ${issues[to]!.status}: there is nothing left to block`,
      "choose an open issue",
    );
  if (kind !== "duplicates") return;
  const existing = Object.values(links).find(it => it.kind === kind && it.from === from);
  if (existing) refuse("conflict", `${from} is already a duplicate of ${existing.to}`);
  requireClosedSubtasks(state, from);
}

export const linkTools = {
  link_issues: tool({
    effect: "write",
    summary:
      "Link two issues: one blocks the other, duplicates it, or relates to it. A duplicate is cancelled at once if it is still open.",
    input: {
      issue_id: issueKey().describe("Key of the issue that blocks, duplicates or relates"),
      kind: z.enum(linkKinds).describe("How the first issue stands to the other"),
      other_id: issueKey().describe("Key of the issue that is blocked, duplicated or related to"),
    },
    returns: {
      ...getSchemas(issueRow),
      kind: z.string(),
      other: label("issue"),
      other_id: issueKey(),
      closed: day().optional(),
    },
    run(state, { issue_id, kind, other_id }, context) {
      const issue = findEditableIssue(state, issue_id);
      const other = findEditableIssue(state, other_id);
      requireLinkable(state, kind, issue_id, other_id);
      const isClosing = kind === "duplicates" && !isClosed(issue);
      if (isClosing) requireTransition(state, issue_id, issue, "cancelled");
      state.links[context.newId("lnk")] = { kind, from: issue_id, to: other_id };
      if (isClosing) setStatus(state, issue, "cancelled", context);
      return {
        title: issue.title,
        issue_id,
        status: issue.status,
        kind,
        other: other.title,
        other_id,
        closed: issue.closed,
      };
    },
  }),
};
