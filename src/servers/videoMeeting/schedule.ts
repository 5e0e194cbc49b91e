/** Checks of a meeting's time, size and status, and the next time at which the host is free. */
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { type VideoMeetingState, getEnd, getHost, type Meeting } from "./state.ts";

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
