/**
 * Tools that start, end, record and add people to meetings. A recording lasts until its meeting
 * ends.
 */
import { z } from "zod";
import { id, label, minute, day, rowLimit } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { getSchemas, containsAll, descending, meets, refersTo } from "../kit/table.ts";
import {
  requireRunning,
  requireScheduled,
  getEnd,
  getHost,
  findRunningRecording,
  requireHostedMeeting,
  requireLedMeeting,
  formatLink,
  findPersonId,
  meetingLabel,
  meetings,
  VideoMeetingState,
  recordings,
} from "./state.ts";

const tool = createToolFactory(VideoMeetingState);

/** How many minutes before its start a co-host can start a meeting. */
const maxCoHostMinutesEarly = 15;

/** How many days before its start the host can start a meeting. */
const maxHostDaysEarly = 7;

const startedRow = meetings.fields({
  ...meetingLabel,
  status: z.string(),
  started_at: minute(),
  link: [z.string(), (it, { world }) => formatLink(world, it)],
});

export const liveMeetingTools = {
  start_meeting: tool({
    effect: "write",
    summary:
      "Start a scheduled meeting: the host up to a week before its time, a co-host from a quarter of an hour before. A plan lets only so many run at once.",
    input: { meeting_id: meetings.id },
    returns: getSchemas(startedRow),
    run(state, { meeting_id }, { now }) {
      const original = getOriginal(state);
      const meeting = requireLedMeeting(original, meeting_id, "start it");
      if (meeting.status === "running")
        refuse(
          "conflict",
          `${meeting.topic} (${meeting_id}) is running since ${meeting.started_at}`,
        );
      requireScheduled(meeting, meeting_id);
      if (getEnd(meeting) < now)
        refuse(
          "precondition_failed",
          `${meeting.topic} (${meeting_id}) would have ended at ${getEnd(meeting)}: it is ${now}`,
          "video_meeting_update_meeting gives it another start",
        );
      const isHost = meeting.host === original.user;
      if (!isHost && addMinutes(now, maxCoHostMinutesEarly) < meeting.start)
        refuse(
          "precondition_failed",
          `${meeting.topic} begins at ${meeting.start}, and a co-host can start it from ${addMinutes(meeting.start, -maxCoHostMinutesEarly)}`,
          "try again then",
        );
      if (addMinutes(now, maxHostDaysEarly * 1440) < meeting.start)
        refuse(
          "precondition_failed",
          `${meeting.topic} is on ${meeting.start}, and a host can start it ${maxHostDaysEarly} days before at the earliest`,
          "video_meeting_update_meeting moves it",
        );
      const { name, plan, limits } = getHost(original, meeting);
      const open = Object.values(original.meetings).filter(
        it => it.host === meeting.host && it.status === "running",
      );
      if (open.length >= limits.running)
        refuse(
          "limit_exceeded",
          `the ${plan} plan of ${name} lets ${limits.running} meetings run at once, and ${open.map(it => it.topic).join(" and ")} run already`,
          "end one first",
        );
      Object.assign(state.meetings[meeting_id]!, { status: "running", started_at: now });
      return meetings.show(startedRow, state, meeting_id, now);
    },
  }),
  end_meeting: tool({
    effect: "write",
    summary:
      "End a running meeting that the user hosts, for everybody; a recording of it stops as well.",
    destructive: true,
    input: { meeting_id: meetings.id },
    returns: {
      ...getSchemas(meetingLabel),
      status: z.string(),
      minutes: z.int().describe("How long it ran"),
      recording_id: id("recording").optional().describe("Recording that stopped"),
    },
    run(state, { meeting_id }, { now }) {
      const original = getOriginal(state);
      const meeting = requireHostedMeeting(original, meeting_id, "end it for everybody");
      requireRunning(meeting, meeting_id, "video_meeting_cancel_meeting calls it off");
      const lasted = (from: string) => Math.min(480, toMinutes(now) - toMinutes(from));
      Object.assign(state.meetings[meeting_id]!, { status: "ended", ended_at: now });
      const recorded = findRunningRecording(original, meeting_id);
      if (recorded)
        Object.assign(state.recordings[recorded[0]]!, {
          status: "processing",
          minutes: lasted(recorded[1].started_at),
        });
      return {
        topic: meeting.topic,
        meeting_id,
        status: "ended",
        minutes: lasted(meeting.started_at!),
        recording_id: recorded?.[0],
      };
    },
  }),
  add_participant: tool({
    effect: "write",
    summary:
      "Invite one more person to a meeting that is scheduled or running, as guest or co-host, or make a guest a co-host. Hosts and co-hosts can; only the host names co-hosts.",
    input: {
      meeting_id: meetings.id,
      person: label("person").describe("Full name or e-mail address of the person"),
      role: z
        .enum(["guest", "co-host"])
        .optional()
        .describe("What the person is in the meeting, guest if not given"),
    },
    returns: {
      person: label("person"),
      role: z.string(),
      meeting_id: id("meeting"),
      participants: z.int().describe("How many are invited now, the host not counted"),
      places_left: z.int(),
    },
    run(state, { meeting_id, person, role = "guest" }) {
      const original = getOriginal(state);
      const meeting = requireLedMeeting(original, meeting_id, "invite people");
      if (meeting.status === "ended" || meeting.status === "cancelled")
        refuse(
          "precondition_failed",
          `${meeting.topic} (${meeting_id}) is ${meeting.status}`,
          "choose a meeting that is ahead or running",
        );
      const personId = findPersonId(original, person);
      const { name } = original.people[personId]!;
      if (role === "co-host" && meeting.host !== original.user)
        refuse(
          "permission_denied",
          `only ${original.people[meeting.host]!.name}, the host, names co-hosts of ${meeting.topic}`,
          "invite as guest",
        );
      if (personId === meeting.host) refuse("conflict", `${name} hosts ${meeting.topic}`);
      const currentRole = Object.hasOwn(meeting.participants, personId)
        ? meeting.participants[personId]
        : undefined;
      if (currentRole === role || (currentRole === "co-host" && role === "guest"))
        refuse("conflict", `${name} is invited to ${meeting.topic} already, as ${currentRole}`);
      const { plan, name: host, limits } = getHost(original, meeting);
      const peopleCount = Object.keys(meeting.participants).length + 1;
      if (currentRole === undefined && peopleCount + 1 > limits.people)
        refuse(
          "limit_exceeded",
          `${meeting.topic} is full: the ${plan} plan of ${host} allows ${limits.people} people, host included`,
          "schedule a second meeting for the others",
        );
      if (currentRole === undefined && original.people[personId]!.unrecorded)
        requireNoRecording(original, meeting_id, name);
      state.meetings[meeting_id]!.participants[personId] = role;
      const now = currentRole === undefined ? peopleCount : peopleCount - 1;
      return {
        person: name,
        role,
        meeting_id,
        participants: now,
        places_left: limits.people - 1 - now,
      };
    },
  }),
};

/** Refuses to bring a person who does not agree to be recorded into a meeting that is recorded. */
function requireNoRecording(state: VideoMeetingState, meetingId: string, name: string): void {
  if (findRunningRecording(state, meetingId))
    refuse(
      "precondition_failed",
      `${state.meetings[meetingId]!.topic} (${meetingId}) is being recorded, and ${name} does not agree to be recorded`,
      "schedule a meeting without a recording for them",
    );
}

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
