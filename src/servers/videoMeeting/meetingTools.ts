/**
 * Tools that schedule, list, show, change and cancel meetings. Only the host changes a meeting, and
 * only before it starts.
 */
import { z } from "zod";
import { day, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { listChangedNames } from "../kit/changes.ts";
import { ascending, containsAll, equals, getSchemas, meets } from "../kit/table.ts";
import {
  requirePlanLimits,
  requireFreeSlot,
  requireScheduled,
  findNextFreeSlot,
  isActive,
  getEnd,
  getHost,
  getUserRole,
  meetingLabel,
  meetings,
  requireHostedMeeting,
  formatLink,
  findPersonId,
  findRunningRecording,
  VideoMeetingState,
  type Meeting,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(VideoMeetingState);

const topic = z
  .string()
  .min(2)
  .max(80)
  .describe("Topic of the meeting")
  .meta({ examples: vocabulary.topics });
const minutes = z
  .int()
  .min(5)
  .max(480)
  .describe("Length in minutes")
  .meta({ examples: vocabulary.minutes });
const waitingRoom = z
  .boolean()
  .optional()
  .describe("True if guests wait until the host lets them in");
const recording = z
  .enum(["host", "co-hosts"])
  .optional()
  .describe("Who may record: the host alone, or co-hosts too");

const slotRow = meetings.fields({
  ...meetingLabel,
  start: minute(),
  end: [minute(), it => getEnd(it)],
});
const link = meetings.fields({ link: [z.string(), (it, { world }) => formatLink(world, it)] });
const scheduledRow = meetings.fields({
  ...slotRow,
  ...link,
  invited: [z.int(), it => Object.keys(it.participants).length],
});
const cancelledRow = meetings.fields({
  ...meetingLabel,
  status: z.string(),
  told: [z.int().describe("People who are told"), it => Object.keys(it.participants).length],
});

/** Refuses a topic of spaces, by which nobody would find the meeting. */
function requireWords(topic: string): void {
  if (topic.trim().length < 2)
    refuse("invalid_params", "the topic has no words", "give a topic of two characters or more");
}

/** The participants of a meeting besides the user; undefined if there are none. */
function listOthers({ people, user }: VideoMeetingState, { participants }: Meeting) {
  const others = Object.entries(participants).filter(([personId]) => personId !== user);
  if (others.length === 0) return undefined;
  return others.map(([personId, role]) => ({ name: people[personId]!.name, role }));
}

/** The last part of a link that no meeting has. */
function createCode({ meetings }: VideoMeetingState, random: () => number): string {
  for (;;) {
    const code = [0, 1, 2].map(() => String(100 + Math.floor(random() * 900))).join("-");
    if (Object.values(meetings).every(it => it.code !== code)) return code;
  }
}

export const meetingTools = {
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
    returns: getSchemas(scheduledRow),
    run(
      state,
      {
        topic,
        start: requestedStart,
        minutes,
        participants = [],
        waiting_room = false,
        recording = "host",
      },
      { now, newId, random },
    ) {
      requireWords(topic);
      const original = getOriginal(state);
      const invited = [...new Set(participants.map(it => findPersonId(original, it)))].filter(
        it => it !== original.user,
      );
      const slot = {
        host: original.user,
        start: requestedStart ?? findNextFreeSlot(original, minutes, now),
        minutes,
        participants: Object.fromEntries(invited.map(it => [it, "guest" as const])),
      };
      requirePlanLimits(original, slot, now);
      requireFreeSlot(original, slot);
      const meeting_id = newId("mtg");
      state.meetings[meeting_id] = {
        topic: topic.trim(),
        ...slot,
        status: "scheduled",
        code: createCode(original, random),
        waiting_room,
        recording,
      };
      return meetings.show(scheduledRow, state, meeting_id, now);
    },
  }),
  list_meetings: meetings.list({
    summary:
      "List meetings in order of time: those ahead or running, unless a state or days are given; of a topic or a person if wanted.",
    filters: {
      topic: containsAll(
        label("meeting"),
        "Only meetings whose topic contains this, whatever their state",
        it => it.topic,
      ),
      status: equals(
        z.enum(["scheduled", "running", "ended", "cancelled"]),
        "Only meetings in this state",
        it => it.status,
      ),
      from: meets(day(), "First day", (it, from) => it.start.slice(0, 10) >= from),
      to: meets(day(), "Last day", (it, to) => it.start.slice(0, 10) <= to),
      person: meets(
        label("person"),
        "Only meetings that this person hosts or is invited to",
        (it, personId: string) => it.host === personId || Object.hasOwn(it.participants, personId),
        findPersonId,
      ),
      role: equals(
        z.enum(["host", "co-host", "guest"]),
        "Only meetings in which the user is that",
        (it, state) => getUserRole(state, it),
      ),
    },
    check({ from, to }) {
      if (from && to && to < from) refuse("invalid_params", `to ${to} is before from ${from}`);
    },
    where: (it, { topic, status, from, to }) =>
      isActive(it) || [topic, status, from, to].some(given => given !== undefined),
    order: ascending(it => it.start),
    limit: 16,
    limitSchema: rowLimit(16).meta({ examples: [2, 3, 4, 5] }),
    more: z.int().optional().describe("How many were left out"),
    row: { ...meetingLabel, start: minute(), status: z.string() },
  }),
  get_meeting: meetings.get({
    summary:
      "Get one meeting in full: times, state, host, what the user is in it, everybody invited, link, and who may record.",
    row: {
      ...slotRow,
      status: z.string(),
      host: [z.string(), (it, { world }) => getHost(world, it).name],
      user_is: [z.string(), (it, { world }) => getUserRole(world, it)],
      participants: [
        z
          .array(z.object({ name: label("person"), role: z.string() }))
          .optional()
          .describe("The others who are invited"),
        (it, { world }) => listOthers(world, it),
      ],
      places_left: [
        z.int().describe("How many more may be invited"),
        (it, { world }) =>
          Math.max(0, getHost(world, it).limits.people - 1 - Object.keys(it.participants).length),
      ],
      waiting_room: z.boolean(),
      recording: [
        z.string(),
        (it, { world }) => (getHost(world, it).limits.records ? it.recording : "nobody"),
      ],
      recording_now: [
        z.boolean(),
        (_, { id, world }) => findRunningRecording(world, id) !== undefined,
      ],
      ...link,
      agenda: z.string().optional(),
      started_at: minute().optional(),
      ended_at: minute().optional(),
    },
  }),
  update_meeting: tool({
    effect: "write",
    summary:
      "Change topic, start, length, waiting room or who may record, of a meeting that the user hosts and that has not begun.",
    input: {
      meeting_id: meetings.id,
      topic: topic.optional().describe("New topic"),
      start: minute().optional().describe("New start, YYYY-MM-DDTHH:MM"),
      minutes: minutes.optional().describe("New length in minutes"),
      waiting_room: waitingRoom,
      recording,
    },
    returns: { ...getSchemas(slotRow), changed: z.array(z.string()) },
    run(state, { meeting_id, ...changes }, { now }) {
      const original = getOriginal(state);
      const meeting = requireHostedMeeting(original, meeting_id, "change it");
      requireScheduled(meeting, meeting_id);
      const changed = listChangedNames(meeting, changes, {
        subject: `${meeting.topic} (${meeting_id})`,
        hint: "give topic, start, minutes, waiting_room or recording",
      });
      if (changes.topic !== undefined) requireWords(changes.topic);
      const updated: Meeting = Object.assign({ ...meeting }, changes);
      if (changed.includes("start") || changed.includes("minutes")) {
        requirePlanLimits(original, updated, now);
        requireFreeSlot(original, updated, meeting_id);
      }
      Object.assign(state.meetings[meeting_id]!, changes);
      return { ...meetings.show(slotRow, state, meeting_id, now), changed };
    },
  }),
  cancel_meeting: tool({
    effect: "write",
    summary:
      "Call off a meeting that the user hosts and that has not begun; everybody invited is told.",
    destructive: true,
    input: { meeting_id: meetings.id },
    returns: getSchemas(cancelledRow),
    run(state, { meeting_id }, { now }) {
      const meeting = requireHostedMeeting(getOriginal(state), meeting_id, "cancel it");
      requireScheduled(meeting, meeting_id);
      state.meetings[meeting_id]!.status = "cancelled";
      return meetings.show(cancelledRow, state, meeting_id, now);
    },
  }),
};
