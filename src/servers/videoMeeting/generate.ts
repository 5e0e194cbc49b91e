/**
 * The video meetings of a world: one for each event of the calendar that is a video call, calls
 * with clients and with firms that may become some, meetings among the staff, and what was
 * recorded. Nobody is in two places: the user's calendar stays free of other meetings.
 */
import { addMinutes, toMinutes, getWeekday } from "../../environment/time.ts";
import { listBusyTimes } from "../calendar/availability.ts";
import { findCurrentOccurrence } from "../calendar/eventRules.ts";
import type { CalendarState } from "../calendar/state.ts";
import { listAllOccurrences, formatMinute } from "../calendar/recurrence.ts";
import { server, type Rooms } from "./server.ts";
import { plans } from "./state.ts";
import type { Person } from "../shared/cast.ts";
import {
  defineGenerator,
  type GeneratorContext,
  type GeneratedStates,
} from "../shared/generator.ts";
import {
  agendas,
  internal,
  smallMeetings,
  times,
  withClients,
  withProspects,
  type SmallMeeting,
} from "./generateValues.ts";
import { dayAfterStart } from "../shared/startTime.ts";

type Meeting = Rooms["meetings"][string];
type People = Rooms["people"];

export const generator = defineGenerator<Rooms>({
  server,
  generate(context) {
    const { cast, size } = context;
    const calls = callsOf(context.states);
    const callHosts = new Set(calls.map(it => it.host));
    const everybody: readonly Person[] =
      size === "small"
        ? [...cast.staff.slice(0, 9), cast.clients[0]!.contacts[0]!]
        : [...cast.staff, ...[...cast.clients, ...cast.prospects].flatMap(it => it.contacts)];
    const people: People = Object.fromEntries(
      everybody.map((it, i) => {
        const plan =
          i === 6 ? "business" : i === 0 || callHosts.has(it.name) || i % 3 === 2 ? "pro" : "basic";
        return [
          context.nextId("per"),
          {
            name: it.name,
            email: it.email,
            plan,
            ...((size === "small" ? [7] : [15, 19, 27]).includes(i)
              ? { unrecorded: true as const }
              : {}),
          },
        ];
      }),
    );
    const idOf = (name: string) => Object.entries(people).find(([, it]) => it.name === name)![0];
    const rooms: Rooms = {
      user: idOf(cast.user.name),
      domain: cast.studio.domain,
      people,
      meetings: {},
      recordings: {},
    };
    for (const { event_id, host, attendees, title, start, minutes } of calls) {
      const participants = Object.fromEntries(
        attendees.map(name => [
          idOf(name),
          name === cast.user.name && context.random.boolean(0.4)
            ? ("co-host" as const)
            : ("guest" as const),
        ]),
      );
      addMeeting(
        context,
        rooms,
        { topic: title, host: idOf(host), start, minutes, participants, event_id },
        start < cast.now ? "ended" : "scheduled",
      );
    }
    if (size === "small") for (const it of smallMeetings) addSmall(context, rooms, it);
    else addMeetings(context, rooms);
    return rooms;
  },
  findInconsistencies(state, states, cast) {
    const names = new Map(
      [...cast.staff, ...[...cast.clients, ...cast.prospects].flatMap(it => it.contacts)].map(
        it => [it.name, it.email],
      ),
    );
    const nameOf = (id: string) => state.people[id]?.name;
    const meetings = Object.values(state.meetings);
    const codes = meetings.map(it => it.code);
    return [
      ...(nameOf(state.user) === cast.user.name
        ? []
        : [`the user is ${nameOf(state.user)}, not ${cast.user.name}`]),
      ...Object.values(state.people).flatMap(it =>
        names.get(it.name) === it.email ? [] : [`${it.name} <${it.email}> is nobody known`],
      ),
      ...codes.filter((it, i) => codes.indexOf(it) !== i).map(it => `the code ${it} stands twice`),
      ...Object.entries(state.meetings).flatMap(([id, it]) => {
        const host = state.people[it.host];
        const limits = host && plans[host.plan];
        if (!limits || Object.keys(it.participants).some(who => !state.people[who]))
          return [`${id} is of people who do not exist`];
        return Object.keys(it.participants).length + 1 > limits.people ||
          it.minutes > limits.minutes
          ? [`${id} is more than the plan of ${host.name} allows`]
          : [];
      }),
      ...Object.entries(state.recordings).flatMap(([id, it]) =>
        ["running", "ended"].includes(state.meetings[it.meeting_id]?.status ?? "")
          ? []
          : [`${id} records a meeting that has not been`],
      ),
      ...callsOf(states).flatMap(call => {
        const own = meetings.find(it => it.event_id === call.event_id);
        if (!own) return [`there is no meeting for ${call.title} (${call.event_id})`];
        const invited = Object.keys(own.participants).map(nameOf);
        const isAlike =
          own.topic === call.title &&
          call.starts.includes(own.start) &&
          own.minutes === call.minutes &&
          nameOf(own.host) === call.host;
        return isAlike &&
          invited.length === call.attendees.length &&
          call.attendees.every(it => invited.includes(it))
          ? []
          : [`${own.topic} is not as ${call.event_id} in the calendar`];
      }),
    ];
  },
});

