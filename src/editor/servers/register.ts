/**
 * Registers the Servers view with the sessions that a person opens on the product's servers and on
 * connected ones.
 */
import { join } from "node:path";
import {
  commands,
  Uri,
  workspace,
  type Disposable,
  type ExtensionContext,
  type TreeView,
} from "vscode";
import type { FixtureFiles } from "../fixtures/fixtureFiles.ts";
import { registerCommands } from "../shared/commands.ts";
import { createTree } from "../shared/treeView.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import { reportRejection } from "../shared/report.ts";
import { getSharedFolder } from "../shared/sharedFile.ts";
import { CallDocuments } from "./callDocuments.ts";
import { formatCallList } from "./callList.ts";
import { ConnectionCommands } from "./connectionCommands.ts";
import { Connections } from "./connections.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { LiveSessions, formatSessionTitle, type LiveSession } from "./liveSessions.ts";
import { OwnServerCommands } from "./ownServerCommands.ts";
import { registerServerFileChecks } from "./serverFileChecks.ts";
import { type NodeOf, type ServersNode, ServersTree } from "./serversTree.ts";
import { SessionCommands } from "./sessionCommands.ts";
import { ArgumentDrafts, SessionStore } from "./storedSessions.ts";

interface ServerDependencies {
  readonly folder: ProveFolder;
  readonly files: ReadOnlyFiles;
  readonly definitions: ServerDefinitions;
  readonly fixtures: FixtureFiles;
}

interface ServersFeature {
  readonly sessions: LiveSessions;
  refresh(): void;
}

type CallNode = NodeOf<"call" | "connectedCall">;

export function registerServers(
  context: ExtensionContext,
  { folder, files, definitions, fixtures }: ServerDependencies,
): ServersFeature {
  const sessions = new LiveSessions(
    definitions,
    new SessionStore(join(getSharedFolder(context), "sessions.json")),
  );
  const drafts = new ArgumentDrafts(context.workspaceState);
  const connections = new Connections(folder, context.workspaceState);
  const sessionDocuments = new CallDocuments("sessions", files, number => {
    const live = sessions.get(number);
    return live && formatCallList(formatSessionTitle(live), live.calls);
  });
  const connectedDocuments = new CallDocuments("connected", files, number => {
    const live = connections.get(number);
    return live && formatCallList(`Session ${number} on ${live.entry.name}`, live.session.calls);
  });
  const sessionCommands = new SessionCommands({
    folder,
    definitions,
    fixtures,
    sessions,
    drafts,
    documents: sessionDocuments,
  });
  const connectionCommands = new ConnectionCommands(connections, drafts, connectedDocuments);
  const ownServerCommands = new OwnServerCommands({
    folder,
    definitions,
    connections,
    dist: Uri.joinPath(context.extensionUri, "dist").fsPath,
  });
  const tree = new ServersTree({ definitions, fixtures, sessions, connections });
  const view = createTree("prove.servers", tree);
  files.provide("/sessions/", ({ path }) => sessionCommands.readDocument(path));
  files.provide("/connected/", ({ path }) => connectedDocuments.read(path) ?? "");
  context.subscriptions.push(
    sessions,
    connections,
    tree,
    view,
    sessions.onDidChange(() => {
      sessionDocuments.refresh();
      // without one, the palette hides the commands on sessions
      void commands.executeCommand("setContext", "prove.hasSessions", sessions.all.length > 0);
    }),
    connections.onDidChange(() => connectedDocuments.refresh()),
    definitions.onDidChange(() => tree.refresh()),
    ...registerServerFileChecks(),
    ...subscribeTree(tree, { folder, sessions, connections }),
    sessions.onDidOpen(live => reportRejection(revealSession(tree, view, live))),
  );
  // sessions on the product's servers are values, those on connected servers are processes
  const getCommands = (node: ServersNode | undefined) =>
    node?.kind.startsWith("connect") ? connectionCommands : sessionCommands;
  registerCommands(context, {
    openSession: (node?: ServersNode) => getCommands(node).open(node),
    callTool: (node?: ServersNode) => getCommands(node).call(node),
    resetSession: (node?: ServersNode) => getCommands(node).reset(node),
    forkSession: (node?: ServersNode) => getCommands(node).fork(node),
    closeSession: (node?: ServersNode) => getCommands(node).close(node),
    saveSession: (node?: ServersNode) => sessionCommands.save(node),
    connectServer: () => connectionCommands.openConfiguration(),
    newServer: () => ownServerCommands.create(),
    exploreServer: (node?: ServersNode) => ownServerCommands.explore(node),
    openServerFile: (node?: ServersNode) => ownServerCommands.openFile(node),
    showCall: (node: CallNode) =>
      node.kind === "call"
        ? sessionCommands.showCall(node.live, node.call)
        : connectionCommands.showCall(node),
  });
  return { sessions, refresh: () => tree.refresh() };
}

async function revealSession(
  tree: ServersTree,
  view: TreeView<ServersNode>,
  live: LiveSession,
): Promise<void> {
  const server = live.session.servers[0]!;
  // a view that was hidden refreshes when it is shown, which would end the reveal: the second
  // refresh, which the reveal of the session waits for, comes after that one
  if (!view.visible) {
    await view.reveal({ kind: "server", server }, { select: false });
    tree.refresh();
  }
  // with the focus, its menu can be reached from the keyboard
  const options = { expand: true, select: true, focus: true };
  const isSelected = () => view.selection.some(it => it.kind === "session" && it.live === live);
  // files that are written meanwhile, such as those of a server that was explored, refresh the view
  for (let attempt = 0; attempt < maxReveals && !isSelected(); attempt++)
    await view.reveal({ kind: "session", live, server: server.name }, options);
}

const maxReveals = 5;

interface TreeSources {
  readonly folder: ProveFolder;
  readonly sessions: LiveSessions;
  readonly connections: Connections;
}

/** Refreshes the tree when something that it shows has changed. */
const subscribeTree = (
  tree: ServersTree,
  { folder, sessions, connections }: TreeSources,
): Disposable[] => [
  sessions.onDidChange(() => tree.refresh()),
  workspace.onDidGrantWorkspaceTrust(() => tree.refresh()),
  connections.onDidChange(() => tree.refresh()),
  folder.onDidChange(part => {
    if (part === "fixtures" || part === "mcp.json") tree.refresh();
  }),
  // a server's row says whether it is offered to agents
  workspace.onDidChangeConfiguration(it => {
    if (it.affectsConfiguration("prove.agentServers")) tree.refresh();
  }),
];
