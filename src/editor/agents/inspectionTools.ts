/**
 * Registers the tools by which the editor's agents read runs, attempts and tasks of the workspace.
 * They start nothing, so that they also work in a workspace that is not trusted.
 */
import { relative } from "node:path";
import {
  type Disposable,
  LanguageModelTextPart,
  LanguageModelToolResult,
  lm,
  type LanguageModelTool,
} from "vscode";
import { UserError } from "../../userError.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";

interface InspectionDependencies {
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
}

/** What the editor says while a tool runs. Its tools are loaded when one is first called. */
const progress = {
  prove_run: "Reading training runs",
  prove_attempt: "Reading an attempt",
  prove_tasks: "Reading tasks",
} as const;

export const registerInspectionTools = (dependencies: InspectionDependencies): Disposable[] =>
  Object.entries(progress).map(([name, message]) =>
    lm.registerTool(name, {
      prepareInvocation: () => ({ invocationMessage: message }),
      invoke: ({ input }) => answer(name, input, dependencies),
    } satisfies LanguageModelTool<object>),
  );

async function answer(
  name: string,
  input: object,
  { folder, definitions }: InspectionDependencies,
): Promise<LanguageModelToolResult> {
  const { inspectionTools } = await import("../../inspect/tools.ts");
  const tool = inspectionTools.find(it => it.name === name)!;
  // without a workspace folder, this says so
  folder.getPart("runs");
  const { workspacePath } = folder;
  try {
    const text = await tool.answer(input, {
      folder: workspacePath,
      prove: relative(workspacePath, folder.uri!.fsPath),
      openCatalog: () => definitions.openCatalog(),
    });
    return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
  } catch (error) {
    // the model reads the message
    throw error instanceof UserError ? new Error(`${error.what}; ${error.remedy}`) : error;
  }
}
