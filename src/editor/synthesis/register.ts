/** Registers synthesis: its commands, the keys of endpoints, and the synthesis pages. */
import { join } from "node:path";
import type { ExtensionContext, Uri } from "vscode";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { registerCommands } from "../shared/commands.ts";
import { registerPageRestorer } from "../shared/page.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { getSharedFolder } from "../shared/sharedFile.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { EndpointKeys } from "./endpointKeys.ts";
import { Synthesis } from "./synthesis.ts";
import { SynthesisPages } from "./synthesisPages.ts";
import { UnfinishedSyntheses } from "./unfinishedSyntheses.ts";

interface RegisterSynthesisDependencies {
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
  readonly tasks: TasksTree;
  readonly transcripts: Transcripts;
}

export function registerSynthesis(
  context: ExtensionContext,
  { folder, definitions, tasks, transcripts }: RegisterSynthesisDependencies,
): Synthesis {
  const { extensionUri, workspaceState } = context;
  const pages = new SynthesisPages({ extensionUri, folder, tasks, transcripts });
  const keys = new EndpointKeys(context.secrets, context.globalState);
  const synthesis = new Synthesis({
    extensionUri,
    folder,
    definitions,
    tasks,
    pages,
    keys,
    workspaceState,
    unfinished: new UnfinishedSyntheses(join(getSharedFolder(context), "syntheses.json")),
  });
  context.subscriptions.push(
    pages,
    registerPageRestorer("synthesis", (panel, state) => pages.restore(panel, state["file"])),
  );
  registerCommands(context, {
    synthesizeTasks: () => synthesis.start(),
    setEndpointKey: () => keys.promptForKey(),
    forgetEndpointKey: () => keys.promptToForget(),
    showSynthesis: (node?: TasksNode | Uri) => pages.open(node),
    copyExample: () => synthesis.copyExample(),
  });
  return synthesis;
}
