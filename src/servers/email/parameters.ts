/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { label, phrase, spokenId } from "../../environment/fieldSchemas.ts";
import { threads } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** People are identified by their names, not by ids. */
export const person = () => spokenId("person");
export const people = z.array(person()).min(1).max(20);

export const subject = phrase(2, 100).meta({ examples: vocabulary.subjects });
export const text = phrase(2, 2000).meta({ examples: vocabulary.texts });
const fileName = z
  .string()
  .max(64)
  .regex(/^[\p{L}\d][\p{L}\d _.-]{0,58}\.(pdf|png|jpg|csv|txt|docx|xlsx|zip|svg|pptx)$/u);
export const attachments = z
  .array(fileName)
  .min(1)
  .max(5)
  .describe("Names of the files that go with it, at most five")
  .meta({ examples: vocabulary.attachments })
  .optional();

export const threadLabel = threads.fields({
  subject: label("thread"),
  thread_id: threads.idField,
});
