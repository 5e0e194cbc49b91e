/** Starts debug sessions on trajectories. The debug adapter runs in the extension host. */
import {
  DebugAdapterInlineImplementation,
  Uri,
  commands,
  debug,
  window,
  type DebugSession,
  type Disposable,
} from "vscode";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { computeDigest } from "../../../environment/digest.ts";
import { TrajectoryCursor } from "../../../trajectory/cursor.ts";
import type { Task } from "../../../trajectory/task.ts";
import type { Trajectory } from "../../../trajectory/trajectory.ts";
import { UserError } from "../../../userError.ts";
import { toEditorText } from "../../shared/editorText.ts";
import { showInformation } from "../../shared/notifications.ts";
import { toPlainLine } from "../../shared/text.ts";
import { reportRejection } from "../../shared/report.ts";
import type { LiveSessions } from "../../servers/liveSessions.ts";
import { isTranscript, type AttemptNode } from "../attemptLocation.ts";
import { FutureText } from "./futureText.ts";
import { TrajectoryDebugSession } from "./debugAdapter.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { getTranscriptTitle } from "../storedLocation.ts";
import type { Transcripts } from "../transcripts.ts";

const configuration = {
  type: "prove",
  request: "launch",
  internalConsoleOptions: "neverOpen",
} as const;

const showDebugViews = async () => {
  await commands.executeCommand("workbench.view.debug");
};

interface RunningSession {
  readonly session: DebugSession;
  readonly target: DebugTarget;
  /** Keeps the transcript as it is. */
  readonly hold: Disposable;
}

/** A position in an attempt, from which another attempt or a session can go on. */
export interface ForkPoint {
  /** The transcript. */
  readonly uri: Uri;
  readonly title: string;
  readonly trajectory: Trajectory;
  /** The number of events before it. */
  readonly position: number;
  /** Of the state there. */
  readonly digest: string;
  readonly task?: Task;
}

/** A line of a document, from 1, as the menu of line numbers names it. */
export interface LinePlace {
  readonly uri: Uri;
  readonly lineNumber: number;
}

export class TrajectoryDebugger implements Disposable {
  readonly #transcripts: Transcripts;
  readonly #liveSessions: LiveSessions;
  /** The debug sessions with their attempts, by the id of the session. */
  readonly #sessions = new Map<string, RunningSession>();
  readonly #registrations: Disposable[];

  constructor(transcripts: Transcripts, sessions: LiveSessions) {
    this.#liveSessions = sessions;
    this.#transcripts = transcripts;
    const future = new FutureText(() => [...this.#sessions.values()].map(it => it.target));
    this.#registrations = [
      future,
      debug.registerDebugAdapterDescriptorFactory("prove", {
        createDebugAdapterDescriptor: session =>
          new DebugAdapterInlineImplementation(
            new TrajectoryDebugSession(async address => {
              const target = await this.#loadTarget(address).catch(throwInEditorWords);
              const hold = transcripts.hold(Uri.parse(target.source, true));
              this.#sessions.set(session.id, { session, target, hold });
              return target;
            }),
          ),
      }),
      debug.onDidTerminateDebugSession(({ id }) => {
        this.#sessions.get(id)?.hold.dispose();
        this.#sessions.delete(id);
        future.update();
      }),
      transcripts.onDidOutdate(
        uri =>
          void showInformation(
            `The file or the fixture of ${getTranscriptTitle(uri)} has changed. The debugger goes on with what it has read; start it again to use the changes.`,
          ),
      ),
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
        // F5 on a transcript, a trajectory file or a line of a tasks file, without a launch.json
        resolveDebugConfiguration: async (_, config) =>
          config.type
            ? config
            : {
                ...configuration,
                name: "Trajectory",
                transcript: (await this.#transcripts.findUri(undefined)).toString(),
              },
      }),
    ];
  }

  /** Debugs the attempt of a node or a transcript, or of the active transcript. */
  async start(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const uri = await this.#transcripts.findUri(attempt);
    await this.#transcripts.open(uri);
    await this.#launch(uri);
  }

