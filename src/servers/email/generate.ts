/**
 * Generates the mailbox of a fixture set from templates of threads and drafts, and from the shared
 * cast.
 */
import { server } from "./server.ts";
import type { EmailState } from "./state.ts";
import { commonThreads, extraThreads } from "./threadTemplates.ts";
import { draftTemplates } from "./draftTemplates.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { findInvalidRows, compareWithCast, compareWithCrm } from "./inconsistencies.ts";
import { MailboxBuilder } from "./mailboxBuilder.ts";

function generate(context: GeneratorContext): EmailState {
  const { cast, random, size } = context;
  const isFull = size === "full";
  const builder = new MailboxBuilder(context);
  for (const it of commonThreads) builder.addThread(it);
  if (isFull) {
    for (const it of random.shuffle(extraThreads)) builder.addThread(it);
    for (const [i] of cast.staff.entries()) builder.addAddress(`staff${i}`);
    for (const [i] of cast.friends.entries()) builder.addAddress(`friend${i}`);
    for (const [i] of cast.prospects.entries()) builder.addAddress(`prospect${i}`);
  }
  for (const [i] of cast.clients.entries())
    for (const which of ["a", "b"]) builder.addAddress(`client${i}${which}`);
  for (const it of isFull ? draftTemplates : draftTemplates.slice(0, 2)) builder.addDraft(it);
  return builder.state;
}

export const generator = defineGenerator<EmailState>({
  server,
  generate,
  findInconsistencies: (state, states, cast) => [
    ...findInvalidRows(state, cast),
    ...compareWithCast(state, cast),
    ...compareWithCrm(state, states, cast),
  ],
});
