/** Tools that list, create, change, send and delete drafts. */
import { z } from "zod";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { limit, attachments, draftId, people, sentResult, subject, text } from "./parameters.ts";
import { EmailState, listNames, findAddressIds, findDraft, type Draft } from "./state.ts";
import { checkDelivery, startThread } from "./delivery.ts";
import { getOriginal } from "../../environment/draft.ts";
import { containsText } from "../../environment/textSearch.ts";

const tool = createToolFactory(EmailState);

export const draftQueries = {
  list_drafts: tool({
    effect: "read",
    summary:
      "List drafts that have not been sent, the latest first, all of them or only those whose subject contains some words.",
    input: {
      subject: label("draft").optional().describe("Only drafts whose subject contains this"),
      limit,
    },
    returns: {
      drafts: z.array(
        z.object({
          subject: label("draft"),
          draft_id: id("draft"),
          to: z.array(z.string()),
          saved: day(),
        }),
      ),
    },
    run: (state, { subject, limit: maxRows = 7 }) => ({
      drafts: Object.entries(state.drafts)
        .filter(([, it]) => !subject || containsText(it.subject, subject))
        .sort(([a, x], [b, y]) =>
          x.saved === y.saved ? (a < b ? -1 : 1) : x.saved < y.saved ? 1 : -1,
        )
        .slice(0, maxRows)
        .map(([draft_id, it]) => ({
          subject: it.subject,
          draft_id,
          to: listNames(state, it.to),
          saved: it.saved.slice(0, 10),
        })),
    }),
  }),
};

const to = people.optional().describe("Full names or e-mail addresses of the recipients");
const draftRow = { subject: label("draft"), draft_id: id("draft"), to: z.array(z.string()) };

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

export const draftCommands = {
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
        ...(files ? { attachments: files } : {}),
        saved: now,
      };
      return {
        subject,
        draft_id,
        to: listNames(state, recipients),
        drafts: draftIds.length + 1,
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
    run(state, { draft_id, to: names, ...values }, { now }) {
      const draft = findDraft(state, draft_id);
      const changes: Partial<Draft> = Object.fromEntries(
        Object.entries({ ...values, to: names && findAddressIds(state, names) }).filter(
          ([, it]) => it !== undefined,
        ),
      );
      const keys = Object.keys(changes) as (keyof Draft)[];
      if (keys.length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give to, subject, text or attachments",
        );
      const changed = keys.filter(
        key => JSON.stringify(changes[key]) !== JSON.stringify(draft[key]),
      );
      if (changed.length === 0)
        refuse("conflict", `the draft "${draft.subject}" (${draft_id}) is like that already`);
      if (values.subject !== undefined) refuseTakenSubject(state, values.subject, draft_id);
      Object.assign(draft, changes, { saved: now });
      return { subject: draft.subject, draft_id, to: listNames(state, draft.to), changed };
    },
  }),
  send_draft: tool({
    effect: "write",
    summary: "Send a draft as it is. It needs recipients, and is a draft no longer.",
    destructive: true,
    input: { draft_id: draftId },
    returns: sentResult,
    run(state, { draft_id }, context) {
      const {
        to: recipients,
        cc,
        subject,
        text: body,
        attachments: files,
      } = findDraft(state, draft_id);
      if (recipients.length === 0)
        refuse(
          "precondition_failed",
          `the draft "${subject}" (${draft_id}) has no recipients`,
          "email_update_draft gives it some",
        );
      const left_today = checkDelivery(state, recipients, cc ?? [], context.now);
      const { thread_id, message_id } = startThread(
        state,
        subject,
        { to: recipients, cc, text: body, attachments: files },
        context,
      );
      const names = listNames(state, [...recipients, ...(cc ?? [])]);
      delete state.drafts[draft_id];
      return { subject, thread_id, message_id, to: names, left_today };
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
    run(state, { draft_id }) {
      const { subject: deleted } = findDraft(state, draft_id);
      delete state.drafts[draft_id];
      return { deleted, drafts: Object.keys(state.drafts).length };
    },
  }),
};
