/**
 * Shows what the training of a large model needs, before it is started, in a question and as a
 * read-only document.
 */
import { type Disposable, Uri, window, workspace } from "vscode";
import type { RunConfig } from "../../run/config.ts";
import { formatPlan, summarizePlan } from "../../run/trainingPlan.ts";
import { toEditorWords } from "../shared/editorText.ts";
import { runCountedWork } from "../shared/program.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";

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

export class PlanDocuments implements Disposable {
  /** The texts of the documents that were opened, by path. */
  readonly #texts = new Map<string, string>();
  readonly #subscription: Disposable;
  #count = 0;

  constructor(files: ReadOnlyFiles) {
    files.provide(
      "/plans/",
      ({ path }) =>
        this.#texts.get(path) ??
        "This training was measured before the window was reloaded. Start Training measures it again.\n",
    );
    this.#subscription = workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === "prove") this.#texts.delete(uri.path);
    });
  }

  /** Opens a document with a text. */
  async show(text: string): Promise<void> {
    const uri = Uri.from({ scheme: "prove", path: `/plans/${++this.#count}/training-plan.txt` });
    this.#texts.set(uri.path, text);
    await window.showTextDocument(uri);
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
