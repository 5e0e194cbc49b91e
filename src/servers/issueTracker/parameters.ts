/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { label, phrase, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { getUserName, issues, priorities } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const issueKey = () => spokenId("issue");
export const projectKey = () => spokenId("project");
/** People are identified by name, not by id. */
export const person = () => spokenId("person");
/** A label is identified by its text. */
export const tag = () => label("label").max(40);

export const points = z.int().min(1).max(40).meta({ examples: vocabulary.points });
export const priority = z.enum(priorities);
export const assignee = person().describe("Full name or e-mail address of a member of the project");
export const newTitle = phrase(3, 120).meta({ examples: vocabulary.titles });

export const issueLabel = issues.fields({ title: label("issue"), issue_id: issues.idField });
export const issueRow = issues.fields({ ...issueLabel, status: z.string() });
export const assigneeField = issues.fields({
  assignee: [
    person().optional(),
    (it, { world }) => it.assignee && getUserName(world, it.assignee),
  ],
});

/** Refuses a day before today. */
export function requireNotPast(date: string, now: string, noun: string): void {
  if (date < now.slice(0, 10))
    refuse(
      "precondition_failed",
      `${noun} ${date} is past: today is ${now.slice(0, 10)}`,
      "choose today or a later day",
    );
}
