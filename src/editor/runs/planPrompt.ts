/** Shows what the training of a large model needs, before it is started. */
import { Uri } from "vscode";
import type { RunConfig } from "../../run/config.ts";
import { formatPlan, summarizePlan } from "../../run/trainingPlan.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { toEditorWords } from "../shared/editorText.ts";
import { pickOne } from "../shared/quickInput.ts";
import { runCountedWork } from "../shared/program.ts";
import type { PlanDocuments } from "./planDocuments.ts";

/** Measures the training and asks whether to start it. Throws a `CancellationError` on Escape. */
export async function confirmPlan(
  config: RunConfig,
  model: string,
  {
    extensionUri,
    folder,
    plans,
  }: {
    readonly extensionUri: Uri;
    readonly folder: ProveFolder;
    readonly plans: PlanDocuments;
  },
): Promise<"start" | "details"> {
  const plan = await runCountedWork(
    "plan",
    { config, model, fixtures: folder.fixtureFolders },
    "Measuring the training",
    { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
  );
  // a row shows about seventy characters
  const [size = "", ...needs] = toEditorWords(summarizePlan(plan)).split(" · ");
  const items = [
    {
      label: plan.fits ? "Start Training" : "Start Training Anyway",
      description: size,
      detail: needs.join(" · "),
      choice: "start" as const,
    },
    {
      label: "Show Details",
      detail: "memory, tokens and time; the training is not started",
      choice: "details" as const,
    },
  ];
  const { choice } = await pickOne(items, {
    title: "Start Training",
    text: plan.fits ? "What the training needs" : "The training does not fit this machine",
  });
  if (choice === "details") await plans.show(toEditorWords(`${formatPlan(plan).join("\n")}\n`));
  return choice;
}
