/** Shows what trainings need as read-only documents. */
import { Uri, window, workspace, type Disposable } from "vscode";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";

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
