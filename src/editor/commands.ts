/**
 * Every command of the extension in one table; the manifest lists exactly these, under the prefix `prove.`. Each hands over
 * to the object that does it. Knows nothing of how anything is done, and needs no editor to be read.
 */
import type { House } from "./house.ts";
import type { ServersNode } from "./serversTree.ts";

/** Run with what a menu, a link or a page gives; from the palette there is nothing. */
export type Command = (house: House, ...args: never[]) => unknown;

type FixtureNode = Extract<ServersNode, { kind: "fixture" }>;
type CallNode = Extract<ServersNode, { kind: "call" }>;

export const commands = {
  openFixture: (house, node: FixtureNode) => house.fixtures.open(node.file),
  editFixture: (house, node?: FixtureNode) => house.fixtures.edit(node?.file),
  restoreFixture: (house, node?: FixtureNode) => house.fixtures.restore(node?.file),
  openSession: (house, node?: ServersNode) => house.sessionViews.open(node),
  callTool: (house, node?: ServersNode) => house.sessionViews.call(node),
  resetSession: (house, node?: ServersNode) => house.sessionViews.reset(node),
  closeSession: (house, node?: ServersNode) => house.sessionViews.close(node),
  showCall: (house, node: CallNode) => house.sessionViews.show(node.live, node.made),
  filterTasks: house => house.tasksTree.askFilter(),
  refresh(house) {
    house.serversTree.refresh();
    house.tasksTree.refresh();
  },
} satisfies Record<string, Command>;
