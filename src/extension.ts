/**
 * The extension: builds its objects, registers them, hands them over. Everything heavy is loaded
 * when it is first used.
 */
import {
  MarkdownString,
  commands as editorCommands,
  window,
  workspace,
  type Disposable,
  type ExtensionContext,
  type Uri,
  type WebviewPanel,
} from "vscode";
import { AgentOffer } from "./editor/agents/agentOffer.ts";
import { isTranscript } from "./editor/trajectories/attempts.ts";
import { commands, type Command } from "./editor/shared/commands.ts";
import { ConnectedViews } from "./editor/servers/connectedViews.ts";
import { Connections } from "./editor/servers/connections.ts";
import { Debugging } from "./editor/trajectories/debugging.ts";
import { Definitions } from "./editor/servers/definitions.ts";
import { EndpointKeys } from "./editor/synthesis/endpointKeys.ts";
import { registerFixtureChecks } from "./editor/fixtures/fixtureChecks.ts";
import { FixtureFiles } from "./editor/fixtures/fixtureFiles.ts";
import { GraphPages } from "./editor/graph/graphPages.ts";
import type { Ground, House } from "./editor/shared/services.ts";
import { LiveSessions } from "./editor/servers/liveSessions.ts";
import type { PageKind } from "./editor/shared/page.ts";
import { ProveFolder } from "./editor/shared/proveFolder.ts";
import { ReadOnlyFiles } from "./editor/shared/readOnlyFiles.ts";
import { report, reporting } from "./editor/shared/report.ts";
import { RewardPages } from "./editor/trajectories/rewardPages.ts";
import { RunPages } from "./editor/runs/runPages.ts";
import { Runs } from "./editor/runs/runs.ts";
import { RunsTree } from "./editor/runs/runsTree.ts";
import { ServersTree } from "./editor/servers/serversTree.ts";
import { SessionViews } from "./editor/servers/sessionViews.ts";
import { Synthesis } from "./editor/synthesis/synthesis.ts";
import { SynthesisPages } from "./editor/synthesis/synthesisPages.ts";
import { TasksTree } from "./editor/tasks/tasksTree.ts";
import { Training } from "./editor/runs/training.ts";
import { registerTranscriptLenses } from "./editor/trajectories/transcriptLenses.ts";
import { Transcripts } from "./editor/trajectories/transcripts.ts";

