/**
 * Tools that schedule, change and cancel meetings. Only the host changes a meeting, and only before
 * it starts.
 */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { meetingId, minutes, recording, start, topic, waitingRoom } from "./parameters.ts";
import {
  requirePlanLimits,
  requireFreeSlot,
  requireScheduled,
  findNextFreeSlot,
} from "./schedule.ts";
import {
  getEnd,
  requireHostedMeeting,
  formatLink,
  findPersonId,
  VideoMeetingState,
  type Meeting,
} from "./state.ts";

const tool = createToolFactory(VideoMeetingState);

/** Refuses a topic of spaces, by which nobody would find the meeting. */
function requireWords(topic: string): void {
  if (topic.trim().length < 2)
    refuse("invalid_params", "the topic has no words", "give a topic of two characters or more");
}

/** The last part of a link that no meeting has. */
function createCode({ meetings }: VideoMeetingState, random: () => number): string {
  for (;;) {
    const code = [0, 1, 2].map(() => String(100 + Math.floor(random() * 900))).join("-");
    if (Object.values(meetings).every(it => it.code !== code)) return code;
  }
}

export const meetingCommands = {
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
      const meeting: Meeting = {
        topic: topic.trim(),
        ...slot,
        status: "scheduled",
        code: createCode(original, random),
        waiting_room,
        recording,
      };
      state.meetings[meeting_id] = meeting;
      return {
        topic: meeting.topic,
        meeting_id,
        start: meeting.start,
        end: getEnd(meeting),
        link: formatLink(original, meeting),
        invited: invited.length,
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
    run(state, { meeting_id, ...changes }, { now }) {
      const original = getOriginal(state);
      const meeting = requireHostedMeeting(original, meeting_id, "change it");
      requireScheduled(meeting, meeting_id);
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
      if (changes.topic !== undefined) requireWords(changes.topic);
      const updated: Meeting = Object.assign({ ...meeting }, changes);
      if (changed.includes("start") || changed.includes("minutes")) {
        requirePlanLimits(original, updated, now);
        requireFreeSlot(original, updated, meeting_id);
      }
      Object.assign(state.meetings[meeting_id]!, changes);
      return {
        topic: updated.topic,
        meeting_id,
        start: updated.start,
        end: getEnd(updated),
        changed,
      };
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
    run(state, { meeting_id }) {
      const meeting = requireHostedMeeting(getOriginal(state), meeting_id, "cancel it");
      requireScheduled(meeting, meeting_id);
      state.meetings[meeting_id]!.status = "cancelled";
      return {
        topic: meeting.topic,
        meeting_id,
        status: "cancelled",
        told: Object.keys(meeting.participants).length,
      };
    },
  }),
};
