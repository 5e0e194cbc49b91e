/** The objects of the running extension, as its commands reach them. Built once, in extension.ts. */
import type { FixtureFiles } from "./fixtureFiles.ts";
import type { ServersTree } from "./serversTree.ts";
import type { SessionViews } from "./sessionViews.ts";
import type { TasksTree } from "./tasksTree.ts";

export interface House {
  readonly fixtures: FixtureFiles;
  readonly serversTree: ServersTree;
  readonly sessionViews: SessionViews;
  readonly tasksTree: TasksTree;
}