  /**
   * Moves the debug session of a transcript to the event at a line or after it, forward or back,
   * and starts one if there is none. Without a line, it is that of the cursor.
   */
  async stepTo(place: LinePlace | undefined): Promise<void> {
    const editor = window.activeTextEditor;
    const uri = this.#transcripts.resolveUri(place?.uri);
    const line = place?.lineNumber ?? (editor ? editor.selection.active.line + 1 : 1);
    const { transcript } = await this.#transcripts.getAttempt(uri);
    if (transcript.eventFrom(line - 1) === undefined)
      throw new UserError("the attempt has ended before this line", "choose a line of a call");
    const running = [...this.#sessions.values()].find(it => it.target.source === uri.toString());
    if (!running) return this.#launch(uri, line);
    const { session, target } = running;
    const source = { path: target.source };
    const { targets } = (await session.customRequest("gotoTargets", {
      source,
      line,
    })) as DebugProtocol.GotoTargetsResponse["body"];
    await session.customRequest("goto", { threadId: 1, targetId: targets[0]!.id });
  }

  async #launch(uri: Uri, line?: number): Promise<void> {
    // an error is shown here, instead of in the editor's dialog about launch.json
    await this.#loadTarget(uri.toString());
    const hasStarted = await debug.startDebugging(
      undefined,
      {
        ...configuration,
        name: toPlainLine(getTranscriptTitle(uri)),
        transcript: uri.toString(),
        ...(line === undefined ? {} : { line }),
      },
      { suppressSaveBeforeStart: true },
    );
    if (!hasStarted)
      throw new UserError("the debug session did not start", "see the Debug Console");
  }

  /** Where the active debug session stands. Throws a `UserError` if there is none. */
  getForkPoint(): ForkPoint {
    const running = this.#sessions.get(debug.activeDebugSession?.id ?? "");
    if (!running)
      throw new UserError("no trajectory is being debugged", "start Step Through Trajectory first");
    return createForkPoint(running.target, running.target.cursor.current.position);
  }

  /**
   * The position before the call or the message at a line of a transcript, or after what the user
   * says there. Of a transcript without a line, the line is that of the cursor. Without a
   * transcript, it is that of the event where the debugger stands, or else of the cursor. Throws a
   * `UserError` if there is none.
   */
  async getPointBefore(at: LinePlace | Uri | undefined): Promise<ForkPoint> {
    const running = this.#sessions.get(debug.activeDebugSession?.id ?? "");
    if (!at && running) {
      const { index } = running.target.cursor.current;
      return createForkPoint(running.target, findPositionBefore(running.target, index ?? 0));
    }
    const place = at instanceof Uri ? undefined : at;
    const uri = this.#transcripts.resolveUri(place?.uri ?? (at instanceof Uri ? at : undefined));
    const editor = window.activeTextEditor;
    const line = place?.lineNumber ?? (editor ? editor.selection.active.line + 1 : 1);
    const target = await this.#loadTarget(uri.toString());
    const index = target.transcript.eventAt(line - 1) ?? target.transcript.eventFrom(line - 1);
    if (index === undefined)
      throw new UserError("the attempt has ended before this line", "choose a line of a call");
    return createForkPoint(target, findPositionBefore(target, index));
  }

  /** Opens a live session that goes on from a position. */
  async openFork({ title, trajectory, position, digest }: ForkPoint): Promise<void> {
    const { header, events } = trajectory;
    const attempt = { title, header, events: events.slice(0, position) };
    await this.#liveSessions.forkAttempt(attempt, digest);
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

function createForkPoint(
  { title, cursor, source, task }: DebugTarget,
  position: number,
): ForkPoint {
  if (cursor.trajectory.header.imported)
    throw new UserError(
      "the attempt was imported, and its calls cannot be made here",
      "choose an attempt that was made here",
    );
  return {
    uri: Uri.parse(source, true),
    title,
    trajectory: cursor.trajectory,
    position,
    digest: computeDigest(cursor.at(position).state),
    ...(task ? { task } : {}),
  };
}

/** The number of events before the one with an index. What the user says there is kept. */
const findPositionBefore = ({ cursor }: DebugTarget, index: number): number =>
  cursor.trajectory.events[index]?.kind === "user" ? index + 1 : Math.max(1, index);

/** The debugger shows the texts of an error itself. */
function throwInEditorWords(error: unknown): never {
  if (!(error instanceof UserError)) throw error;
  const { what, remedy } = error;
  throw new UserError(toEditorText(what), toEditorText(remedy), { cause: error });
}
