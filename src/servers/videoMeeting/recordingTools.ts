/** Tools that record meetings and list recordings. A recording lasts until its meeting ends. */
import { z } from "zod";
import { day, id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsAll, descending, getSchemas, meets, refersTo } from "../kit/table.ts";
import { requireRunning } from "./schedule.ts";
import {
  findRunningRecording,
  getHost,
  meetings,
  recordings,
  requireLedMeeting,
  VideoMeetingState,
} from "./state.ts";

const tool = createToolFactory(VideoMeetingState);

const recordingLabel = recordings.fields({
  topic: [label("recording"), (it, { world }) => world.meetings[it.meeting_id]!.topic],
  recording_id: recordings.idField,
});
const newRow = recordings.fields({
  ...recordingLabel,
  meeting_id: id("meeting"),
  started_at: minute(),
  status: z.string(),
});

export const recordingTools = {
  start_recording: tool({
    effect: "write",
    summary:
      "Record a running meeting until it ends. The host can if the plan records, co-hosts where the meeting lets them, and nobody while a participant does not agree.",
    input: { meeting_id: meetings.id },
    returns: getSchemas(newRow),
    run(state, { meeting_id }, { now, newId }) {
      const original = getOriginal(state);
      const meeting = requireLedMeeting(original, meeting_id, "record it");
      requireRunning(meeting, meeting_id, "video_meeting_start_meeting starts it");
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
      return recordings.show(newRow, state, recording_id, now);
    },
  }),
  list_recordings: recordings.list({
    summary:
      "List recordings, newest first: all of them, or those of one meeting, of a topic, or since a day.",
    filters: {
      meeting_id: refersTo(
        meetings,
        "Only recordings of this meeting, by its id",
        it => it.meeting_id,
      ),
      topic: containsAll(
        label("recording"),
        "Only recordings of meetings whose topic contains this",
        (it, state) => state.meetings[it.meeting_id]!.topic,
      ),
      since: meets(
        day(),
        "Only recordings from this day on",
        (it, since) => it.started_at.slice(0, 10) >= since,
      ),
    },
    order: descending(it => it.started_at),
    limit: 10,
    limitSchema: rowLimit(10).meta({ examples: [1, 2, 3, 5] }),
    more: z.int(),
    row: {
      ...recordingLabel,
      started_at: minute(),
      minutes: z.int().optional(),
      status: z.string(),
    },
  }),
};
