/** Topics and start times of generated video meetings, and the meetings of the small fixture. */
import type { VideoMeetingState } from "./state.ts";

/** Topics of meetings with clients, after the client's name. */
export const clientTopics: readonly string[] = [
  "weekly sync",
  "feedback on the drafts",
  "launch plan",
  "photo selection",
  "budget talk",
  "quarterly review",
];

/** Topics of meetings with prospects, before `with` and the company's name. */
export const prospectTopics: readonly string[] = [
  "First call",
  "Offer talk",
  "Studio tour",
  "Brief",
];

export const internalTopics: readonly string[] = [
  "Colour palette review",
  "Type specimen critique",
  "Server move dry run",
  "Hiring chat for support",
  "Web accessibility clinic",
  "Print quality round",
  "Photo archive clean-up",
  "Month-end numbers",
  "Film cut review",
  "Office plants and chairs",
  "Newsletter planning",
  "Portfolio captions",
  "Icon set workshop",
  "Onboarding walkthrough",
  "Design system office hour",
  "Retro of the winter projects",
  "Holiday cover plan",
  "Trade fair stand ideas",
  "Backup restore drill",
  "Proofreading pair session",
  "Motion test show and tell",
  "Domain renewals check",
  "Packaging dummy review",
  "Illustration style hunt",
  "Contract template questions",
  "Shared drive tour",
  "Paper samples talk",
  "Spring campaign warm-up",
];

export const agendas: readonly string[] = [
  "Go through the open points, then decide",
  "Five minutes each, questions at the end",
  "Bring examples you like",
  "Compare both versions and choose one",
  "What went well, what did not, what next",
  "Numbers first, then the plan for the month",
];

export const startTimes: readonly string[] = [
  "09:00",
  "09:45",
  "10:00",
  "10:30",
  "11:15",
  "11:30",
  "12:00",
  "13:00",
  "13:30",
  "14:15",
  "15:00",
  "15:30",
  "16:15",
  "16:45",
  "17:15",
];

export interface SmallMeeting {
  readonly topic: string;
  /** Indexes into the list of people; the user is 0. */
  readonly host: number;
  readonly guests: readonly number[];
  readonly coHosts?: readonly number[];
  readonly start: string;
  readonly minutes: number;
  readonly status?: VideoMeetingState["meetings"][string]["status"];
  readonly recording?: VideoMeetingState["meetings"][string]["recording"];
  readonly isRecorded?: true;
}

/** Hosted by the user and by others; ended, running, soon, later, cancelled, full. */
export const smallMeetings: readonly SmallMeeting[] = [
  {
    topic: "Colour palette review",
    host: 0,
    guests: [1, 2],
    start: "2026-03-09T08:45",
    minutes: 60,
    status: "running",
  },
  {
    topic: "Insurance brief",
    host: 9,
    guests: [3],
    coHosts: [0],
    start: "2026-03-09T08:30",
    minutes: 40,
    status: "running",
    recording: "host",
  },
  {
    topic: "Type specimen critique",
    host: 0,
    guests: [2, 7],
    start: "2026-03-09T10:00",
    minutes: 30,
  },
  {
    topic: "Server move dry run",
    host: 0,
    guests: [3],
    coHosts: [4],
    start: "2026-03-09T13:00",
    minutes: 45,
  },
  {
    topic: "Print quality round",
    host: 4,
    guests: [1],
    coHosts: [0],
    start: "2026-03-09T09:10",
    minutes: 30,
    recording: "co-hosts",
  },
  { topic: "Month-end numbers", host: 6, guests: [0, 2], start: "2026-03-09T16:00", minutes: 30 },
  {
    topic: "Newsletter planning",
    host: 0,
    guests: [1, 2, 3, 4, 5, 6, 7, 8],
    start: "2026-03-10T13:30",
    minutes: 60,
  },
  {
    topic: "Photo archive clean-up",
    host: 0,
    guests: [4],
    start: "2026-03-17T09:00",
    minutes: 60,
    status: "cancelled",
  },
  {
    topic: "Portfolio captions",
    host: 0,
    guests: [5],
    start: "2026-03-06T11:00",
    minutes: 40,
    status: "ended",
    isRecorded: true,
  },
  {
    topic: "Film cut review",
    host: 2,
    guests: [0, 3],
    start: "2026-02-24T14:00",
    minutes: 40,
    status: "ended",
    isRecorded: true,
  },
];
