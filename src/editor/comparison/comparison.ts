/** Compares the transcripts of two attempts in the editor's own diff. */
import { commands, EventEmitter, type Disposable, type Uri } from "vscode";
import { UserError } from "../../userError.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import { createTranscriptUri, getNodeUri, type AttemptNode } from "../attempts/attemptLocation.ts";
import { openAttemptDiff } from "../attempts/attemptDiff.ts";
import { readLocation } from "../attempts/storedLocation.ts";
import type { Transcripts } from "../attempts/transcripts.ts";

export class Comparison implements Disposable {
  readonly #tasks: Pick<TasksTree, "findEntry">;
  readonly #transcripts: Pick<Transcripts, "read" | "resolveUri">;
  readonly #changed = new EventEmitter<void>();
  #selected: Uri | undefined;

  /** Another attempt was selected, or none. */
  readonly onDidSelect = this.#changed.event;

  constructor(
    tasks: Pick<TasksTree, "findEntry">,
    transcripts: Pick<Transcripts, "read" | "resolveUri">,
  ) {
    this.#tasks = tasks;
    this.#transcripts = transcripts;
  }

  /** The address of the selected attempt. */
  get selected(): Uri | undefined {
    return this.#selected;
  }

  /** Remembers an attempt, or that of the active transcript, to compare others with. */
  async select(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const uri = this.#transcripts.resolveUri(attempt);
    // an attempt that cannot be read throws here, and not when it is compared
    await this.#transcripts.read(uri);
    await this.#setSelected(uri);
  }

  /** Shows an attempt beside the selected one, which stays selected. */
  async compareWithSelected(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const uri = this.#transcripts.resolveUri(attempt);
    if (!this.#selected)
      throw new UserError("no attempt is selected", "run Select Attempt for Compare on one first");
    if (this.#selected.toString() === uri.toString())
      throw new UserError("this attempt is the selected one", "choose another attempt");
    await openAttemptDiff(this.#selected, uri);
  }

  /**
   * Without a selected attempt, selects this one. With another one, compares them and selects none;
   * with this one, selects none.
   */
  async selectOrCompare(uri: Uri): Promise<void> {
    const selected = this.#selected;
    if (!selected) return this.select(uri);
    await this.#setSelected(undefined);
    if (selected.toString() !== uri.toString()) await openAttemptDiff(selected, uri);
  }

  /** Shows the teacher's attempt at the same task beside an attempt. */
  async compareWithTeacher(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const uri = this.#transcripts.resolveUri(attempt);
    await openAttemptDiff(await this.#findTeacher(uri), uri);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** Sets the selected attempt, and the context that the menus depend on. */
  async #setSelected(uri: Uri | undefined): Promise<void> {
    this.#selected = uri;
    this.#changed.fire();
    await commands.executeCommand("setContext", "prove.isAttemptSelected", uri !== undefined);
  }

  async #findTeacher(uri: Uri): Promise<Uri> {
    const location = readLocation(uri);
    const { trajectory } = await this.#transcripts.read(uri);
    const { task } = trajectory.header;
    switch (location.kind) {
      case "group":
        return createTranscriptUri({ ...location, isTeacher: true }, `${task} teacher`);
      case "rollout":
        throw new UserError(
          "an attempt of other software has no teacher",
          "choose an attempt of a run",
        );
      case "file": {
        const found = await this.#tasks.findEntry(task);
        if (found) return getNodeUri({ kind: "task", ...found });
        throw new UserError(
          `the task ${task} was not found`,
          "add its tasks file to the tasks folder",
        );
      }
      case "task":
        throw new UserError("this attempt is the teacher's own", "choose an attempt of a run");
      case "rejected":
        throw new UserError("a rejected attempt has no task", "choose an attempt of a run");
      default:
        throw new Error(`unknown location ${JSON.stringify(location satisfies never)}`);
    }
  }
}