interface Call {
  readonly event_id: string;
  readonly title: string;
  readonly host: string;
  readonly attendees: readonly string[];
  readonly start: string;
  /** Of all occurrences. */
  readonly starts: readonly string[];
  readonly minutes: number;
}

/** The calendar's video calls; a series with its next occurrence. */
function callsOf(states: GeneratedStates): Call[] {
  const diary = states.get("calendar") as CalendarState | undefined;
  if (!diary) return [];
  const nameOf = (id: string) => diary.people[id]!.name;
  return Object.entries(diary.events).flatMap(([event_id, it]) => {
    if (it.location !== "Video call") return [];
    const current = findCurrentOccurrence(it, "2026-03-09T09:00");
    if (!current) return [];
    return {
      event_id,
      title: it.title,
      host: nameOf(it.organizer),
      attendees: Object.keys(it.attendees).map(nameOf),
      start: formatMinute(current.start),
      starts: listAllOccurrences(it).map(of => formatMinute(of.start)),
      minutes: it.minutes,
    };
  });
}

type NewMeeting = Pick<Meeting, "topic" | "host" | "start" | "minutes" | "participants"> &
  Partial<Pick<Meeting, "event_id" | "recording" | "waiting_room" | "agenda">>;

/** Adds a meeting with all that its state brings along, and gives its id. */
function addMeeting(
  { random, nextId }: GeneratorContext,
  rooms: Rooms,
  wanted: NewMeeting,
  status: Meeting["status"],
): string {
  const meeting_id = nextId("mtg");
  const begun = addMinutes(wanted.start, random.integer(3));
  const hasBegun = status === "running" || status === "ended";
  const code = () => [0, 1, 2].map(() => String(100 + random.integer(900))).join("-");
  rooms.meetings[meeting_id] = {
    topic: wanted.topic,
    host: wanted.host,
    start: wanted.start,
    minutes: wanted.minutes,
    status,
    participants: wanted.participants,
    code: code(),
    waiting_room: wanted.waiting_room ?? random.boolean(0.3),
    recording: wanted.recording ?? (random.boolean(0.5) ? "co-hosts" : "host"),
    ...(wanted.agenda === undefined ? {} : { agenda: wanted.agenda }),
    ...(hasBegun ? { started_at: begun } : {}),
    ...(status === "ended"
      ? { ended_at: addMinutes(begun, Math.max(5, wanted.minutes - random.integer(9))) }
      : {}),
    ...(wanted.event_id === undefined ? {} : { event_id: wanted.event_id }),
  };
  return meeting_id;
}

function addRecording({ nextId, cast }: GeneratorContext, rooms: Rooms, meeting_id: string): void {
  const { host, started_at, ended_at } = rooms.meetings[meeting_id]!;
  const from = addMinutes(started_at!, 1);
  const status =
    ended_at === undefined
      ? "recording"
      : ended_at.slice(0, 10) >= dayAfterStart(-4) && ended_at < cast.now
        ? "processing"
        : "ready";
  rooms.recordings[nextId("rec")] = {
    meeting_id,
    started_at: from,
    ...(ended_at === undefined ? {} : { minutes: toMinutes(ended_at) - toMinutes(from) }),
    status,
    by: host,
  };
}

function addSmall(
  context: GeneratorContext,
  rooms: Rooms,
  { host, guests, coHosts = [], status = "scheduled", isRecorded, ...rest }: SmallMeeting,
): void {
  const ids = Object.keys(rooms.people);
  const participants = Object.fromEntries([
    ...guests.map(it => [ids[it]!, "guest"] as const),
    ...coHosts.map(it => [ids[it]!, "co-host"] as const),
  ]);
  const meeting_id = addMeeting(
    context,
    rooms,
    { ...rest, host: ids[host]!, participants, waiting_room: false },
    status,
  );
  if (isRecorded) addRecording(context, rooms, meeting_id);
}

