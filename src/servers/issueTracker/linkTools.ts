/** Tools that link issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import {
  Tracker,
  isClosed,
  leadsTo,
  linkKinds,
  named,
  ownIssue,
  subtasksOf,
  type Link,
} from "./state.ts";
import { issueKey, issueRow } from "./parameters.ts";
import { settle } from "./workflowTools.ts";

const tool = createToolFactory(Tracker);

const readings: Readonly<Record<Link["kind"], string>> = {
  blocks: "blocks",
  duplicates: "is a duplicate of",
  relates_to: "relates to",
};

/** Turns down a link that stands, contradicts another, or makes no sense. */
function requireLinkable(tracker: Tracker, kind: Link["kind"], from: string, to: string): void {
  if (from === to) refuse("invalid_params", "issue_id and other_id are the same issue");
  const { links, issues } = getOriginal(tracker);
  const stands = (it: Link) =>
    it.kind === kind &&
    ((it.from === from && it.to === to) ||
      (kind === "relates_to" && it.from === to && it.to === from));
  if (Object.values(links).some(stands))
    refuse("conflict", `${from} ${readings[kind]} ${to} already`);
  if (kind === "relates_to") return;
  if (leadsTo(links, kind, to, from))
    refuse(
      "conflict",
      `${to} already ${readings[kind]} ${from}, directly or over others, and the two would go round in a circle`,
      "link them the other way round, or not at all",
    );
  if (kind === "blocks" && isClosed(issues[from]!))
    refuse(
      "precondition_failed",
      `${named(issues[from]!, from)} is ${issues[from]!.status} and blocks nothing`,
      "choose an open issue",
    );
  if (kind === "blocks" && isClosed(issues[to]!))
    refuse(
      "precondition_failed",
      `${named(issues[to]!, to)} is ${issues[to]!.status}: there is nothing left to block`,
      "choose an open issue",
    );
  const original =
    kind === "duplicates"
      ? Object.values(links).find(it => it.kind === kind && it.from === from)
      : undefined;
  if (original) refuse("conflict", `${from} is already a duplicate of ${original.to}`);
  const open =
    kind === "duplicates"
      ? subtasksOf(getOriginal(tracker), from).filter(([, it]) => !isClosed(it))
      : [];
  if (open.length > 0)
    refuse(
      "precondition_failed",
      `${named(issues[from]!, from)} has open subtasks: ${open.map(([key]) => key).join(", ")}`,
      "close the subtasks first",
    );
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
      ...issueRow,
      kind: z.string(),
      other: label("issue"),
      other_id: issueKey(),
      closed: day().optional(),
    },
    run(tracker, { issue_id, kind, other_id }, context) {
      const issue = ownIssue(tracker, issue_id);
      const other = ownIssue(tracker, other_id);
      requireLinkable(tracker, kind, issue_id, other_id);
      tracker.links[context.newId("lnk")] = { kind, from: issue_id, to: other_id };
      if (kind === "duplicates" && !isClosed(issue)) settle(tracker, issue, "cancelled", context);
      return omitUndefined({
        title: issue.title,
        issue_id,
        status: issue.status,
        kind,
        other: other.title,
        other_id,
        closed: issue.closed,
      });
    },
  }),
};
