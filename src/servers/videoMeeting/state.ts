/**
 * The state of video meetings: people, meetings with a host and guests, and recordings. The size
 * and length of a meeting depend on its host's plan.
 */
import { z } from "zod";
import { label, minute } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { findIdByName } from "../kit/people.ts";
import { createTableFactory } from "../kit/table.ts";
import { getOriginal } from "../../environment/draft.ts";

/**
 * The limits of each plan: people in a meeting including the host, its length, meetings of the host
 * that run at the same time, and whether they can be recorded.
 */
const plans = {
  basic: { people: 5, minutes: 40, running: 1, records: false },
  pro: { people: 9, minutes: 180, running: 3, records: true },
  business: { people: 50, minutes: 480, running: 4, records: true },
} as const;

const Person = z.strictObject({
  name: z.string(),
  email: z.string(),
  plan: z.enum(["basic", "pro", "business"]),
  /** Whether they do not agree to be recorded. */
  unrecorded: z.literal(true).optional(),
});

const Meeting = z.strictObject({
  topic: z.string(),
  host: z.string(),
  start: minute(),
  minutes: z.int().min(5).max(480),
  status: z.enum(["scheduled", "running", "ended", "cancelled"]),
  /** Everybody but the host. */
  participants: z.record(z.string(), z.enum(["guest", "co-host"])),
  /** The last part of its link. */
  code: z.string().regex(/^\d{3}-\d{3}-\d{3}$/),
  waiting_room: z.boolean(),
  /** Who may record, besides the host. */
  recording: z.enum(["host", "co-hosts"]),
  agenda: z.string().optional(),
  started_at: minute().optional(),
  ended_at: minute().optional(),
  /** The event in the calendar. */
  event_id: z.string().optional(),
});
export type Meeting = z.infer<typeof Meeting>;

const Recording = z.strictObject({
  meeting_id: z.string(),
  started_at: minute(),
  /** Absent while it runs. */
  minutes: z.int().min(0).max(480).optional(),
  status: z.enum(["recording", "processing", "ready"]),
  by: z.string(),
});

export const references = {
  user: "people",
  "meetings.*.host": "people",
  "meetings.*.participants.@": "people",
  "recordings.*.meeting_id": "meetings",
  "recordings.*.by": "people",
} satisfies References;

export const VideoMeetingState = z.strictObject({
  user: z.string(),
  domain: z.string(),
  people: z.record(z.string(), Person),
  meetings: z.record(z.string(), Meeting),
  recordings: z.record(z.string(), Recording),
});
export type VideoMeetingState = z.infer<typeof VideoMeetingState>;

export const getEnd = ({ start, minutes }: Pick<Meeting, "start" | "minutes">): string =>
  addMinutes(start, minutes);

const table = createTableFactory(VideoMeetingState);
export const meetings = table("meetings", {
  entity: "meeting",
  idsFrom: "video_meeting_list_meetings",
});
export const recordings = table("recordings", {
  entity: "recording",
  idsFrom: "video_meeting_list_recordings",
});
export const meetingLabel = meetings.fields({
  topic: label("meeting"),
  meeting_id: meetings.idField,
});

export const formatLink = ({ domain }: VideoMeetingState, { code }: Meeting): string =>
  `https://meet.${domain}/${code}`;

/** The role of the user in a meeting. */
export const getUserRole = (
  { user }: VideoMeetingState,
  { host, participants }: Meeting,
): "host" | "co-host" | "guest" | "none" =>
  host === user ? "host" : Object.hasOwn(participants, user) ? participants[user]! : "none";

/** The id of the person with that full name or e-mail address. */
export const findPersonId = ({ people }: VideoMeetingState, nameOrEmail: string): string =>
  findIdByName(people, nameOrEmail) ??
  refuse(
    "not_found",
    `there is no person ${nameOrEmail}`,
    `known are ${Object.values(people)
      .slice(0, 8)
      .map(it => it.name)
      .join(", ")} and others, by full name or e-mail address`,
  );

export const getHost = ({ people }: VideoMeetingState, { host }: Pick<Meeting, "host">) => ({
  ...people[host]!,
  limits: plans[people[host]!.plan],
});

/** The recording of the meeting that runs now, with its id. */
export const findRunningRecording = ({ recordings }: VideoMeetingState, meetingId: string) =>
  Object.entries(recordings).find(
    ([, it]) => it.meeting_id === meetingId && it.status === "recording",
  );

/** The meeting; refuses the call unless the user is the host. */
export function requireHostedMeeting(
  state: VideoMeetingState,
  id: string,
  action: string,
): Meeting {
  const meeting = meetings.find(state, id);
  if (meeting.host !== state.user)
    refuse(
      "permission_denied",
      `${state.people[meeting.host]!.name} hosts ${meeting.topic} (${id}): only the host can ${action}`,
      `ask ${state.people[meeting.host]!.name}`,
    );
  return meeting;
}

