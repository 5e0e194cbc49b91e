/**
 * The tools that plan meetings: schedule, list, show, change and call off. Only a host changes a
 * meeting, and only before it has begun.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { containsWords } from "../../environment/textSearch.ts";
import {
  endOf,
  hosted,
  hostOf,
  linkOf,
  meetingOf,
  personOf,
  roleOf,
  Rooms,
  type Meeting,
} from "./state.ts";

const tool = createToolFactory(Rooms);

export const meetingId = id("meeting").describe(
  "Meeting id, as video_meeting_list_meetings gives it",
);
const topic = z
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
const minutes = z
  .int()
  .min(5)
  .max(480)
  .describe("Length in minutes")
  .meta({ examples: [15, 20, 25, 30, 45, 60, 90, 120, 240] });
const start = minute().describe("Start, YYYY-MM-DDTHH:MM");
const waitingRoom = z
  .boolean()
  .optional()
  .describe("True if guests wait until the host lets them in");
const recording = z
  .enum(["host", "co-hosts"])
  .optional()
  .describe("Who may record: the host alone, or co-hosts too");

const farthestDays = 180;

/** Refuses what the host's plan does not give, and times that have passed or are too far off. */
function fits(
  rooms: Rooms,
  wanted: Pick<Meeting, "start" | "minutes" | "participants" | "host">,
  now: string,
): void {
  const { name, plan, limits } = hostOf(rooms, wanted);
  if (wanted.start < now)
    refuse(
      "precondition_failed",
      `${wanted.start} has passed: it is ${now}`,
      "choose a later start",
    );
  if (toMinutes(wanted.start) - toMinutes(now) > farthestDays * 1440)
    refuse(
      "precondition_failed",
      `${wanted.start} is more than ${farthestDays} days away`,
      "choose an earlier start",
    );
  if (wanted.minutes > limits.minutes)
    refuse(
      "limit_exceeded",
      `the ${plan} plan of ${name} allows meetings of ${limits.minutes} minutes, not ${wanted.minutes}`,
      `choose ${limits.minutes} minutes or fewer`,
    );
  const people = Object.keys(wanted.participants).length + 1;
  if (people > limits.people)
    refuse(
      "limit_exceeded",
      `the ${plan} plan of ${name} allows ${limits.people} people in a meeting, host included, not ${people}`,
      "invite fewer people",
    );
}

type Slot = Pick<Meeting, "start" | "minutes">;

/** A meeting that the user hosts at that time, if there is one. */
const hostedAt = ({ meetings, user }: Rooms, wanted: Slot, but?: string) =>
  Object.entries(meetings).find(
    ([id, it]) =>
      id !== but &&
      it.host === user &&
      (it.status === "scheduled" || it.status === "running") &&
      it.start < endOf(wanted) &&
      wanted.start < endOf(it),
  );

/** Refuses a second meeting of one host at the same time. */
function notAtOnce(rooms: Rooms, wanted: Slot, but?: string): void {
  const other = hostedAt(rooms, wanted, but);
  if (other)
    refuse(
      "conflict",
      `the user hosts ${other[1].topic} (${other[0]}) from ${other[1].start} to ${endOf(other[1])}`,
      "choose another time, or cancel that meeting",
    );
}

/** The next quarter of an hour from which the user hosts nothing for that long. */
function soonest(rooms: Rooms, long: number, now: string): string {
  let start = addMinutes(now, (15 - (toMinutes(now) % 15)) % 15);
  while (hostedAt(rooms, { start, minutes: long })) start = addMinutes(start, 15);
  return start;
}

function codeOf(random: () => number): string {
  return [0, 1, 2].map(() => String(100 + Math.floor(random() * 900))).join("-");
}

