/** Lists the lines of tasks files that hold no task in the Problems view. */
import {
  Diagnostic,
  DiagnosticSeverity,
  Range,
  languages,
  type Disposable,
  type Uri,
} from "vscode";
import { toPlainLine } from "../shared/plainText.ts";
import { maxRows } from "./tasksNode.ts";
import type { TaskIndex } from "../attempts/taskIndex.ts";

export class TaskProblems implements Disposable {
  readonly #collection = languages.createDiagnosticCollection("prove.tasks");

  /** Lists the first skipped lines of a file as it is now. */
  update(file: Uri, { skipped }: TaskIndex): void {
    this.#collection.set(
      file,
      skipped.slice(0, maxRows).map(({ line, reason }) => {
        const range = new Range(line - 1, 0, line, 0);
        const message = `This line is skipped: ${toPlainLine(reason)}`;
        const problem = new Diagnostic(range, message, DiagnosticSeverity.Warning);
        problem.source = "PROVE";
        return problem;
      }),
    );
  }

  /** Removes the problems of files that no longer exist. */
  retain(files: readonly Uri[]): void {
    const existing = new Set(files.map(String));
    this.#collection.forEach(file => {
      if (!existing.has(file.toString())) this.#collection.delete(file);
    });
  }

  dispose(): void {
    this.#collection.dispose();
  }
}
