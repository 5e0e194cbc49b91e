/**
 * The mailbox's tools for drafts: begun, changed, sent or thrown away. Until it is sent a draft may
 * lack its recipients.
 */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { attachments, draftId, people, sent, subject, text } from "./words.ts";
import {
  addressesOf,
  deliverable,
  draftOf,
  Mailbox,
  namesOf,
  postNew,
  type Draft,
} from "./state.ts";

const tool = createToolFactory(Mailbox);

const to = people.optional().describe("Full names or e-mail addresses of the recipients");
const draftRow = { subject: label("draft"), draft_id: id("draft"), to: z.array(z.string()) };

/** Drafts are told apart by their subjects. */
function subjectIsFree(mailbox: Mailbox, subject: string, but?: string): void {
  const wanted = subject.trim().toLowerCase();
  const same = Object.entries(getOriginal(mailbox).drafts).find(
    ([key, it]) => key !== but && it.subject.toLowerCase() === wanted,
  );
  if (same)
    refuse(
      "conflict",
      `there is already a draft "${same[1].subject}" (${same[0]})`,
      "email_update_draft changes it, and another subject makes another draft",
    );
}

export const drafts = {
  create_draft: tool({
    effect: "write",
    summary:
      "Begin a message without sending it. Recipients may come later, with email_update_draft.",
    input: {
      subject: subject.describe("Subject"),
      text: text.describe("The message so far"),
      to,
      attachments: attachments.optional(),
    },
    returns: { ...draftRow, drafts: z.int().describe("Drafts there are now") },
    run(
      mailbox,
      { subject: about, text: words, to: names = [], attachments: files },
      { now, newId },
    ) {
      const kept = Object.keys(getOriginal(mailbox).drafts);
      subjectIsFree(mailbox, about);
      if (kept.length >= mailbox.limits.drafts)
        refuse(
          "limit_exceeded",
          `${kept.length} drafts are kept, and ${mailbox.limits.drafts} is the most`,
          "send one with email_send_draft or delete one with email_delete_draft",
        );
      const recipients = addressesOf(mailbox, names);
      const draft_id = newId("drf");
      mailbox.drafts[draft_id] = {
        to: recipients,
        subject: about,
        text: words,
        ...(files ? { attachments: files } : {}),
        saved: now,
      };
      return {
        subject: about,
        draft_id,
        to: namesOf(mailbox, recipients),
        drafts: kept.length + 1,
      };
    },
  }),
  update_draft: tool({
    effect: "write",
    summary: "Change a draft: what is given takes the place of what was there.",
    input: {
      draft_id: draftId,
      to: to.describe("Full names or e-mail addresses of the recipients, instead of those it has"),
      subject: subject.optional().describe("New subject"),
      text: text.optional().describe("New text, instead of the old one"),
      attachments: attachments.optional(),
    },
    returns: { ...draftRow, changed: z.array(z.string()) },
    run(mailbox, { draft_id, to: names, ...values }, { now }) {
      const draft = draftOf(mailbox, draft_id);
      const wanted: Partial<Draft> = Object.fromEntries(
        Object.entries({ ...values, to: names && addressesOf(mailbox, names) }).filter(
          ([, it]) => it !== undefined,
        ),
      );
      const keys = Object.keys(wanted) as (keyof Draft)[];
      if (keys.length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give to, subject, text or attachments",
        );
      const changed = keys.filter(
        key => JSON.stringify(wanted[key]) !== JSON.stringify(draft[key]),
      );
      if (changed.length === 0)
        refuse("conflict", `the draft "${draft.subject}" (${draft_id}) is like that already`);
      if (values.subject !== undefined) subjectIsFree(mailbox, values.subject, draft_id);
      Object.assign(draft, wanted, { saved: now });
      return { subject: draft.subject, draft_id, to: namesOf(mailbox, draft.to), changed };
    },
  }),
  send_draft: tool({
    effect: "write",
    summary: "Send a draft as it is. It needs recipients, and is a draft no longer.",
    destructive: true,
    input: { draft_id: draftId },
    returns: sent,
    run(mailbox, { draft_id }, context) {
      const {
        to: recipients,
        cc,
        subject: about,
        text: words,
        attachments: files,
      } = draftOf(mailbox, draft_id);
      if (recipients.length === 0)
        refuse(
          "precondition_failed",
          `the draft "${about}" (${draft_id}) has no recipients`,
          "email_update_draft gives it some",
        );
      const left_today = deliverable(mailbox, recipients, cc ?? [], context.now);
      const { thread_id, message_id } = postNew(
        mailbox,
        about,
        { to: recipients, cc, text: words, attachments: files },
        context,
      );
      const names = namesOf(mailbox, [...recipients, ...(cc ?? [])]);
      delete mailbox.drafts[draft_id];
      return { subject: about, thread_id, message_id, to: names, left_today };
    },
  }),
  delete_draft: tool({
    effect: "write",
    summary: "Throw a draft away. It cannot be brought back.",
    destructive: true,
    input: { draft_id: draftId },
    returns: {
      deleted: z.string().describe("Subject of the draft that is gone"),
      drafts: z.int().describe("Drafts there are now"),
    },
    run(mailbox, { draft_id }) {
      const { subject: deleted } = draftOf(mailbox, draft_id);
      delete mailbox.drafts[draft_id];
      return { deleted, drafts: Object.keys(mailbox.drafts).length };
    },
  }),
};
