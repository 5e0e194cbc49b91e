/** The projects of the generated issue trackers. */
import type { SharedCast } from "../shared/cast.ts";
import {
  catalogue,
  exhibition,
  newsletter,
  office,
  packaging,
  portal,
  support,
  website,
  type ProjectTexts,
} from "./generateTexts.ts";
import type { IssueTrackerState } from "./state.ts";

export interface ProjectPlan {
  readonly topic: ProjectTexts;
  readonly name: string;
  readonly workflow: Row<"projects">["workflow"];
  /** Indexes into the staff of the cast, the lead first. */
  readonly people: readonly number[];
  readonly isArchived?: true;
}

/** The projects of the small fixture, which the full one has too. */
export const smallProjectPlans: readonly ProjectPlan[] = [
  { topic: website, name: "Studio website", workflow: "review", people: [0, 1, 2, 8, 10] },
  { topic: support, name: "Client support", workflow: "support", people: [9, 0, 1, 11] },
  { topic: office, name: "Office and systems", workflow: "simple", people: [3, 1, 13] },
  {
    topic: newsletter,
    name: "Old newsletter",
    workflow: "simple",
    people: [11, 0, 2],
    isArchived: true,
  },
];

export const listFullProjectPlans = ({ clients, getPlace }: SharedCast): readonly ProjectPlan[] => [
  {
    topic: portal,
    name: `${clients[0]!.name} claims portal`,
    workflow: "review",
    people: [1, 0, 2, 5, 9, 10],
  },
  {
    topic: catalogue,
    name: `${clients[1]!.name} spring catalogue`,
    workflow: "simple",
    people: [0, 2, 4, 5, 8],
  },
  {
    topic: packaging,
    name: `${clients[2]!.name} packaging`,
    workflow: "simple",
    people: [4, 0, 7, 8, 12],
  },
  {
    topic: exhibition,
    name: `${getPlace("museum").name} site`,
    workflow: "review",
    people: [0, 1, 4, 6, 10, 11],
  },
];

export type Row<Name extends "projects" | "issues" | "sprints"> = IssueTrackerState[Name][string];
