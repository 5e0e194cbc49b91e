/** Parameters that several tools of the video meeting server take. */
import { z } from "zod";
import { id, minute } from "../../environment/fieldSchemas.ts";

export const meetingId = id("meeting").describe(
  "Meeting id, as video_meeting_list_meetings gives it",
);

export const topic = z
  .string()
  .min(2)
  .max(80)
  .describe("Topic of the meeting")
  .meta({
    examples: [
      "Colour check",
      "Handover",
      "Interview prep",
      "Website walkthrough",
      "Budget check",
      "Pitch rehearsal",
      "Copy review",
      "Feedback round",
      "Wireframe review",
      "Photo selection",
    ],
  });

export const minutes = z
  .int()
  .min(5)
  .max(480)
  .describe("Length in minutes")
  .meta({ examples: [15, 20, 25, 30, 45, 60, 90, 120, 240] });

export const start = minute().describe("Start, YYYY-MM-DDTHH:MM");

export const waitingRoom = z
  .boolean()
  .optional()
  .describe("True if guests wait until the host lets them in");

export const recording = z
  .enum(["host", "co-hosts"])
  .optional()
  .describe("Who may record: the host alone, or co-hosts too");
