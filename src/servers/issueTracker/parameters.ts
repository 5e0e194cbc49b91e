/** Parameters and results that several tools share. */
import { z } from "zod";
import { day, id, label, spokenId, rowLimit } from "../../environment/fieldSchemas.ts";

/** People refer to an issue by its key: WEB-12. */
export const issueKey = () => spokenId("issue");
export const projectKey = () => spokenId("project");
export const issueId = issueKey().describe("Key of the issue, like WEB-12");
export const projectId = projectKey().describe(
  "Key of the project, like WEB, as issue_tracker_list_projects gives it",
);
export const sprintId = id("sprint").describe("Sprint id, as issue_tracker_list_sprints gives it");
/** People are identified by name, not by id. */
export const person = () => spokenId("person");
/** A label is identified by its text. */
export const tag = () => label("label").max(40);

export const limit = rowLimit(10);
export const points = z
  .int()
  .min(1)
  .max(40)
  .meta({ examples: [1, 2, 3, 5, 8, 13, 20, 4] });
export const due = day();

export const issueRow = { title: label("issue"), issue_id: issueKey(), status: z.string() };
export const sprintRow = { sprint: label("sprint"), sprint_id: id("sprint") };

export const newTitle = z
  .string()
  .min(3)
  .max(120)
  .regex(/\S/)
  .meta({
    examples: [
      "Printer queue stalls after a paper jam",
      "Swap the hero image on the start page",
      "Contact form rejects long names",
      "Write alt texts for the gallery",
      "Invoice template cuts off the VAT line",
      "Move the fonts to our own server",
      "Calendar feed shows the wrong week",
      "Translate the imprint into Portuguese",
      "Menu overlaps the logo on tablets",
      "Plan the photo shoot in the harbour",
      "Search forgets the chosen language",
      "Update the press kit",
      "Colour proofs look too dark",
      "Newsletter link leads nowhere",
      "Set up the projector in the small room",
      "Add a print style for recipes",
      "Old staff photos on the team page",
      "Shorten the checkout by one step",
    ],
  });
export const newDescription = z
  .string()
  .min(3)
  .max(600)
  .regex(/\S/)
  .meta({
    examples: [
      "Seen on two phones and one tablet since Friday.",
      "The client asked for it in the last call.",
      "Should be ready before the spring campaign.",
      "Steps and a screenshot are in the shared folder.",
      "Happens only when one is signed in.",
      "Please check with the printer first.",
      "Needs a word from legal.",
      "Small thing, but visible to everybody.",
      "Keep the old version at hand until it is approved.",
    ],
  });
export const newComment = z
  .string()
  .min(2)
  .max(600)
  .regex(/\S/)
  .meta({
    examples: [
      "Tried it again this morning, still there.",
      "The client has approved the draft.",
      "I will look at it after lunch.",
      "Works on my machine, please check on yours.",
      "Waiting for the files from the printer.",
      "Let us talk about it tomorrow.",
      "Fixed on the test server.",
      "This is more work than we thought.",
      "Screenshots are in the shared folder.",
      "Could we leave this for the next sprint?",
      "Numbers look right now.",
      "Needs one more pair of eyes.",
    ],
  });
