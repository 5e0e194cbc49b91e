/**
 * The video meeting server: the meetings of one person with colleagues and clients. Also its
 * rules, which hold whichever tools are used.
 */
import { isSameJson } from "../../environment/invariants.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import {
  isActive,
  getEnd,
  getHost,
  getUserRole,
  type Meeting,
  VideoMeetingState,
  references,
} from "./state.ts";
import { liveMeetingTools, recordingTools } from "./liveMeetingTools.ts";
import { meetingTools } from "./meetingTools.ts";

type MeetingInvariant = Invariant<VideoMeetingState>;

/** An invariant of every single meeting. `before` is the same meeting before the write. */
const createMeetingInvariant = (
  rule: string,
  isViolated: (
    meeting: Meeting,
    state: VideoMeetingState,
    before: Meeting | undefined,
    stateBefore: VideoMeetingState | undefined,
  ) => boolean,
): MeetingInvariant => ({
  rule,
  findViolation: (state, before) =>
    Object.entries(state.meetings).find(([id, it]) =>
      isViolated(it, state, before?.meetings[id], before),
    )?.[0],
});

/** The statuses that a meeting may have after a status. */
const nextStatuses: Readonly<Record<Meeting["status"], readonly Meeting["status"][]>> = {
  scheduled: ["scheduled", "running", "cancelled"],
  running: ["running", "ended"],
  ended: ["ended"],
  cancelled: ["cancelled"],
};

/** Whether a co-host may turn a meeting into this one. */
function canLead(after: Meeting, before: Meeting): boolean {
  const getTerms = (it: Meeting) => ({
    ...it,
    participants: undefined,
    status: undefined,
    started_at: undefined,
  });
  return (
    isActive(after) &&
    isSameJson(getTerms(after), getTerms(before)) &&
    Object.entries(after.participants).every(
      ([id, role]) => role === (before.participants[id] ?? "guest"),
    )
  );
}

const invariants: readonly MeetingInvariant[] = [
  createMeetingInvariant(
    "A meeting that is ahead or running has no more people and minutes than its host's plan allows.",
    (it, state) => {
      const { limits } = getHost(state, it);
      return (
        isActive(it) &&
        (Object.keys(it.participants).length + 1 > limits.people || it.minutes > limits.minutes)
      );
    },
  ),
  {
    rule: "A host has no more running meetings than the plan allows.",
    findViolation(state) {
      const running = Object.values(state.meetings).filter(it => it.status === "running");
      const crowded = running.find(
        it =>
          running.filter(other => other.host === it.host).length >
          getHost(state, it).limits.running,
      );
      return crowded && `${crowded.host} has too many`;
    },
  },
  {
    rule: "A meeting is not scheduled or moved to a time at which the user hosts another one.",
    findViolation({ meetings, user }, before) {
      if (!before) return undefined;
      const hosted = Object.entries(meetings).filter(([, it]) => it.host === user && isActive(it));
      for (const [id, it] of hosted) {
        const { start, minutes } = before.meetings[id] ?? {};
        if (it.start === start && it.minutes === minutes) continue;
        const other = hosted.find(
          ([otherId, other]) =>
            otherId !== id && other.start < getEnd(it) && it.start < getEnd(other),
        );
        if (other) return `${id} overlaps ${other[0]}`;
      }
      return undefined;
    },
  },
  createMeetingInvariant(
    "A meeting that has ended or is called off stays as it is, and a running one only ends.",
    (it, _state, before) =>
      before !== undefined &&
      (!nextStatuses[before.status].includes(it.status) ||
        (!isActive(before) && !isSameJson(it, before)) ||
        (before.status === "running" &&
          (it.start !== before.start || it.minutes !== before.minutes))),
  ),
  createMeetingInvariant(
    "A meeting has a start time once it runs and an end time once it has ended.",
    ({ status, started_at, ended_at }) =>
      (started_at !== undefined) !== (status === "running" || status === "ended") ||
      (ended_at !== undefined) !== (status === "ended") ||
      (started_at !== undefined && ended_at !== undefined && ended_at < started_at),
  ),
  createMeetingInvariant(
    "Meetings of others do not change, except that a co-host starts them and invites guests.",
    (it, state, before, stateBefore) => {
      if (!stateBefore || it === before) return false;
      if (!before) return it.host !== state.user;
      if (it.host !== before.host) return true;
      return (
        it.host !== state.user &&
        !isSameJson(it, before) &&
        (getUserRole(state, before) !== "co-host" || !canLead(it, before))
      );
    },
  ),
  createMeetingInvariant(
    "Nobody who is invited is removed, a co-host stays one, and the host is no participant.",
    (it, _state, before) =>
      Object.hasOwn(it.participants, it.host) ||
      Object.entries(before?.participants ?? {}).some(
        ([id, role]) =>
          it.participants[id] === undefined ||
          (role === "co-host" && it.participants[id] !== "co-host"),
      ),
  ),
  {
    rule: "What is recorded is a running meeting, once, where the plan records and everybody agrees.",
    findViolation(state) {
      const running = Object.entries(state.recordings).filter(
        ([, it]) => it.status === "recording",
      );
      const forbidden = running.find(([, { meeting_id, by }]) => {
        const meeting = state.meetings[meeting_id]!;
        const canRecord =
          by === meeting.host ||
          (meeting.recording === "co-hosts" && meeting.participants[by] === "co-host");
        return (
          meeting.status !== "running" ||
          !getHost(state, meeting).limits.records ||
          !canRecord ||
          running.filter(([, it]) => it.meeting_id === meeting_id).length > 1 ||
          [meeting.host, ...Object.keys(meeting.participants)].some(
            id => state.people[id]!.unrecorded,
          )
        );
      });
      return forbidden && `${forbidden[0]} of ${forbidden[1].meeting_id}`;
    },
  },
  {
    rule: "A recording is kept, and one that has stopped is not changed.",
    findViolation: ({ recordings }, before) =>
      Object.entries(before?.recordings ?? {}).find(
        ([id, it]) =>
          recordings[id]?.meeting_id !== it.meeting_id ||
          (it.status !== "recording" && !isSameJson(recordings[id], it)),
      )?.[0],
  },
  {
    rule: "Every meeting has a link of its own.",
    findViolation({ meetings }) {
      const codes = Object.values(meetings).map(it => it.code);
      return codes.find((it, i) => codes.indexOf(it) !== i);
    },
  },
];

export const server = defineServer({
  name: "video_meeting",
  category: "Lifestyle",
  summary:
    "meetings with hosts and guests, their start and end, plans and their limits, recordings",
  schema: VideoMeetingState,
  references,
  invariants,
  tools: { ...meetingTools, ...liveMeetingTools, ...recordingTools },
});
