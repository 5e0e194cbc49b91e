/** The video meeting server: the meetings of one person with colleagues and clients. */
import { defineServer } from "../../environment/server.ts";
import { invariants } from "./invariants.ts";
import { liveMeetingTools } from "./liveMeetingTools.ts";
import { meetingTools } from "./meetingTools.ts";
import { recordingTools } from "./recordingTools.ts";
import { VideoMeetingState, references } from "./state.ts";

export const server = defineServer({
  name: "video_meeting",
  category: "Lifestyle",
  summary:
    "meetings with hosts and guests, their start and end, plans and their limits, recordings",
  schema: VideoMeetingState,
  references,
  invariants,
  tools: { ...meetingTools, ...liveMeetingTools, ...recordingTools },
});
