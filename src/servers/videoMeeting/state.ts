/**
 * Video meetings as one person at a studio sees them: people, meetings with a host and guests, and
 * recordings. What a meeting may be depends on its host's plan.
 */
import { z } from "zod";
import { minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";

/**
 * Of the host: how many there may be in a meeting, the host among them, how long it may be, and how
 * many may run at one time.
 */
export const plans = {
  basic: { people: 5, minutes: 40, running: 1, records: false },
  pro: { people: 9, minutes: 180, running: 3, records: true },
  business: { people: 50, minutes: 480, running: 4, records: true },
} as const;

const Person = z.strictObject({
  name: z.string(),
  email: z.string(),
  plan: z.enum(["basic", "pro", "business"]),
  /** Does not agree to be recorded. */
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
  /** Of its link. */
  code: z.string().regex(/^\d{3}-\d{3}-\d{3}$/),
  waiting_room: z.boolean(),
  /** Who may record, besides the host. */
  recording: z.enum(["host", "co-hosts"]),
  agenda: z.string().optional(),
  started_at: minute().optional(),
  ended_at: minute().optional(),
  /** The event of the calendar that it is for. */
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

export const Rooms = z.strictObject({
  user: z.string(),
  domain: z.string(),
  people: z.record(z.string(), Person),
  meetings: z.record(z.string(), Meeting),
  recordings: z.record(z.string(), Recording),
});
export type Rooms = z.infer<typeof Rooms>;

export const endOf = ({ start, minutes }: Pick<Meeting, "start" | "minutes">): string =>
  addMinutes(start, minutes);

export const meetingOf = (rooms: Rooms, id: string): Meeting =>
  findEntity(rooms.meetings, id, "meeting", "video_meeting_list_meetings gives the ids");

export const linkOf = ({ domain }: Rooms, { code }: Meeting): string =>
  `https://meet.${domain}/${code}`;

/** What the user is in a meeting. */
export const roleOf = (
  { user }: Rooms,
  { host, participants }: Meeting,
): "host" | "co-host" | "guest" | "none" =>
  host === user ? "host" : Object.hasOwn(participants, user) ? participants[user]! : "none";

/** The person of that full name or e-mail address. */
export function personOf({ people }: Rooms, wanted: string): string {
  const words = wanted.trim().toLowerCase();
  const found = Object.entries(people).find(
    ([, it]) => it.name.toLowerCase() === words || it.email === words,
  );
  return (
    found?.[0] ??
    refuse(
      "not_found",
      `there is no person ${wanted}`,
      `known are ${Object.values(people)
        .slice(0, 8)
        .map(it => it.name)
        .join(", ")} and others, by full name or e-mail address`,
    )
  );
}

export const hostOf = ({ people }: Rooms, { host }: Pick<Meeting, "host">) => ({
  ...people[host]!,
  limits: plans[people[host]!.plan],
});

/** Refuses everybody but the host. */
export function requireHostedMeeting(rooms: Rooms, id: string, what: string): Meeting {
  const meeting = meetingOf(rooms, id);
  if (meeting.host !== rooms.user)
    refuse(
      "permission_denied",
      `${rooms.people[meeting.host]!.name} hosts ${meeting.topic} (${id}): only the host can ${what}`,
      `ask ${rooms.people[meeting.host]!.name}`,
    );
  return meeting;
}

/** Refuses everybody but the host and the co-hosts. */
export function requireLedMeeting(rooms: Rooms, id: string, what: string): Meeting {
  const meeting = meetingOf(rooms, id);
  if (!["host", "co-host"].includes(roleOf(rooms, meeting)))
    refuse(
      "permission_denied",
      `${rooms.people[meeting.host]!.name} hosts ${meeting.topic} (${id}), and the user is no co-host: only hosts can ${what}`,
      `ask ${rooms.people[meeting.host]!.name}`,
    );
  return meeting;
}
