/** Starts debug sessions on trajectories. The debug adapter runs in the extension host. */
import { DebugAdapterInlineImplementation, Uri, commands, debug, type Disposable } from "vscode";
import { computeDigest } from "../../environment/digest.ts";
import { TrajectoryCursor } from "../../trajectory/cursor.ts";
import { UserError } from "../../userError.ts";
import { toPlainLine } from "../shared/plainText.ts";
import { reportRejection } from "../shared/report.ts";
import type { LiveSessions } from "../servers/liveSessions.ts";
import { getTranscriptTitle, isTranscript, type AttemptNode } from "./attemptLocation.ts";
import { TrajectoryDebugSession } from "./debugAdapter.ts";
import type { DebugTarget } from "./debugTarget.ts";
import type { Transcripts } from "./transcripts.ts";

const configuration = {
  type: "prove",
  request: "launch",
  internalConsoleOptions: "neverOpen",
} as const;

const showDebugViews = async () => {
  await commands.executeCommand("workbench.view.debug");
};

export class TrajectoryDebugger implements Disposable {
  readonly #transcripts: Transcripts;
  readonly #sessions: LiveSessions;
  /** The attempts that are stepped through, by the id of the debug session. */
  readonly #targets = new Map<string, DebugTarget>();
  readonly #registrations: Disposable[];

  constructor(transcripts: Transcripts, sessions: LiveSessions) {
    this.#sessions = sessions;
    this.#transcripts = transcripts;
    this.#registrations = [
      debug.registerDebugAdapterDescriptorFactory("prove", {
        createDebugAdapterDescriptor: ({ id }) =>
          new DebugAdapterInlineImplementation(
            new TrajectoryDebugSession(async address => {
              const target = await this.#loadTarget(address);
              this.#targets.set(id, target);
              return target;
            }),
          ),
      }),
      debug.onDidTerminateDebugSession(({ id }) => void this.#targets.delete(id)),
      // the views that show the state; the editor opens them by itself at breakpoints only
      debug.onDidStartDebugSession(({ type }) => {
        if (type === "prove") reportRejection(showDebugViews());
      }),
      debug.registerDebugConfigurationProvider("prove", {
        // paths may contain variables such as ${workspaceFolder}
        resolveDebugConfigurationWithSubstitutedVariables: (_, config) => {
          const { trajectory, transcript: address } = config as Record<string, unknown>;
          if (typeof address === "string") return config;
          const file = typeof trajectory === "string" ? Uri.file(trajectory) : undefined;
          const transcript = this.#transcripts.resolveUri(file).toString();
          return { ...config, transcript };
        },
        // F5 on a transcript, without a launch.json
        resolveDebugConfiguration: (_, config) =>
          config.type
            ? config
            : {
                ...configuration,
                name: "Trajectory",
                transcript: this.#transcripts.resolveUri(undefined).toString(),
              },
      }),
    ];
  }

  /** Debugs the attempt of a node or a transcript, or of the active transcript. */
  async start(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const uri = this.#transcripts.resolveUri(attempt);
    await this.#transcripts.open(uri);
    const hasStarted = await debug.startDebugging(
      undefined,
      { ...configuration, name: toPlainLine(getTranscriptTitle(uri)), transcript: uri.toString() },
      { suppressSaveBeforeStart: true },
    );
    if (!hasStarted)
      throw new UserError("the debug session did not start", "see the Debug Console");
  }

  /** Opens a live session that goes on from where the debugger stands. */
  async forkAttempt(): Promise<void> {
    const target = this.#targets.get(debug.activeDebugSession?.id ?? "");
    if (!target)
      throw new UserError("no trajectory is being debugged", "start Step Through Trajectory first");
    const { title, cursor } = target;
    const { header, events } = cursor.trajectory;
    const { position, state } = cursor.current;
    const attempt = { title, header, events: events.slice(0, position) };
    await this.#sessions.forkAttempt(attempt, computeDigest(state));
  }

  dispose(): void {
    for (const it of this.#registrations) it.dispose();
  }

  async #loadTarget(address: string): Promise<DebugTarget> {
    const uri = Uri.parse(address, true);
    if (!isTranscript(uri))
      throw new UserError(`${address} is not a transcript`, "start with Step Through Trajectory");
    const { catalog, trajectory, transcript, task, reward, rejected } =
      await this.#transcripts.getAttempt(uri);
    if (rejected)
      throw new UserError(
        `${rejected.id} was rejected and cannot be replayed`,
        "step through a task instead",
      );
    return {
      source: uri.toString(),
      title: getTranscriptTitle(uri),
      cursor: new TrajectoryCursor(catalog, trajectory),
      transcript,
      reward,
      ...(task ? { task } : {}),
    };
  }
}
