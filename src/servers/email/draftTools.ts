/** Tools that list, create, change, send and delete drafts. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { listChangedNames } from "../kit/changes.ts";
import { contains, descending, getSchemas } from "../kit/table.ts";
import { sendMessage, sentResult } from "./delivery.ts";
import { attachments, people, subject, text } from "./parameters.ts";
import { drafts, EmailState, findAddressIds, listNames } from "./state.ts";

const tool = createToolFactory(EmailState);

const to = people.optional().describe("Full names or e-mail addresses of the recipients");
const draftRow = drafts.fields({
  subject: label("draft"),
  draft_id: drafts.idField,
  to: [z.array(z.string()), (it, { world }) => listNames(world, it.to)],
});

/** Refuses a subject that another draft has: drafts are identified by their subjects. */
function refuseTakenSubject(state: EmailState, subject: string, exceptId?: string): void {
  const searchedSubject = subject.trim().toLowerCase();
  const duplicate = Object.entries(getOriginal(state).drafts).find(
    ([key, it]) => key !== exceptId && it.subject.trim().toLowerCase() === searchedSubject,
  );
  if (duplicate)
    refuse(
      "conflict",
      `there is already a draft "${duplicate[1].subject}" (${duplicate[0]})`,
      "email_update_draft changes it, and another subject makes another draft",
    );
}

export const draftTools = {
  list_drafts: drafts.list({
    summary:
      "List drafts that have not been sent, the latest first, all of them or only those whose subject contains some words.",
    filters: {
      subject: contains(
        label("draft"),
        "Only drafts whose subject contains this",
        it => it.subject,
      ),
    },
    order: descending(it => it.saved),
    limit: 7,
    row: { ...draftRow, saved: [day(), it => it.saved.slice(0, 10)] },
  }),
  create_draft: tool({
    effect: "write",
    summary:
      "Begin a message without sending it. Recipients may come later, with email_update_draft.",
    input: {
      subject: subject.describe("Subject"),
      text: text.describe("The message so far"),
      to,
      attachments,
    },
    returns: { ...getSchemas(draftRow), drafts: z.int().describe("Drafts there are now") },
    run(state, { subject, text: body, to: names = [], attachments: files }, { now, newId }) {
      const draftIds = Object.keys(getOriginal(state).drafts);
      refuseTakenSubject(state, subject);
      if (draftIds.length >= state.limits.drafts)
        refuse(
          "limit_exceeded",
          `${draftIds.length} drafts are kept, and ${state.limits.drafts} is the most`,
          "send one with email_send_draft or delete one with email_delete_draft",
        );
      const recipients = findAddressIds(state, names);
      const draft_id = newId("drf");
      state.drafts[draft_id] = {
        to: recipients,
        subject,
        text: body,
        attachments: files,
        saved: now,
      };
      return {
        ...drafts.show(draftRow, state, draft_id, now),
        drafts: draftIds.length + 1,
      };
    },
  }),
  update_draft: tool({
    effect: "write",
    summary: "Change a draft: what is given takes the place of what was there.",
    input: {
      draft_id: drafts.id,
      to: to.describe("Full names or e-mail addresses of the recipients, instead of those it has"),
      subject: subject.optional().describe("New subject"),
      text: text.optional().describe("New text, instead of the old one"),
      attachments,
    },
    returns: { ...getSchemas(draftRow), changed: z.array(z.string()) },
    run(state, { draft_id, to: names, ...values }, { now }) {
      const draft = drafts.find(state, draft_id);
      const changes = omitUndefined({ ...values, to: names && findAddressIds(state, names) });
      const changed = listChangedNames(draft, changes, {
        subject: `the draft "${draft.subject}" (${draft_id})`,
        hint: "give to, subject, text or attachments",
      });
      if (values.subject !== undefined) refuseTakenSubject(state, values.subject, draft_id);
      Object.assign(draft, changes, { saved: now });
      return { ...drafts.show(draftRow, state, draft_id, now), changed };
    },
  }),
  send_draft: tool({
    effect: "write",
    summary: "Send a draft as it is. It needs recipients, and is a draft no longer.",
    destructive: true,
    input: { draft_id: drafts.id },
    returns: sentResult,
    run(state, { draft_id }, context) {
      const { subject, ...message } = drafts.find(state, draft_id);
      if (message.to.length === 0)
        refuse(
          "precondition_failed",
          `the draft "${subject}" (${draft_id}) has no recipients`,
          "email_update_draft gives it some",
        );
      const sent = sendMessage(state, { subject }, message, context);
      delete state.drafts[draft_id];
      return sent;
    },
  }),
  delete_draft: tool({
    effect: "write",
    summary: "Throw a draft away. It cannot be brought back.",
    destructive: true,
    input: { draft_id: drafts.id },
    returns: {
      deleted: z.string().describe("Subject of the draft that is gone"),
      drafts: z.int().describe("Drafts there are now"),
    },
    run(state, { draft_id }) {
      const { subject: deleted } = drafts.find(state, draft_id);
      delete state.drafts[draft_id];
      return { deleted, drafts: Object.keys(state.drafts).length };
    },
  }),
};