export function activate({
  extensionUri: extension,
  subscriptions,
  workspaceState,
  globalState,
  secrets,
}: ExtensionContext): void {
  const folder = new ProveFolder(extension);
  const definitions = new Definitions(folder);
  const fixtures = new FixtureFiles(folder);
  const sessions = new LiveSessions(definitions);
  const ground: Ground = { definitions, fixtures, sessions };
  const agentOffer = new AgentOffer(ground, extension);
  const connections = new Connections(folder, workspaceState);
  const serversTree = new ServersTree(ground, connections);
  const sessionViews = new SessionViews(ground);
  const connectedViews = new ConnectedViews(connections);
  const tasksTree = new TasksTree(folder);
  const transcripts = new Transcripts(definitions, id => tasksTree.find(id));
  const debugging = new Debugging(transcripts);
  const rewardPages = new RewardPages(extension, transcripts, debugging);
  const synthesisPages = new SynthesisPages(extension, folder, tasksTree, transcripts);
  const endpointKeys = new EndpointKeys(secrets, globalState);
  const synthesis = new Synthesis(
    extension,
    folder,
    definitions,
    tasksTree,
    synthesisPages,
    endpointKeys,
    workspaceState,
  );
  const graphPages = new GraphPages(extension, definitions);
  const runs = new Runs(folder);
  const runsTree = new RunsTree(runs);
  const runPages = new RunPages(extension, runs, transcripts);
  const training = new Training(extension, folder, tasksTree, synthesis, runs, runPages);
  const house: House = {
    ...ground,
    agentOffer,
    serversTree,
    sessionViews,
    connectedViews,
    tasksTree,
    transcripts,
    debugging,
    rewardPages,
    endpointKeys,
    synthesis,
    synthesisPages,
    graphPages,
    runs,
    runPages,
    training,
  };
  subscriptions.push(
    agentOffer,
    connections,
    folder,
    sessions,
    serversTree,
    tasksTree,
    transcripts,
    debugging,
    rewardPages,
    synthesisPages,
    graphPages,
    runs,
    runsTree,
    runPages,
  );
  const files = new ReadOnlyFiles(uri => textOf(house, uri));
  const serversView = window.createTreeView("prove.servers", {
    treeDataProvider: serversTree,
    showCollapseAll: true,
  });
  subscriptions.push(
    serversView,
    window.createTreeView("prove.tasks", { treeDataProvider: tasksTree, showCollapseAll: true }),
    window.createTreeView("prove.runs", { treeDataProvider: runsTree, showCollapseAll: true }),
    sessions.onDidChange(() => serversTree.refresh()),
    connections.onDidChange(() => serversTree.refresh()),
    agentOffer.onDidChangeMcpServerDefinitions(() => serversTree.refresh()),
    sessions.onDidOpen(live =>
      reporting(
        Promise.resolve(
          serversView.reveal(
            { kind: "session", live, server: live.held.servers[0]!.name },
            { expand: true, select: true },
          ),
        ),
      ),
    ),
    folder.onDidChange(part =>
      ({ fixtures: serversTree, "mcp.json": serversTree, tasks: tasksTree, runs })[part].refresh(),
    ),
    workspace.onDidSaveTextDocument(it => fixtures.isMine(it.uri) && transcripts.refresh()),
    workspace.registerFileSystemProvider("prove", files, {
      isReadonly: new MarkdownString(
        "This is a record. A shipped fixture is edited by **PROVE: Edit Fixture**.",
      ),
      isCaseSensitive: true,
    }),
    transcripts.onDidChange(uri => files.change(uri)),
    restorer("reward", (panel, kept) => rewardPages.restore(panel, kept["address"] ?? "")),
    restorer("run", (panel, kept) => runPages.restore(panel, kept["folder"] ?? "")),
    restorer("synthesis", (panel, kept) => synthesisPages.restore(panel, kept["file"] ?? "")),
    restorer("graph", (panel, kept) => graphPages.restore(panel, kept["server"] ?? "")),
    ...registerFixtureChecks(fixtures, definitions),
    ...registerTranscriptLenses(transcripts, definitions),
    ...registerCommands(house),
  );
}

/**
 * The text of a read-only document: a transcript, a shipped fixture, or something of a live
 * session.
 */
function textOf(
  { transcripts, fixtures, sessionViews, connectedViews }: House,
  uri: Uri,
): string | Promise<string> {
  if (isTranscript(uri)) return transcripts.text(uri);
  if (uri.path.startsWith("/connected/")) return connectedViews.text(uri.path);
  return uri.path.startsWith("/fixtures/")
    ? fixtures.shippedText(uri.path)
    : sessionViews.text(uri.path);
}

/** Registers the table of commands; what one throws is shown once. */
function registerCommands(house: House): Disposable[] {
  return Object.entries(commands as Record<string, Command>).map(([name, run]) =>
    editorCommands.registerCommand(`prove.${name}`, async (...args: never[]) => {
      try {
        return await run(house, ...args);
      } catch (error) {
        report(error);
        return undefined;
      }
    }),
  );
}

/** Brings a page back after the window was reloaded; one whose subject is gone is closed. */
function restorer(
  page: PageKind["name"],
  restore: (panel: WebviewPanel, kept: Record<string, string>) => void,
): Disposable {
  return window.registerWebviewPanelSerializer(`prove.${page}`, {
    deserializeWebviewPanel(panel, kept) {
      try {
        restore(panel, kept as Record<string, string>);
      } catch (error) {
        panel.dispose();
        report(error);
      }
      return Promise.resolve();
    },
  });
}
