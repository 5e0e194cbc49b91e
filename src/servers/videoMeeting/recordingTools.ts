/** Tools that record meetings and list recordings. A recording lasts until its meeting ends. */
import { z } from "zod";
import { day, id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { meetingId } from "./parameters.ts";
import {
  findRunningRecording,
  getHost,
  requireLedMeeting,
  findMeeting,
  VideoMeetingState,
} from "./state.ts";

const tool = createToolFactory(VideoMeetingState);

export const recordingTools = {
  start_recording: tool({
    effect: "write",
    summary:
      "Record a running meeting until it ends. The host can if the plan records, co-hosts where the meeting lets them, and nobody while a participant does not agree.",
    input: { meeting_id: meetingId },
    returns: {
      topic: label("recording"),
      recording_id: id("recording"),
      meeting_id: id("meeting"),
      started_at: minute(),
      status: z.string(),
    },
    run(state, { meeting_id }, { now, newId }) {
      const original = getOriginal(state);
      const meeting = requireLedMeeting(original, meeting_id, "record it");
      if (meeting.status !== "running")
        refuse(
          "precondition_failed",
          `${meeting.topic} (${meeting_id}) is ${meeting.status}, not running`,
          meeting.status === "scheduled"
            ? "video_meeting_start_meeting starts it"
            : "choose a meeting that runs",
        );
      const { name, plan, limits } = getHost(original, meeting);
      if (!limits.records)
        refuse(
          "permission_denied",
          `the ${plan} plan of ${name}, who hosts ${meeting.topic}, does not record`,
          "ask for notes instead",
        );
      if (meeting.host !== original.user && meeting.recording !== "co-hosts")
        refuse(
          "permission_denied",
          `${meeting.topic} is recorded by its host ${name} alone`,
          `ask ${name} to record it`,
        );
      if (findRunningRecording(original, meeting_id))
        refuse("conflict", `${meeting.topic} (${meeting_id}) is being recorded already`);
      const objector = [meeting.host, ...Object.keys(meeting.participants)].find(
        it => original.people[it]!.unrecorded,
      );
      if (objector)
        refuse(
          "precondition_failed",
          `${original.people[objector]!.name} is in ${meeting.topic} and does not agree to be recorded`,
          "hold it without a recording",
        );
      const recording_id = newId("rec");
      state.recordings[recording_id] = {
        meeting_id,
        started_at: now,
        status: "recording",
        by: original.user,
      };
      return {
        topic: meeting.topic,
        recording_id,
        meeting_id,
        started_at: now,
        status: "recording",
      };
    },
  }),
  list_recordings: tool({
    effect: "read",
    summary:
      "List recordings, newest first: all of them, or those of one meeting, of a topic, or since a day.",
    input: {
      meeting_id: id("meeting").optional().describe("Only recordings of this meeting, by its id"),
      topic: label("recording")
        .optional()
        .describe("Only recordings of meetings whose topic contains this"),
      since: day().optional().describe("Only recordings from this day on"),
      limit: rowLimit(10).meta({ examples: [1, 2, 3, 5] }),
    },
    returns: {
      recordings: z.array(
        z.object({
          topic: label("recording"),
          recording_id: id("recording"),
          started_at: minute(),
          minutes: z.int().optional(),
          status: z.string(),
        }),
      ),
      more: z.int().optional(),
    },
    run(state, { meeting_id, topic, since, limit = 10 }) {
      if (meeting_id !== undefined) findMeeting(state, meeting_id);
      const getTopic = (meetingId: string) => state.meetings[meetingId]!.topic;
      const matches = Object.entries(state.recordings).filter(
        ([, it]) =>
          (meeting_id === undefined || it.meeting_id === meeting_id) &&
          (!topic || containsWords(getTopic(it.meeting_id), topic)) &&
          (!since || it.started_at.slice(0, 10) >= since),
      );
      matches.sort(([a, x], [b, y]) =>
        x.started_at === y.started_at ? (a < b ? -1 : 1) : x.started_at < y.started_at ? 1 : -1,
      );
      return {
        recordings: matches.slice(0, limit).map(([recording_id, it]) => ({
          topic: getTopic(it.meeting_id),
          recording_id,
          started_at: it.started_at,
          ...(it.minutes === undefined ? {} : { minutes: it.minutes }),
          status: it.status,
        })),
        ...(matches.length > limit ? { more: matches.length - limit } : {}),
      };
    },
  }),
};
