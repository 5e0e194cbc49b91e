/**
 * The objects of the running extension, as its commands reach them. Built once, in extension.ts.
 */
import type { AgentOffer } from "./agentOffer.ts";
import type { ConnectedViews } from "./connectedViews.ts";
import type { Debugging } from "./debug.ts";
import type { Definitions } from "./definitions.ts";
import type { EndpointKeys } from "./endpointKeys.ts";
import type { FixtureFiles } from "./fixtureFiles.ts";
import type { GraphPages } from "./graphPages.ts";
import type { LiveSessions } from "./liveSessions.ts";
import type { RewardPages } from "./rewardPages.ts";
import type { RunPages } from "./runPages.ts";
import type { Runs } from "./runs.ts";
import type { ServersTree } from "./serversTree.ts";
import type { SessionViews } from "./sessionViews.ts";
import type { Synthesis } from "./synthesis.ts";
import type { SynthesisPages } from "./synthesisPages.ts";
import type { TasksTree } from "./tasksTree.ts";
import type { Training } from "./training.ts";
import type { Transcripts } from "./transcripts.ts";

/** What everything about servers and their sessions stands on. */
export interface Ground {
  readonly definitions: Definitions;
  readonly fixtures: FixtureFiles;
  readonly sessions: LiveSessions;
}

export interface House extends Ground {
  readonly agentOffer: AgentOffer;
  readonly serversTree: ServersTree;
  readonly sessionViews: SessionViews;
  readonly connectedViews: ConnectedViews;
  readonly tasksTree: TasksTree;
  readonly transcripts: Transcripts;
  readonly debugging: Debugging;
  readonly rewardPages: RewardPages;
  readonly endpointKeys: EndpointKeys;
  readonly synthesis: Synthesis;
  readonly synthesisPages: SynthesisPages;
  readonly graphPages: GraphPages;
  readonly runs: Runs;
  readonly runPages: RunPages;
  readonly training: Training;
}
