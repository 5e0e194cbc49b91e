/** Schemas of parameters and results that several tools share. */
import { z } from "zod";
import { id, label, spokenId, rowLimit } from "../../environment/fieldSchemas.ts";

export const threadId = id("thread").describe("Thread id, as email_search_mail gives it");
export const messageId = id("message").describe("Message id, as email_get_thread gives it");
export const draftId = id("draft").describe("Draft id, as email_list_drafts gives it");
export const labelId = id("label").describe("Label id, as email_list_labels gives it");

/** People are identified by their names, not by ids. */
export const person = () => spokenId("person");
export const people = z.array(person()).min(1).max(20);

export const subject = z
  .string()
  .min(2)
  .max(100)
  .regex(/\S/)
  .meta({
    examples: [
      "Question about the schedule",
      "Photos from Friday",
      "New price list",
      "Draft for the brochure",
      "Meeting next week",
      "Thank you",
      "Logo files",
      "Change of plan",
      "Short update",
      "Print run",
      "Test results",
      "Summer plans",
      "Missing attachment",
      "Second proposal",
    ],
  });
export const text = z
  .string()
  .min(2)
  .max(2000)
  .regex(/\S/)
  .meta({
    examples: [
      "Thanks, that works for me",
      "Please send me the latest version",
      "I will call you tomorrow morning.",
      "Here is what we agreed on.",
      "Please have a look and tell me what you think.",
      "We need one more day for this.",
      "Sounds good, go ahead.",
      "Can we talk about it on Thursday?",
      "The files are ready.",
      "I am out of office on Friday.",
      "Who takes care of the printing?",
      "Sorry for the late answer, all is fine.",
    ],
  });
const fileName = z
  .string()
  .max(64)
  .regex(/^[\p{L}\d][\p{L}\d _.-]{0,58}\.(pdf|png|jpg|csv|txt|docx|xlsx|zip|svg|pptx)$/u);
export const attachments = z
  .array(fileName)
  .min(1)
  .max(5)
  .describe("Names of the files that go with it, at most five")
  .meta({
    examples: [
      ["proposal.pdf"],
      ["logo.svg"],
      ["budget.xlsx"],
      ["photos.zip"],
      ["schedule.pdf"],
      ["brief.docx"],
      ["mockup.png"],
      ["slides.pptx"],
      ["contract.pdf"],
    ],
  });

export const sentResult = {
  subject: label("thread"),
  thread_id: id("thread"),
  message_id: id("message"),
  to: z.array(z.string()).describe("Who receives it"),
  left_today: z.int().describe("Messages that may still be sent today"),
};

export const limit = rowLimit(7);
