/** Tools that list and show meetings. */
import { z } from "zod";
import { day, id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { meetingId } from "./parameters.ts";
import {
  getEnd,
  getHost,
  formatLink,
  findMeeting,
  findPersonId,
  findRunningRecording,
  getUserRole,
  VideoMeetingState,
} from "./state.ts";

const tool = createToolFactory(VideoMeetingState);

export const meetingQueries = {
  list_meetings: tool({
    effect: "read",
    summary:
      "List meetings in order of time: those ahead or running, unless a state or days are given; of a topic or a person if wanted.",
    input: {
      topic: label("meeting")
        .optional()
        .describe("Only meetings whose topic contains this, whatever their state"),
      status: z
        .enum(["scheduled", "running", "ended", "cancelled"])
        .optional()
        .describe("Only meetings in this state"),
      from: day().optional().describe("First day"),
      to: day().optional().describe("Last day"),
      person: label("person")
        .optional()
        .describe("Only meetings that this person hosts or is invited to"),
      role: z
        .enum(["host", "co-host", "guest"])
        .optional()
        .describe("Only meetings in which the user is that"),
      limit: rowLimit(16).meta({ examples: [2, 3, 4, 5] }),
    },
    returns: {
      meetings: z.array(
        z.object({
          topic: label("meeting"),
          meeting_id: id("meeting"),
          start: minute(),
          status: z.string(),
        }),
      ),
      more: z.int().optional().describe("How many were left out"),
    },
    run(state, { topic: words, status, from, to, person, role, limit = 16 }) {
      if (from && to && to < from) refuse("invalid_params", `to ${to} is before from ${from}`);
      const personId = person === undefined ? undefined : findPersonId(state, person);
      const isOpen =
        words === undefined && status === undefined && from === undefined && to === undefined;
      const matches = Object.entries(state.meetings).filter(
        ([, it]) =>
          (!isOpen || it.status === "scheduled" || it.status === "running") &&
          (!words || containsWords(it.topic, words)) &&
          (!status || it.status === status) &&
          (!from || it.start.slice(0, 10) >= from) &&
          (!to || it.start.slice(0, 10) <= to) &&
          (!personId || it.host === personId || Object.hasOwn(it.participants, personId)) &&
          (!role || getUserRole(state, it) === role),
      );
      matches.sort(([a, x], [b, y]) =>
        x.start === y.start ? (a < b ? -1 : 1) : x.start < y.start ? -1 : 1,
      );
      return {
        meetings: matches.slice(0, limit).map(([meeting_id, it]) => ({
          topic: it.topic,
          meeting_id,
          start: it.start,
          status: it.status,
        })),
        ...(matches.length > limit ? { more: matches.length - limit } : {}),
      };
    },
  }),
  get_meeting: tool({
    effect: "read",
    summary:
      "Get one meeting in full: times, state, host, what the user is in it, everybody invited, link, and who may record.",
    input: { meeting_id: meetingId },
    returns: {
      topic: label("meeting"),
      meeting_id: id("meeting"),
      start: minute(),
      end: minute(),
      status: z.string(),
      host: z.string(),
      user_is: z.string(),
      participants: z
        .array(z.object({ name: label("person"), role: z.string() }))
        .optional()
        .describe("The others who are invited"),
      places_left: z.int().describe("How many more may be invited"),
      waiting_room: z.boolean(),
      recording: z.string(),
      recording_now: z.boolean(),
      link: z.string(),
      agenda: z.string().optional(),
      started_at: minute().optional(),
      ended_at: minute().optional(),
    },
    run(state, { meeting_id }) {
      const meeting = findMeeting(state, meeting_id);
      const {
        topic,
        start,
        status,
        participants,
        waiting_room,
        recording,
        agenda,
        started_at,
        ended_at,
      } = meeting;
      const { name, limits } = getHost(state, meeting);
      const others = Object.entries(participants)
        .filter(([personId]) => personId !== state.user)
        .map(([personId, role]) => ({ name: state.people[personId]!.name, role }));
      const invited = Object.keys(participants).length;
      return {
        topic,
        meeting_id,
        start,
        end: getEnd(meeting),
        status,
        host: name,
        user_is: getUserRole(state, meeting),
        ...(others.length > 0 ? { participants: others } : {}),
        places_left: Math.max(0, limits.people - 1 - invited),
        waiting_room,
        recording: limits.records ? recording : "nobody",
        recording_now: findRunningRecording(state, meeting_id) !== undefined,
        link: formatLink(state, meeting),
        ...(agenda === undefined ? {} : { agenda }),
        ...(started_at === undefined ? {} : { started_at }),
        ...(ended_at === undefined ? {} : { ended_at }),
      };
    },
  }),
};