/** The meeting; refuses the call unless the user is the host or a co-host. */
export function requireLedMeeting(state: VideoMeetingState, id: string, action: string): Meeting {
  const meeting = meetings.find(state, id);
  if (!["host", "co-host"].includes(getUserRole(state, meeting)))
    refuse(
      "permission_denied",
      `${state.people[meeting.host]!.name} hosts ${meeting.topic} (${id}), and the user is no co-host: only hosts can ${action}`,
      `ask ${state.people[meeting.host]!.name}`,
    );
  return meeting;
}

const maxDaysAhead = 180;

/** Refuses a meeting that exceeds the host's plan, is in the past or is too far in the future. */
export function requirePlanLimits(
  state: VideoMeetingState,
  meeting: Pick<Meeting, "start" | "minutes" | "participants" | "host">,
  now: string,
): void {
  const { name, plan, limits } = getHost(state, meeting);
  if (meeting.start < now)
    refuse(
      "precondition_failed",
      `${meeting.start} has passed: it is ${now}`,
      "choose a later start",
    );
  if (toMinutes(meeting.start) - toMinutes(now) > maxDaysAhead * 1440)
    refuse(
      "precondition_failed",
      `${meeting.start} is more than ${maxDaysAhead} days away`,
      "choose an earlier start",
    );
  if (meeting.minutes > limits.minutes)
    refuse(
      "limit_exceeded",
      `the ${plan} plan of ${name} allows meetings of ${limits.minutes} minutes, not ${meeting.minutes}`,
      `choose ${limits.minutes} minutes or fewer`,
    );
  const people = Object.keys(meeting.participants).length + 1;
  if (people > limits.people)
    refuse(
      "limit_exceeded",
      `the ${plan} plan of ${name} allows ${limits.people} people in a meeting, host included, not ${people}`,
      "invite fewer people",
    );
}

export const isActive = ({ status }: Meeting): boolean =>
  status === "scheduled" || status === "running";

type Slot = Pick<Meeting, "start" | "minutes">;

/** The meeting that the user hosts at that time, if there is one. */
const findHostedMeeting = (
  { meetings, user }: VideoMeetingState,
  meeting: Slot,
  exceptId?: string,
) =>
  Object.entries(meetings).find(
    ([id, it]) =>
      id !== exceptId &&
      it.host === user &&
      isActive(it) &&
      it.start < getEnd(meeting) &&
      meeting.start < getEnd(it),
  );

/** Refuses a second meeting of one host at the same time. */
export function requireFreeSlot(state: VideoMeetingState, meeting: Slot, exceptId?: string): void {
  const other = findHostedMeeting(state, meeting, exceptId);
  if (other)
    refuse(
      "conflict",
      `the user hosts ${other[1].topic} (${other[0]}) from ${other[1].start} to ${getEnd(other[1])}`,
      "choose another time, or cancel that meeting",
    );
}

/** The next quarter of an hour at which the user can host a meeting of that length. */
export function findNextFreeSlot(state: VideoMeetingState, minutes: number, now: string): string {
  const { meetings, user } = getOriginal(state);
  const hosted = Object.values(meetings)
    .filter(it => it.host === user && isActive(it))
    .sort((a, b) => (a.start < b.start ? -1 : 1));
  const from = toMinutes(now);
  let start = roundUpToQuarter(from);
  for (const it of hosted) {
    const busyFrom = toMinutes(it.start);
    if (busyFrom < start + minutes && start < busyFrom + it.minutes)
      start = roundUpToQuarter(busyFrom + it.minutes);
  }
  return addMinutes(now, start - from);
}

const roundUpToQuarter = (minute: number): number => Math.ceil(minute / 15) * 15;

/** Refuses the call if the meeting is running, ended or cancelled. */
export function requireScheduled({ topic, status }: Meeting, meetingId: string): void {
  if (status === "running")
    refuse(
      "precondition_failed",
      `${topic} (${meetingId}) is running`,
      "video_meeting_end_meeting ends it",
    );
  if (status !== "scheduled")
    refuse(
      "precondition_failed",
      `${topic} (${meetingId}) is ${status}`,
      "choose a meeting that is scheduled, or schedule a new one",
    );
}

/** Refuses the call unless the meeting is running. */
export function requireRunning(
  { topic, status }: Meeting,
  meetingId: string,
  hintBeforeStart: string,
): void {
  if (status !== "running")
    refuse(
      "precondition_failed",
      `${topic} (${meetingId}) is ${status}, not running`,
      status === "scheduled" ? hintBeforeStart : "choose a meeting that runs",
    );
}
