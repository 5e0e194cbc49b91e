/**
 * Every command of the extension in one table; the manifest lists exactly these, under the prefix
 * `prove.`. Each hands over to the object that does it. Knows nothing of how anything is done, and
 * needs no editor to be read.
 */
import type { Uri } from "vscode";
import type { AttemptNode } from "../trajectories/attempts.ts";
import type { House } from "./services.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import type { ServersNode } from "../servers/serversTree.ts";
import type { TasksNode } from "../tasks/tasksTree.ts";

/** Run with what a menu, a link or a page gives; from the palette there is nothing. */
export type Command = (house: House, ...args: never[]) => unknown;

type FixtureNode = Extract<ServersNode, { kind: "fixture" }>;
type CallNode = Extract<ServersNode, { kind: "call" | "connectedCall" }>;

export const commands = {
  openTranscript: ({ transcripts }, of?: AttemptNode | Uri) => transcripts.open(of),
  stepTrajectory: ({ debugging }, of?: AttemptNode | Uri) => debugging.start(of),
  showReward: ({ rewardPages }, of?: AttemptNode | Uri) => rewardPages.open(of),
  openFixture: ({ fixtures }, node: FixtureNode) => fixtures.open(node.file),
  editFixture: ({ fixtures }, node?: FixtureNode | Uri) => fixtures.edit(fixtures.meant(node)),
  restoreFixture: ({ fixtures }, node?: FixtureNode | Uri) =>
    fixtures.restore(fixtures.meant(node)),
  openSession: (house, node?: ServersNode) => viewsOf(house, node).open(node),
  callTool: (house, node?: ServersNode) => viewsOf(house, node).call(node),
  resetSession: (house, node?: ServersNode) => viewsOf(house, node).reset(node),
  forkSession: (house, node?: ServersNode) => viewsOf(house, node).fork(node),
  closeSession: (house, node?: ServersNode) => viewsOf(house, node).close(node),
  connectServer: ({ connectedViews }) => connectedViews.edit(),
  offerServer: ({ agentOffer }, node?: ServersNode) =>
    agentOffer.ask(node?.kind === "server" ? node.server.name : undefined),
  showCall: ({ sessionViews, connectedViews }, node: CallNode) =>
    node.kind === "call" ? sessionViews.show(node.live, node.made) : connectedViews.show(node),
  synthesizeTasks: ({ synthesis }) => synthesis.ask(),
  setEndpointKey: ({ endpointKeys }) => endpointKeys.set(),
  forgetEndpointKey: ({ endpointKeys }) => endpointKeys.forget(),
  showSynthesis: ({ synthesisPages }, on?: TasksNode | Uri) => synthesisPages.open(on),
  showGraph: ({ graphPages }, node?: ServersNode) => graphPages.open(node),
  copyExample: ({ synthesis }) => synthesis.copyExample(),
  filterTasks: ({ tasksTree }) => tasksTree.askFilter(),
  searchTasks: async ({ tasksTree, transcripts }) => transcripts.open(await tasksTree.askSearch()),
  startTraining: ({ training }, on?: TasksNode | Uri) => training.start(on),
  showRun: ({ runPages }, node?: RunsNode) => runPages.open(node),
  pauseTraining: ({ training }, node?: RunsNode) => training.ask("pause", node),
  resumeTraining: ({ training }, node?: RunsNode) => training.ask("resume", node),
  stopTraining: ({ training }, node?: RunsNode) => training.ask("stop", node),
  refresh({ serversTree, tasksTree, runs }) {
    serversTree.refresh();
    tasksTree.refresh();
    runs.refresh();
  },
} satisfies Record<string, Command>;

/** Sessions of ours are values, those of third-party servers are processes. */
const viewsOf = ({ sessionViews, connectedViews }: House, node: ServersNode | undefined) =>
  node?.kind.startsWith("connect") ? connectedViews : sessionViews;
