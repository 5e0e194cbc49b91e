/**
 * Starts debug sessions on trajectories, with the adapter running inline. Knows nothing of stepping
 * itself.
 */
import { DebugAdapterInlineImplementation, Uri, debug, type Disposable } from "vscode";
import { UserError } from "../../userError.ts";
import { TrajectoryCursor } from "../../trajectory/cursor.ts";
import { isTranscript, type AttemptNode } from "./attempts.ts";
import { TrajectoryDebugSession } from "./debugAdapter.ts";
import type { DebugTarget } from "./debugTarget.ts";
import type { Transcripts } from "./transcripts.ts";

export class TrajectoryDebugger implements Disposable {
  readonly #transcripts: Transcripts;
  readonly #registered: Disposable[];

  constructor(transcripts: Transcripts) {
    this.#transcripts = transcripts;
    this.#registered = [
      debug.registerDebugAdapterDescriptorFactory("prove", {
        createDebugAdapterDescriptor: () =>
          new DebugAdapterInlineImplementation(new TrajectoryDebugSession(it => this.#load(it))),
      }),
      debug.registerDebugConfigurationProvider("prove", {
        // F5 on a transcript, without a launch.json
        resolveDebugConfiguration: (_, config) =>
          config.type
            ? config
            : {
                type: "prove",
                request: "launch",
                name: "Trajectory",
                internalConsoleOptions: "neverOpen",
                transcript: this.#transcripts.resolveUri(undefined).toString(),
              },
      }),
    ];
  }

  /** Steps through the attempt of a node, or of the transcript that is shown. */
  async start(node: AttemptNode | Uri | undefined): Promise<void> {
    const uri = this.#transcripts.resolveUri(node);
    await this.#transcripts.open(uri);
    const isStarted = await debug.startDebugging(
      undefined,
      {
        type: "prove",
        request: "launch",
        name: getTitle(uri),
        transcript: uri.toString(),
        internalConsoleOptions: "neverOpen",
      },
      { suppressSaveBeforeStart: true },
    );
    if (!isStarted) throw new UserError("the debug session did not start", "see the Debug Console");
  }

  dispose(): void {
    for (const it of this.#registered) it.dispose();
  }

  async #load(address: string): Promise<DebugTarget> {
    const uri = Uri.parse(address, true);
    if (!isTranscript(uri))
      throw new UserError(`${address} is no transcript`, "start it by Step Through Trajectory");
    const { catalog, trajectory, transcript, task, reward, rejected } =
      await this.#transcripts.getAttempt(uri);
    if (rejected)
      throw new UserError(
        `${rejected.id} was rejected and cannot be replayed`,
        "step through a task instead",
      );
    return {
      source: uri.toString(),
      title: getTitle(uri),
      cursor: new TrajectoryCursor(catalog, trajectory),
      transcript,
      reward,
      ...(task ? { task } : {}),
    };
  }
}

const getTitle = (uri: Uri) =>
  uri.path
    .split("/")
    .at(-1)!
    .replace(/\.transcript$/, "");