/** Days from now on which the nth meeting is: past ones first, then today, then ahead. */
const weekdaysFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(
    it => ![0, 6].includes(getWeekday(dayAfterStart(it))),
  );

function addMeetings(context: GeneratorContext, rooms: Rooms): void {
  const { cast, random } = context;
  const ids = Object.keys(rooms.people);
  const idOf = (name: string) => ids.find(it => rooms.people[it]!.name === name)!;
  const staff = cast.colleagues.map(it => idOf(it.name));
  const client = withClients.flatMap(topic =>
    cast.clients.map(it => ({
      topic: `${it.name} ${topic}`,
      guests: it.contacts.map(of => idOf(of.name)),
    })),
  );
  const prospect = cast.prospects.map((it, i) => ({
    topic: `${withProspects[i % withProspects.length]!} with ${it.name}`,
    guests: it.contacts.map(of => idOf(of.name)),
  }));
  const own = internal.map(topic => ({ topic, guests: [] as string[] }));
  const wanted = random.shuffle([...client, ...prospect, ...own]);
  const [past, ahead] = [weekdaysFrom(-45, -1), weekdaysFrom(1, 30)];
  for (const [i, it] of wanted.entries()) {
    const [isRunning, isToday, isPast] = [i < 3, i < 12, i >= 12 && i < 36];
    // the user hosts most; else a guest from outside or a colleague does
    const host =
      i === 1
        ? staff.find(who => rooms.people[who]!.plan === "pro")!
        : i % 5 < 4
          ? rooms.user
          : (it.guests[0] ?? random.pick(staff));
    const { people: most, minutes: longest, records } = plans[rooms.people[host]!.plan];
    const minutes = Math.min(longest, random.pick([20, 30, 30, 45, 60, 60, 90]));
    const start = isRunning
      ? ["2026-03-09T08:30", "2026-03-09T08:45", "2026-03-09T08:50"][i]!
      : findSlot(context, rooms, isToday ? [0] : random.shuffle(isPast ? past : ahead), minutes);
    if (start === undefined) continue;
    const others = random
      .shuffle([
        ...new Set([...it.guests, ...random.shuffle(staff).slice(0, 1 + random.integer(5))]),
      ])
      .filter(who => who !== host)
      .slice(0, most - 2);
    // one of the user's meetings is full, and one has a place left
    const more =
      host === rooms.user && (i === 5 || i === 6 || i === 40)
        ? staff
            .filter(who => !others.includes(who))
            .slice(0, most - 1 - others.length - (i === 6 ? 1 : 0))
        : [];
    const role = () => (random.boolean(0.3) ? ("co-host" as const) : ("guest" as const));
    const participants = Object.fromEntries([
      ...(host === rooms.user
        ? []
        : [[rooms.user, i % 10 === 4 || i === 1 ? "co-host" : "guest"] as const]),
      ...[...others, ...more].map(who => [who, role()] as const),
    ]);
    const status = isRunning
      ? "running"
      : isPast
        ? i % 9 === 8
          ? "cancelled"
          : "ended"
        : i % 11 === 10
          ? "cancelled"
          : "scheduled";
    const meeting_id = addMeeting(
      context,
      rooms,
      {
        topic: it.topic,
        host,
        start,
        minutes: isRunning ? Math.max(40, minutes) : minutes,
        participants,
        ...(i === 1 ? { recording: "co-hosts" as const } : {}),
        ...(random.boolean(0.35) ? { agenda: random.pick(agendas) } : {}),
      },
      status,
    );
    const mayRecord =
      records && [host, ...Object.keys(participants)].every(who => !rooms.people[who]!.unrecorded);
    if (mayRecord && status === "ended" && random.boolean(0.8))
      addRecording(context, rooms, meeting_id);
  }
}

/** A time on one of these days at which neither the calendar nor another meeting keeps the user. */
function findSlot(
  { states, random, cast }: GeneratorContext,
  rooms: Rooms,
  days: readonly number[],
  minutes: number,
): string | undefined {
  const diary = states.get("calendar") as CalendarState | undefined;
  for (const day of days) {
    for (const time of random.shuffle(times)) {
      const start = `${dayAfterStart(day)}T${time}`;
      if (day === 0 && start <= cast.now) continue;
      const [from, to] = [toMinutes(start), toMinutes(start) + minutes];
      const isMet = Object.values(rooms.meetings).some(
        it => toMinutes(it.start) < to && from < toMinutes(it.start) + it.minutes,
      );
      if (!isMet && (!diary || listBusyTimes(diary, diary.user, from, to).length === 0))
        return start;
    }
  }
  return undefined;
}
