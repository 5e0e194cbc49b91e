/**
 * The extension's entry point: loads and registers each feature, and passes it what it needs from
 * the others. Everything heavy is loaded when it is first used.
 */
import { setImmediate } from "node:timers/promises";
import type { ExtensionContext } from "vscode";

export async function activate(context: ExtensionContext): Promise<void> {
  const { registerTerminal } = await load(() => import("./editor/terminal/register.ts"));
  registerTerminal(context);

  const { ProveFolder } = await load(() => import("./editor/shared/proveFolder.ts"));
  const folder = new ProveFolder(context.extensionUri);
  context.subscriptions.push(folder);
  const { ReadOnlyFiles } = await load(() => import("./editor/shared/readOnlyFiles.ts"));
  const files = new ReadOnlyFiles();
  const { ServerDefinitions } = await load(() => import("./editor/shared/serverDefinitions.ts"));
  const definitions = new ServerDefinitions(folder, context.extensionUri);
  context.subscriptions.push(definitions);

  const { registerFixtures } = await load(() => import("./editor/fixtures/register.ts"));
  const fixtures = registerFixtures(context, { folder, files, definitions });

  const { registerServers } = await load(() => import("./editor/servers/register.ts"));
  const servers = registerServers(context, { folder, files, definitions, fixtures });

  const { registerAgents } = await load(() => import("./editor/agents/register.ts"));
  registerAgents(context, { folder, definitions, sessions: servers.sessions });

  const { registerGraph } = await load(() => import("./editor/graph/register.ts"));
  registerGraph(context, { definitions });

  const { registerTasks } = await load(() => import("./editor/tasks/register.ts"));
  const tasks = registerTasks(context, { folder, definitions });
  const findTask = (id: string) => tasks.findTask(id);

  const { registerTrajectories } = await load(() => import("./editor/attempts/register.ts"));
  const { transcripts, trajectoryDebugger, rewardPages, notes } = registerTrajectories(context, {
    folder,
    files,
    definitions,
    fixtures,
    sessions: servers.sessions,
    findTask,
  });

  const { registerMigration } = await load(() => import("./editor/migration/register.ts"));
  registerMigration(context, { files, definitions, fixtures, transcripts });

  const { registerSynthesis } = await load(() => import("./editor/synthesis/register.ts"));
  const synthesis = registerSynthesis(context, { folder, definitions, tasks, transcripts });

  const { registerRuns } = await load(() => import("./editor/runs/register.ts"));
  const runs = registerRuns(context, {
    folder,
    files,
    tasks,
    transcripts,
    trajectoryDebugger,
    rewardPages,
    synthesis,
  });

  const { registerAttempts } = await load(() => import("./editor/comparison/register.ts"));
  registerAttempts(context, { folder, definitions, tasks, runs, transcripts, notes });

  const { registerLinks } = await load(() => import("./editor/links/register.ts"));
  registerLinks(context, { tasks, runs, transcripts });

  const { registerTestExplorer } = await load(
    () => import("./editor/testExplorer/testExplorer.ts"),
  );
  registerTestExplorer(context, { folder, definitions, tasks, runs, transcripts, findTask });

  const { registerDocumentation } = await load(() => import("./editor/documentation/register.ts"));
  registerDocumentation(context);

  const { registerCommands } = await load(() => import("./editor/shared/commands.ts"));
  registerCommands(context, {
    refresh() {
      servers.refresh();
      tasks.refresh();
      runs.refresh();
    },
  });
  files.register(context);
}

/** Loads a module in a turn of the event loop of its own, so that the host stays responsive. */
async function load<Module>(importModule: () => Promise<Module>): Promise<Module> {
  await setImmediate();
  return importModule();
}
