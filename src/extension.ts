/**
 * The extension's entry point: registers each feature and passes it what it needs from the others.
 * Everything heavy is loaded when it is first used.
 */
import type { ExtensionContext } from "vscode";
import { registerAgents } from "./editor/agents/register.ts";
import { registerAttempts } from "./editor/attempts/register.ts";
import { registerFixtures } from "./editor/fixtures/register.ts";
import { registerReplayOffer } from "./editor/fixtures/replayOffer.ts";
import { registerGraph } from "./editor/graph/register.ts";
import { registerLinks } from "./editor/links/register.ts";
import { registerTaskMigration } from "./editor/migration/register.ts";
import { registerRuns } from "./editor/runs/register.ts";
import { ServerDefinitions } from "./editor/shared/serverDefinitions.ts";
import { registerServers } from "./editor/servers/register.ts";
import { registerCommands } from "./editor/shared/commands.ts";
import { ProveFolder } from "./editor/shared/proveFolder.ts";
import { registerReadOnlyFiles } from "./editor/shared/readOnlyFiles.ts";
import { registerSynthesis } from "./editor/synthesis/register.ts";
import { registerTasks } from "./editor/tasks/register.ts";
import { registerTestExplorer } from "./editor/testExplorer/register.ts";
import { registerTrajectories } from "./editor/trajectories/register.ts";

export function activate(context: ExtensionContext): void {
  const folder = new ProveFolder(context.extensionUri);
  context.subscriptions.push(folder);
  const files = registerReadOnlyFiles(context);
  const definitions = new ServerDefinitions(folder);
  const fixtures = registerFixtures(context, { folder, files, definitions });
  const servers = registerServers(context, { folder, files, definitions, fixtures });
  registerAgents(context, { definitions, sessions: servers.sessions });
  registerGraph(context, { definitions });
  const tasks = registerTasks(context, { folder, definitions });
  const findTask = (id: string) => tasks.findTask(id);
  const { transcripts, trajectoryDebugger } = registerTrajectories(context, {
    folder,
    files,
    definitions,
    fixtures,
    sessions: servers.sessions,
    findTask,
  });
  registerReplayOffer(context, { files, definitions, fixtures, transcripts });
  registerTaskMigration(context, { files, definitions, transcripts });
  const synthesis = registerSynthesis(context, { folder, definitions, tasks, transcripts });
  const runs = registerRuns(context, {
    folder,
    files,
    tasks,
    transcripts,
    trajectoryDebugger,
    synthesis,
  });
  registerAttempts(context, { folder, definitions, tasks, runs, transcripts });
  registerLinks(context, { tasks, runs, transcripts });
  registerTestExplorer(context, { folder, definitions, tasks, runs, transcripts, findTask });
  registerCommands(context, {
    refresh() {
      servers.refresh();
      tasks.refresh();
      runs.refresh();
    },
  });
}