export const planning = {
  schedule_meeting: tool({
    effect: "write",
    summary:
      "Schedule a video meeting that the user hosts and invite people to it. The host's plan limits its length and how many may come.",
    input: {
      topic,
      start: minute()
        .optional()
        .describe("Start, YYYY-MM-DDTHH:MM; as soon as the user is free if not given"),
      minutes,
      participants: z
        .array(label("person"))
        .max(20)
        .optional()
        .describe("Full names or e-mail addresses of the people to invite"),
      waiting_room: waitingRoom,
      recording,
    },
    returns: {
      topic: label("meeting"),
      meeting_id: id("meeting"),
      start: minute(),
      end: minute(),
      link: z.string(),
      invited: z.int(),
    },
    run(
      rooms,
      {
        topic: named,
        start: at,
        minutes: long,
        participants = [],
        waiting_room = false,
        recording: recorders = "host",
      },
      { now, newId, random },
    ) {
      const stood = getOriginal(rooms);
      const invited = [...new Set(participants.map(it => personOf(stood, it)))].filter(
        it => it !== stood.user,
      );
      const wanted = {
        host: stood.user,
        start: at ?? soonest(stood, long, now),
        minutes: long,
        participants: Object.fromEntries(invited.map(it => [it, "guest" as const])),
      };
      fits(stood, wanted, now);
      notAtOnce(stood, wanted);
      const meeting_id = newId("mtg");
      const meeting: Meeting = {
        topic: named.trim(),
        ...wanted,
        status: "scheduled",
        code: codeOf(random),
        waiting_room,
        recording: recorders,
      };
      rooms.meetings[meeting_id] = meeting;
      return {
        topic: meeting.topic,
        meeting_id,
        start: meeting.start,
        end: endOf(meeting),
        link: linkOf(stood, meeting),
        invited: invited.length,
      };
    },
  }),
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
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many, 16 if not given")
        .meta({ examples: [2, 3, 4, 5] }),
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
    run(rooms, { topic: words, status, from, to, person, role, limit = 16 }) {
      if (from && to && to < from) refuse("invalid_params", `to ${to} is before from ${from}`);
      const who = person === undefined ? undefined : personOf(rooms, person);
      const isOpen =
        words === undefined && status === undefined && from === undefined && to === undefined;
      const found = Object.entries(rooms.meetings).filter(
        ([, it]) =>
          (!isOpen || it.status === "scheduled" || it.status === "running") &&
          (!words || containsWords(it.topic, words)) &&
          (!status || it.status === status) &&
          (!from || it.start.slice(0, 10) >= from) &&
          (!to || it.start.slice(0, 10) <= to) &&
          (!who || it.host === who || Object.hasOwn(it.participants, who)) &&
          (!role || roleOf(rooms, it) === role),
      );
      found.sort(([a, x], [b, y]) =>
        x.start === y.start ? (a < b ? -1 : 1) : x.start < y.start ? -1 : 1,
      );
      return {
        meetings: found.slice(0, limit).map(([meeting_id, it]) => ({
          topic: it.topic,
          meeting_id,
          start: it.start,
          status: it.status,
        })),
        ...(found.length > limit ? { more: found.length - limit } : {}),
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
    run(rooms, { meeting_id }) {
      const meeting = meetingOf(rooms, meeting_id);
      const {
        topic: named,
        start: at,
        status,
        participants,
        waiting_room,
        recording: recorders,
        agenda,
        started_at,
        ended_at,
      } = meeting;
      const { name, limits } = hostOf(rooms, meeting);
      const others = Object.entries(participants)
        .filter(([who]) => who !== rooms.user)
        .map(([who, role]) => ({ name: rooms.people[who]!.name, role }));
      const invited = Object.keys(participants).length;
      return {
        topic: named,
        meeting_id,
        start: at,
        end: endOf(meeting),
        status,
        host: name,
        user_is: roleOf(rooms, meeting),
        ...(others.length > 0 ? { participants: others } : {}),
        places_left: Math.max(0, limits.people - 1 - invited),
        waiting_room,
        recording: limits.records ? recorders : "nobody",
        recording_now: Object.values(rooms.recordings).some(
          it => it.meeting_id === meeting_id && it.status === "recording",
        ),
        link: linkOf(rooms, meeting),
        ...(agenda === undefined ? {} : { agenda }),
        ...(started_at === undefined ? {} : { started_at }),
        ...(ended_at === undefined ? {} : { ended_at }),
      };
    },
  }),
  update_meeting: tool({
    effect: "write",
    summary:
      "Change topic, start, length, waiting room or who may record, of a meeting that the user hosts and that has not begun.",
    input: {
      meeting_id: meetingId,
      topic: topic.optional().describe("New topic"),
      start: start.optional().describe("New start, YYYY-MM-DDTHH:MM"),
      minutes: minutes.optional().describe("New length in minutes"),
      waiting_room: waitingRoom,
      recording,
    },
    returns: {
      topic: label("meeting"),
      meeting_id: id("meeting"),
      start: minute(),
      end: minute(),
      changed: z.array(z.string()),
    },
    run(rooms, { meeting_id, ...changes }, { now }) {
      const stood = getOriginal(rooms);
      const meeting = hosted(stood, meeting_id, "change it");
      scheduled(meeting, meeting_id);
      const keys = Object.keys(changes) as (keyof typeof changes)[];
      if (keys.length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give topic, start, minutes, waiting_room or recording",
        );
      const changed = keys.filter(key => changes[key] !== meeting[key]);
      if (changed.length === 0)
        refuse("conflict", `${meeting.topic} (${meeting_id}) is like that already`);
      const wanted: Meeting = Object.assign({ ...meeting }, changes);
      if (changed.includes("start") || changed.includes("minutes")) {
        fits(stood, wanted, now);
        notAtOnce(stood, wanted, meeting_id);
      }
      Object.assign(rooms.meetings[meeting_id]!, changes);
      return { topic: wanted.topic, meeting_id, start: wanted.start, end: endOf(wanted), changed };
    },
  }),
  cancel_meeting: tool({
    effect: "write",
    summary:
      "Call off a meeting that the user hosts and that has not begun; everybody invited is told.",
    destructive: true,
    input: { meeting_id: meetingId },
    returns: {
      topic: label("meeting"),
      meeting_id: id("meeting"),
      status: z.string(),
      told: z.int().describe("People who are told"),
    },
    run(rooms, { meeting_id }) {
      const meeting = hosted(getOriginal(rooms), meeting_id, "cancel it");
      scheduled(meeting, meeting_id);
      rooms.meetings[meeting_id]!.status = "cancelled";
      return {
        topic: meeting.topic,
        meeting_id,
        status: "cancelled",
        told: Object.keys(meeting.participants).length,
      };
    },
  }),
};

/** Refuses meetings that run, are over or called off. */
export function scheduled({ topic: named, status }: Meeting, meetingId: string): void {
  if (status === "running")
    refuse(
      "precondition_failed",
      `${named} (${meetingId}) is running`,
      "video_meeting_end_meeting ends it",
    );
  if (status !== "scheduled")
    refuse(
      "precondition_failed",
      `${named} (${meetingId}) is ${status}`,
      "choose a meeting that is scheduled, or schedule a new one",
    );
}
