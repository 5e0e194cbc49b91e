/** Checks of a meeting's time, size and status, and the next time at which the host is free. */
import { refuse } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { type Rooms, endOf, hostOf, type Meeting } from "./state.ts";

const farthestDays = 180;

/** Refuses what the host's plan does not give, and times that have passed or are too far off. */
export function requirePlanLimits(
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
export function requireFreeSlot(rooms: Rooms, wanted: Slot, but?: string): void {
  const other = hostedAt(rooms, wanted, but);
  if (other)
    refuse(
      "conflict",
      `the user hosts ${other[1].topic} (${other[0]}) from ${other[1].start} to ${endOf(other[1])}`,
      "choose another time, or cancel that meeting",
    );
}

/** The next quarter of an hour from which the user hosts nothing for that long. */
export function findNextFreeSlot(rooms: Rooms, long: number, now: string): string {
  let start = addMinutes(now, (15 - (toMinutes(now) % 15)) % 15);
  while (hostedAt(rooms, { start, minutes: long })) start = addMinutes(start, 15);
  return start;
}

/** Refuses meetings that run, are over or called off. */
export function requireScheduled({ topic: named, status }: Meeting, meetingId: string): void {
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
