/**
 * Generates the video meetings of a fixture set: one for each video call in the calendar, calls
 * with clients and prospects, meetings of the staff, and recordings. The user's meetings do not
 * overlap with each other or with the calendar.
 */
import { addMinutes, toMinutes, getWeekday } from "../../environment/time.ts";
import { listBusyTimes } from "../calendar/availability.ts";
import { findCurrentOccurrence } from "../calendar/eventRules.ts";
import type { CalendarState } from "../calendar/state.ts";
import { listAllOccurrences, formatMinute } from "../calendar/recurrence.ts";
import { server } from "./server.ts";
import { plans, type VideoMeetingState } from "./state.ts";
import type { Person } from "../shared/cast.ts";
import {
  defineGenerator,
  type GeneratorContext,
  type GeneratedStates,
} from "../shared/generator.ts";
import {
  agendas,
  internalTopics,
  smallMeetings,
  startTimes,
  clientTopics,
  prospectTopics,
  type SmallMeeting,
} from "./generateValues.ts";
import { dayAfterStart } from "../shared/startTime.ts";

type Meeting = VideoMeetingState["meetings"][string];
type People = VideoMeetingState["people"];

export const generator = defineGenerator<VideoMeetingState>({
  server,
  generate(context) {
    const { cast, size } = context;
    const calls = listCalls(context.states);
    const callHosts = new Set(calls.map(it => it.host));
    const persons: readonly Person[] =
      size === "small"
        ? [...cast.staff.slice(0, 9), cast.clients[0]!.contacts[0]!]
        : [...cast.staff, ...[...cast.clients, ...cast.prospects].flatMap(it => it.contacts)];
    const people: People = Object.fromEntries(
      persons.map((it, i) => {
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
    const getPersonId = (name: string) =>
      Object.entries(people).find(([, it]) => it.name === name)![0];
    const state: VideoMeetingState = {
      user: getPersonId(cast.user.name),
      domain: cast.studio.domain,
      people,
      meetings: {},
      recordings: {},
    };
    for (const { event_id, host, attendees, title, start, minutes } of calls) {
      const participants = Object.fromEntries(
        attendees.map(name => [
          getPersonId(name),
          name === cast.user.name && context.random.boolean(0.4)
            ? ("co-host" as const)
            : ("guest" as const),
        ]),
      );
      addMeeting(
        context,
        state,
        { topic: title, host: getPersonId(host), start, minutes, participants, event_id },
        start < cast.now ? "ended" : "scheduled",
      );
    }
    if (size === "small") for (const it of smallMeetings) addSmallMeeting(context, state, it);
    else addMeetings(context, state);
    return state;
  },
  findInconsistencies(state, states, cast) {
    const names = new Map(
      [...cast.staff, ...[...cast.clients, ...cast.prospects].flatMap(it => it.contacts)].map(
        it => [it.name, it.email],
      ),
    );
    const getPersonName = (id: string) => state.people[id]?.name;
    const meetings = Object.values(state.meetings);
    const codes = meetings.map(it => it.code);
    return [
      ...(getPersonName(state.user) === cast.user.name
        ? []
        : [`the user is ${getPersonName(state.user)}, not ${cast.user.name}`]),
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
      ...listCalls(states).flatMap(call => {
        const meeting = meetings.find(it => it.event_id === call.event_id);
        if (!meeting) return [`there is no meeting for ${call.title} (${call.event_id})`];
        const invited = Object.keys(meeting.participants).map(getPersonName);
        const isEqual =
          meeting.topic === call.title &&
          call.starts.includes(meeting.start) &&
          meeting.minutes === call.minutes &&
          getPersonName(meeting.host) === call.host;
        return isEqual &&
          invited.length === call.attendees.length &&
          call.attendees.every(it => invited.includes(it))
          ? []
          : [`${meeting.topic} is not as ${call.event_id} in the calendar`];
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
  /** The starts of all occurrences. */
  readonly starts: readonly string[];
  readonly minutes: number;
}

/** The video calls of the calendar; of a series, the next occurrence. */
function listCalls(states: GeneratedStates): Call[] {
  const calendar = states.get("calendar") as CalendarState | undefined;
  if (!calendar) return [];
  const getPersonName = (id: string) => calendar.people[id]!.name;
  return Object.entries(calendar.events).flatMap(([event_id, it]) => {
    if (it.location !== "Video call") return [];
    const current = findCurrentOccurrence(it, "2026-03-09T09:00");
    if (!current) return [];
    return {
      event_id,
      title: it.title,
      host: getPersonName(it.organizer),
      attendees: Object.keys(it.attendees).map(getPersonName),
      start: formatMinute(current.start),
      starts: listAllOccurrences(it).map(of => formatMinute(of.start)),
      minutes: it.minutes,
    };
  });
}

type NewMeeting = Pick<Meeting, "topic" | "host" | "start" | "minutes" | "participants"> &
  Partial<Pick<Meeting, "event_id" | "recording" | "waiting_room" | "agenda">>;

/** Adds a meeting with the fields that its status requires, and returns its id. */
function addMeeting(
  { random, nextId }: GeneratorContext,
  state: VideoMeetingState,
  plannedMeetings: NewMeeting,
  status: Meeting["status"],
): string {
  const meeting_id = nextId("mtg");
  const startedAt = addMinutes(plannedMeetings.start, random.integer(3));
  const hasBegun = status === "running" || status === "ended";
  const code = () => [0, 1, 2].map(() => String(100 + random.integer(900))).join("-");
  state.meetings[meeting_id] = {
    topic: plannedMeetings.topic,
    host: plannedMeetings.host,
    start: plannedMeetings.start,
    minutes: plannedMeetings.minutes,
    status,
    participants: plannedMeetings.participants,
    code: code(),
    waiting_room: plannedMeetings.waiting_room ?? random.boolean(0.3),
    recording: plannedMeetings.recording ?? (random.boolean(0.5) ? "co-hosts" : "host"),
    ...(plannedMeetings.agenda === undefined ? {} : { agenda: plannedMeetings.agenda }),
    ...(hasBegun ? { started_at: startedAt } : {}),
    ...(status === "ended"
      ? {
          ended_at: addMinutes(startedAt, Math.max(5, plannedMeetings.minutes - random.integer(9))),
        }
      : {}),
    ...(plannedMeetings.event_id === undefined ? {} : { event_id: plannedMeetings.event_id }),
  };
  return meeting_id;
}

function addRecording(
  { nextId, cast }: GeneratorContext,
  state: VideoMeetingState,
  meeting_id: string,
): void {
  const { host, started_at, ended_at } = state.meetings[meeting_id]!;
  const from = addMinutes(started_at!, 1);
  const status =
    ended_at === undefined
      ? "recording"
      : ended_at.slice(0, 10) >= dayAfterStart(-4) && ended_at < cast.now
        ? "processing"
        : "ready";
  state.recordings[nextId("rec")] = {
    meeting_id,
    started_at: from,
    ...(ended_at === undefined ? {} : { minutes: toMinutes(ended_at) - toMinutes(from) }),
    status,
    by: host,
  };
}

function addSmallMeeting(
  context: GeneratorContext,
  state: VideoMeetingState,
  { host, guests, coHosts = [], status = "scheduled", isRecorded, ...rest }: SmallMeeting,
): void {
  const ids = Object.keys(state.people);
  const participants = Object.fromEntries([
    ...guests.map(it => [ids[it]!, "guest"] as const),
    ...coHosts.map(it => [ids[it]!, "co-host"] as const),
  ]);
  const meeting_id = addMeeting(
    context,
    state,
    { ...rest, host: ids[host]!, participants, waiting_room: false },
    status,
  );
  if (isRecorded) addRecording(context, state, meeting_id);
}

/** The weekdays between two days, all relative to today. */
const listWeekdays = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(
    it => ![0, 6].includes(getWeekday(dayAfterStart(it))),
  );

function addMeetings(context: GeneratorContext, state: VideoMeetingState): void {
  const { cast, random } = context;
  const ids = Object.keys(state.people);
  const getPersonId = (name: string) => ids.find(it => state.people[it]!.name === name)!;
  const staff = cast.colleagues.map(it => getPersonId(it.name));
  const clientMeetings = clientTopics.flatMap(topic =>
    cast.clients.map(it => ({
      topic: `${it.name} ${topic}`,
      guests: it.contacts.map(of => getPersonId(of.name)),
    })),
  );
  const prospectMeetings = cast.prospects.map((it, i) => ({
    topic: `${prospectTopics[i % prospectTopics.length]!} with ${it.name}`,
    guests: it.contacts.map(of => getPersonId(of.name)),
  }));
  const meeting = internalTopics.map(topic => ({ topic, guests: [] as string[] }));
  const plannedMeetings = random.shuffle([...clientMeetings, ...prospectMeetings, ...meeting]);
  const [past, future] = [listWeekdays(-45, -1), listWeekdays(1, 30)];
  for (const [i, it] of plannedMeetings.entries()) {
    const [isRunning, isToday, isPast] = [i < 3, i < 12, i >= 12 && i < 36];
    // the user hosts most meetings, an external guest or a colleague the others
    const host =
      i === 1
        ? staff.find(who => state.people[who]!.plan === "pro")!
        : i % 5 < 4
          ? state.user
          : (it.guests[0] ?? random.pick(staff));
    const { people: maxPeople, minutes: maxMinutes, records } = plans[state.people[host]!.plan];
    const minutes = Math.min(maxMinutes, random.pick([20, 30, 30, 45, 60, 60, 90]));
    const start = isRunning
      ? ["2026-03-09T08:30", "2026-03-09T08:45", "2026-03-09T08:50"][i]!
      : findSlot(context, state, isToday ? [0] : random.shuffle(isPast ? past : future), minutes);
    if (start === undefined) continue;
    const others = random
      .shuffle([
        ...new Set([...it.guests, ...random.shuffle(staff).slice(0, 1 + random.integer(5))]),
      ])
      .filter(who => who !== host)
      .slice(0, maxPeople - 2);
    // one of the user's meetings is full, and one has a place left
    const additionalPeople =
      host === state.user && (i === 5 || i === 6 || i === 40)
        ? staff
            .filter(who => !others.includes(who))
            .slice(0, maxPeople - 1 - others.length - (i === 6 ? 1 : 0))
        : [];
    const pickRole = () => (random.boolean(0.3) ? ("co-host" as const) : ("guest" as const));
    const participants = Object.fromEntries([
      ...(host === state.user
        ? []
        : [[state.user, i % 10 === 4 || i === 1 ? "co-host" : "guest"] as const]),
      ...[...others, ...additionalPeople].map(who => [who, pickRole()] as const),
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
      state,
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
      records && [host, ...Object.keys(participants)].every(who => !state.people[who]!.unrecorded);
    if (mayRecord && status === "ended" && random.boolean(0.8))
      addRecording(context, state, meeting_id);
  }
}

/** A start on one of these days at which the user has no event and no other meeting. */
function findSlot(
  { states, random, cast }: GeneratorContext,
  state: VideoMeetingState,
  days: readonly number[],
  minutes: number,
): string | undefined {
  const calendar = states.get("calendar") as CalendarState | undefined;
  for (const day of days) {
    for (const time of random.shuffle(startTimes)) {
      const start = `${dayAfterStart(day)}T${time}`;
      if (day === 0 && start <= cast.now) continue;
      const [from, to] = [toMinutes(start), toMinutes(start) + minutes];
      const isOccupied = Object.values(state.meetings).some(
        it => toMinutes(it.start) < to && from < toMinutes(it.start) + it.minutes,
      );
      if (
        !isOccupied &&
        (!calendar || listBusyTimes(calendar, calendar.user, from, to).length === 0)
      )
        return start;
    }
  }
  return undefined;
}
