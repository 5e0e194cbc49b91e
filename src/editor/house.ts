/** The objects of the running extension, as its commands reach them. Built once, in extension.ts. */
import type { Debugging } from "./debug.ts";
import type { FixtureFiles } from "./fixtureFiles.ts";
import type { RewardPages } from "./rewardPages.ts";
import type { RunPages } from "./runPages.ts";
import type { Runs } from "./runs.ts";
import type { ServersTree } from "./serversTree.ts";
import type { SessionViews } from "./sessionViews.ts";
import type { Synthesis } from "./synthesis.ts";
import type { TasksTree } from "./tasksTree.ts";
import type { Training } from "./training.ts";
import type { Transcripts } from "./transcripts.ts";

export interface House {
  readonly fixtures: FixtureFiles;
  readonly serversTree: ServersTree;
  readonly sessionViews: SessionViews;
  readonly tasksTree: TasksTree;
  readonly transcripts: Transcripts;
  readonly debugging: Debugging;
  readonly rewardPages: RewardPages;
  readonly synthesis: Synthesis;
  readonly runs: Runs;
  readonly runPages: RunPages;
  readonly training: Training;
}
