/** The extension: builds its objects, registers them, hands them over. Everything heavy is loaded when it is first used. */
import { commands as editorCommands, window, workspace, type ExtensionContext, type Uri } from "vscode";
import { commands, type Command } from "./editor/commands.ts";
import { Definitions } from "./editor/definitions.ts";
import { registerFixtureChecks } from "./editor/fixtureChecks.ts";
import { FixtureFiles } from "./editor/fixtureFiles.ts";
import type { House } from "./editor/house.ts";
import { LiveSessions } from "./editor/liveSessions.ts";
import { ProveFolder } from "./editor/proveFolder.ts";
import { report } from "./editor/report.ts";
import { ServersTree } from "./editor/serversTree.ts";
import { SessionViews } from "./editor/sessionViews.ts";
import { TasksTree } from "./editor/tasksTree.ts";

export function activate(context: ExtensionContext): void {
  const folder = new ProveFolder(context.extensionUri);
  const definitions = new Definitions(folder);
  const fixtures = new FixtureFiles(folder);
  const sessions = new LiveSessions(definitions);
  const serversTree = new ServersTree(definitions, fixtures, sessions);
  const sessionViews = new SessionViews(definitions, fixtures, sessions);
  const tasksTree = new TasksTree(folder);
  const house: House = { fixtures, serversTree, sessionViews, tasksTree };
  context.subscriptions.push(
    folder,
    sessions,
    serversTree,
    tasksTree,
    window.createTreeView("prove.servers", { treeDataProvider: serversTree, showCollapseAll: true }),
    window.createTreeView("prove.tasks", { treeDataProvider: tasksTree, showCollapseAll: true }),
    sessions.onDidChange(() => serversTree.refresh()),
    folder.onDidChange(part => {
      if (part === "fixtures") serversTree.refresh();
      if (part === "tasks") tasksTree.refresh();
    }),
    workspace.registerTextDocumentContentProvider("prove", {
      provideTextDocumentContent: (uri: Uri) => (uri.path.startsWith("/fixtures/") ? fixtures.shippedText(uri.path) : sessionViews.text(uri.path)),
    }),
    ...registerFixtureChecks(fixtures, definitions),
    ...register(house),
  );
}

/** Registers the table of commands; what one throws is shown once. */
function register(house: House) {
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
