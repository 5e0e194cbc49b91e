/**
 * The objects of the running extension, as its commands reach them. Built once, in extension.ts.
 */
import type { AgentOffer } from "../agents/agentOffer.ts";
import type { ConnectedViews } from "../servers/connectedViews.ts";
import type { Debugging } from "../trajectories/debugging.ts";
import type { Definitions } from "../servers/definitions.ts";
import type { EndpointKeys } from "../synthesis/endpointKeys.ts";
import type { FixtureFiles } from "../fixtures/fixtureFiles.ts";
import type { GraphPages } from "../graph/graphPages.ts";
import type { LiveSessions } from "../servers/liveSessions.ts";
import type { RewardPages } from "../trajectories/rewardPages.ts";
import type { RunPages } from "../runs/runPages.ts";
import type { Runs } from "../runs/runs.ts";
import type { ServersTree } from "../servers/serversTree.ts";
import type { SessionViews } from "../servers/sessionViews.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import type { SynthesisPages } from "../synthesis/synthesisPages.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import type { Training } from "../runs/training.ts";
import type { Transcripts } from "../trajectories/transcripts.ts";

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
